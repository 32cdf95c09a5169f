#include "backends/halide/kernel_code.h"

#include <Halide.h>
#include <dlfcn.h>
#include <unistd.h>

#include <map>
#include <mutex>

#include "backends/halide/known_buffers.h"
#include "backends/halide/loader/llvm_options.h"
#include "backends/halide/loader/loaded_object.h"
#include "backends/halide/pipeline_maker.h"
#include "backends/halide/scratch.h"
#include "backends/halide/thread_pool.h"
#include "base/built_code.h"
#include "base/disk_cache.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/log.h"
#include "expr/canonical.h"
#include "graph/graph.h"

namespace whittle::halide {
namespace {

constexpr const char* kFunction = "kernel";

/// The cache, unless Halide is asked to tell what it does.
DiskCache* cache() {
    static const std::unique_ptr<DiskCache> kernels = [] {
        const char* told = std::getenv("HL_DEBUG_CODEGEN");
        return told ? nullptr : user_cache("kernels");
    }();
    return kernels.get();
}

/// Which file a function comes from, by its contents.
std::string build_of(const void* function) {
    Dl_info info{};
    return ::dladdr(function, &info) != 0 ? fingerprint(info.dli_fname) : "";
}

/// What an object depends on besides the kernel: who is asked to compile it, and its settings.
const std::string& compiler() {
    static const std::string text = [] {
        Halide::Target (*const halide)() = &Halide::get_host_target;
        std::string is = build_of(reinterpret_cast<const void*>(&kernel_code)) + "\n" +
                         build_of(reinterpret_cast<const void*>(halide)) + "\n";
        constexpr std::string_view kThreads = "HL_NUM_THREADS=";
        for (char** variable = ::environ; *variable; variable++) {
            const std::string_view setting = *variable;
            if (setting.starts_with("HL_") && !setting.starts_with(kThreads)) is.append(setting).append("\n");
        }
        return is;
    }();
    return text;
}

/// From the cache, or made and put there.
template <class Make>
std::string kept(const std::string& what, const std::string& key, const Make& make, CodeSource* from = nullptr) {
    DiskCache* const known = cache();
    if (known)
        if (auto object = known->get(key)) {
            log_debug(LogChannel::lowering, what + " came from the cache");
            if (from) *from = CodeSource::cache;
            return *object;
        }
    std::string object = make();
    if (known) known->put(key, object);
    return object;
}

using SetErrorHandler = void*(void (*)(void*, const char*));
using SetMalloc = void*(void* (*)(void*, std::size_t));
using SetFree = void*(void (*)(void*, void*));
using SetDoParFor = void*(int (*)(void*, LoopTask, int, int, std::uint8_t*));

void take_error(void* context, const char* message) {
    if (context) static_cast<std::string*>(context)->append(message);
}

/// Halide's run-time library, with threads, memory and error messages of ours. One for the process, which stays.
/// Writes Halide's run-time library. It has no arithmetic of the kernels; Halide 21 refuses to compile it as strict.
void write_runtime(const std::filesystem::path& file) {
    Halide::compile_standalone_runtime(file.string(),
                                       Halide::Target(default_target()).without_feature(Halide::Target::StrictFloat));
}

const LoadedObject& runtime() {
    static const LoadedObject* const loaded = [] {
        const Halide::Target target = Halide::Target(default_target());
        const std::string object =
            kept("Halide's run-time library", "runtime\n" + target.to_string() + "\n" + compiler(), [&] {
                const TempDir folder;
                const auto path = folder.path() / "runtime.o";
                write_runtime(path);
                return read_file(path);
            });
        std::string error;
        auto code = LoadedObject::load(object, nullptr, error);
        if (!code) throw Error({}, "cannot load Halide's run-time library: " + error);
        reinterpret_cast<SetErrorHandler*>(code->find("halide_set_error_handler"))(take_error);
        reinterpret_cast<SetMalloc*>(code->find("halide_set_custom_malloc"))(take_scratch);
        reinterpret_cast<SetFree*>(code->find("halide_set_custom_free"))(give_scratch);
        reinterpret_cast<SetDoParFor*>(code->find("halide_set_custom_do_par_for"))(run_loop);
        return code.release();
    }();
    return *loaded;
}

struct Loaded final : KernelCode {
    std::unique_ptr<LoadedObject> object;
};

std::string compiled(const expr::Group& group, const expr::Schedule& schedule, const Halide::Target& target) {
    static const bool once = (keep_to_written_vectors(), true);
    static_cast<void>(once);
    const Prepared prepared(group);
    PipelineMaker maker(prepared);
    Halide::Pipeline pipeline = maker.make(schedule);
    add_known_buffers(pipeline, maker.inputs());
    std::vector<Halide::Argument> arguments;
    for (const Halide::ImageParam& input : maker.inputs()) arguments.emplace_back(input);
    const Halide::Buffer<std::uint8_t> object =
        pipeline.compile_to_module(arguments, kFunction, target).compile_to_buffer();
    return {reinterpret_cast<const char*>(object.data()), object.number_of_elements()};
}

/// Halide's run-time library as an object file beside the sources that are built with it.
std::string runtime_object(const std::filesystem::path& folder) {
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    const std::filesystem::path path = folder / "halide_runtime.o";
    if (!std::filesystem::exists(path)) write_runtime(path);
    return path.string();
}

/// The kernel as the C that Halide writes of it, built so that a debugger stops in it; null where nobody asked for
/// that. Throws Error where it cannot be built.
std::shared_ptr<const KernelCode> stepped(const expr::Group& group, const expr::Schedule& schedule,
                                          const Halide::Target& target) {
    if (!is_debug_file(LogArtifact::step)) return nullptr;
    const Prepared prepared(group);
    PipelineMaker maker(prepared);
    Halide::Pipeline pipeline = maker.make(schedule);
    std::vector<Halide::Argument> arguments;
    for (const Halide::ImageParam& input : maker.inputs()) arguments.emplace_back(input);
    const TempDir folder;
    const auto text = folder.path() / "kernel.cpp";
    const std::string name = identifier(group.name);
    pipeline.compile_to_c(text.string(), arguments, name, target);
    const std::string file = debug_file(LogArtifact::step, group.name, read_file(text));
    if (file.empty()) return nullptr;
    const std::string runtime = runtime_object(std::filesystem::path(file).parent_path());
    const BuiltCode built(file, {runtime, "-lpthread", "-ldl"});
    auto code = std::make_shared<KernelCode>();
    code->function = built.function<KernelCode::Function>((name + "_argv").c_str());
    built.function<SetErrorHandler>("halide_set_error_handler")(take_error);
    return code;
}

/// The same, or null with a warning where it cannot be built.
std::shared_ptr<const KernelCode> stepped_if_possible(const expr::Group& group, const expr::Schedule& schedule,
                                                      const Halide::Target& target) {
    std::shared_ptr<const KernelCode> code;
    if (const auto failed = caught([&] { code = stepped(group, schedule, target); }))
        log_warning(LogChannel::lowering, "debuggers cannot step through " + group.name +
                                              ", which runs as usual, not as C code: " + failed->message);
    return code;
}

/// With the names: they stand in Halide's error messages.
std::string key_of(const expr::Group& group, const expr::Schedule& schedule, const Halide::Target& target) {
    std::string key = expr::key(group, schedule);
    for (const expr::Input& input : group.inputs) key += input.name + "\n";
    for (const expr::Stage& stage : group.stages) key += stage.name + "\n";
    return key + target.to_string() + "\n" + compiler();
}

/// Kernels that are in use, by key.
class Living {
  public:
    std::shared_ptr<const KernelCode> find(const std::string& key) {
        const std::lock_guard lock(mutex_);
        const auto found = kernels_.find(key);
        return found == kernels_.end() ? nullptr : found->second.lock();
    }
    void add(const std::string& key, const std::shared_ptr<const KernelCode>& code) {
        const std::lock_guard lock(mutex_);
        std::erase_if(kernels_, [](const auto& kernel) { return kernel.second.expired(); });
        kernels_.insert_or_assign(key, code);
    }

  private:
    std::mutex mutex_;
    std::map<std::string, std::weak_ptr<const KernelCode>> kernels_;
};

std::shared_ptr<const KernelCode> loaded(const std::string& object) {
    auto code = std::make_shared<Loaded>();
    std::string error;
    code->object = LoadedObject::load(object, &runtime(), error);
    if (!code->object) throw Error({}, "cannot load the kernel: " + error);
    code->function = reinterpret_cast<KernelCode::Function*>(code->object->find(std::string(kFunction) + "_argv"));
    code->hash = content_hash(code->object->instructions());
    return code;
}

}  // namespace

std::string_view name(CodeSource source) {
    return source == CodeSource::compiled ? "compiled" : source == CodeSource::cache ? "cache" : "memory";
}

std::variant<std::shared_ptr<const KernelCode>, KernelError> kernel_code(const expr::Group& group,
                                                                         const expr::Schedule& schedule,
                                                                         const std::string& target_text,
                                                                         CodeSource& from) {
    static Living living;
    std::shared_ptr<const KernelCode> code;
    const auto failed = caught([&] {
        const Halide::Target target = Halide::Target(target_text)
                                          .with_feature(Halide::Target::NoRuntime)
                                          .with_feature(Halide::Target::UserContext);
        code = stepped_if_possible(group, schedule, target);
        if (code) return;
        const std::string key = key_of(group, schedule, target);
        code = living.find(key);
        from = code ? CodeSource::memory : CodeSource::compiled;
        if (code) return;
        code = loaded(kept(
            "the code of " + group.name, key, [&] { return compiled(group, schedule, target); }, &from));
        living.add(key, code);
    });
    if (failed) return *failed;
    return code;
}

}  // namespace whittle::halide
