#include "backends/plugin/plugin.h"

#include <dlfcn.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <optional>
#include <utility>

#include "backends/plugin/exchange.h"
#include "backends/plugin/repro_code.h"
#include "base/error.h"
#include "base/log.h"
#include "base/words.h"
#include "formats/json_text.h"
#include "graph/abilities.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

// ---- the library ----------------------------------------------------------------------------------------------------

/// Every backend that the library exports, after the checks of its version.
std::vector<const whittle_backend*> load_library(const fs::path& library) {
    const std::string file = library.string();
    if (!fs::exists(library)) throw Error({file, {}}, "found no such file, expected a backend's shared library");
    // An absolute path, or dlopen would look in the system's folders. Never unloaded: threads and destructors of the
    // library may outlive every backend.
    void* handle = ::dlopen(fs::absolute(library).c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) throw Error({file, {}}, std::string("cannot load the library: ") + ::dlerror());
    const auto* list = static_cast<const whittle_backend* const*>(::dlsym(handle, "whittle_backends"));
    if (!list)
        throw Error({file, {}}, "found no symbol 'whittle_backends', expected a backend library",
                    "export whittle_backends, as whittle_backend.h describes");
    std::vector<const whittle_backend*> backends;
    for (; *list; ++list) {
        const whittle_backend& backend = **list;
        if (backend.abi_major != WHITTLE_BACKEND_ABI_MAJOR)
            throw Error({file, {}},
                        "found interface version " + std::to_string(backend.abi_major) + "." +
                            std::to_string(backend.abi_minor) + ", expected " +
                            std::to_string(WHITTLE_BACKEND_ABI_MAJOR) + ".x",
                        "build the library again with the whittle_backend.h of this version of Whittle");
        if (backend.struct_size < sizeof(whittle_backend))
            throw Error({file, {}}, "found struct_size=" + std::to_string(backend.struct_size) +
                                        ", expected sizeof(whittle_backend), at least " +
                                        std::to_string(sizeof(whittle_backend)));
        const std::pair<const char*, bool> required[] = {{"name", backend.name != nullptr},
                                                         {"compile", backend.compile != nullptr},
                                                         {"run", backend.run != nullptr},
                                                         {"destroy", backend.destroy != nullptr}};
        for (const auto& [member, set] : required)
            if (!set)
                throw Error({file, {}}, std::string("found no value of the member '") + member +
                                            "' of a whittle_backend, expected a value");
        backends.push_back(&backend);
    }
    if (backends.empty()) throw Error({file, {}}, "found an empty list of backends, expected at least one");
    return backends;
}

// ---- what the library says and gives
// ---------------------------------------------------------------------------------

struct Said {
    std::string message, op, node;
};

std::string text_or_empty(const char* text) { return text ? text : ""; }

/// Our side of one call: collects what the library says and gives. Its functions are called from C and throw nothing.
class Host {
  public:
    explicit Host(std::size_t outputs = 0) : outputs_(outputs) {
        view_ = {sizeof view_, this, &Host::say, &Host::output};
    }
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    const whittle_host* view() const { return &view_; }
    const std::vector<Said>& said() const { return said_; }
    Said last() const { return said_.empty() ? Said{} : said_.back(); }
    /// What was wrong with the outputs, or empty.
    std::string problem() const {
        if (!problem_.empty()) return problem_;
        for (std::size_t i = 0; i < outputs_.size(); ++i)
            if (!outputs_[i])
                return "output " + std::to_string(i) + " of " + std::to_string(outputs_.size()) + " is missing";
        return {};
    }
    Values take_outputs() {
        Values values;
        for (std::optional<Tensor>& output : outputs_) values.push_back(std::move(*output));
        return values;
    }

  private:
    static void say(void* context, const char* message, const char* op, const char* node) {
        try {
            static_cast<Host*>(context)->said_.push_back(
                {text_or_empty(message), text_or_empty(op), text_or_empty(node)});
        } catch (const std::bad_alloc&) {  // it has less to say
        }
    }
    static void output(void* context, std::size_t index, const whittle_tensor* tensor) {
        Host& host = *static_cast<Host*>(context);
        const std::string which = "output " + std::to_string(index);
        try {
            if (!tensor)
                host.problem_ = which + " is a null pointer";
            else if (index >= host.outputs_.size())
                host.problem_ = which + " does not exist: expected " + plural(host.outputs_.size(), "output");
            else if (host.outputs_[index])
                host.problem_ = which + " was passed twice";
            else
                host.outputs_[index] = receive(*tensor);
        } catch (const Error& error) {
            host.problem_ = which + ": " + error.message();
        } catch (const std::bad_alloc&) {
            host.problem_ = "out of memory";
        }
    }

    std::vector<Said> said_;
    std::vector<std::optional<Tensor>> outputs_;
    std::string problem_;
    whittle_host view_{};
};

/// Calls into the library; an exception that it lets through is an error status with the exception's words.
whittle_status guarded(Host& host, const std::function<whittle_status()>& call) {
    try {
        return call();
    } catch (const std::bad_alloc&) {
        throw;  // out of memory is an outcome of its own
    } catch (const std::exception& error) {
        host.view()->say(host.view()->context, (std::string("threw an exception: ") + error.what()).c_str(), nullptr,
                         nullptr);
    } catch (...) {
        host.view()->say(host.view()->context, "threw an exception", nullptr, nullptr);
    }
    return WHITTLE_ERROR;
}

/// What the library says although all went well: an option that it does not know.
void warn(const whittle_backend& backend, const Host& host) {
    for (const Said& said : host.said())
        log_warning(LogChannel::backend, text_or_empty(backend.name) + ": " + as_line(said.message));
}

BackendFailure failure_of(const char* stage, whittle_status status, const Host& host) {
    const Said said = host.last();
    std::string message = said.message;
    if (status < WHITTLE_OK || status > WHITTLE_SKIP)
        message = "returned the unknown status " + std::to_string(status) + (message.empty() ? "" : ": " + message);
    if (message.empty()) message = "failed without a message";
    return {stage, said.op, message, status == WHITTLE_UNSUPPORTED};
}

// ---- the backend
// --------------------------------------------------------------------------------------------------------

class PluginExecutable final : public Executable {
  public:
    PluginExecutable(const whittle_backend& backend, std::unique_ptr<OfferedGraph> graph, void* handle,
                     std::vector<std::string> input_names, std::size_t outputs)
        : backend_(backend),
          graph_(std::move(graph)),
          handle_(handle),
          input_names_(std::move(input_names)),
          outputs_(outputs) {}
    ~PluginExecutable() override { backend_.destroy(handle_); }

    RunResult run(std::span<const Tensor> inputs) override {
        WHITTLE_CHECK(inputs.size() == input_names_.size(), "one input per placeholder");
        std::vector<whittle_tensor> tensors;
        for (std::size_t i = 0; i < inputs.size(); ++i) tensors.push_back(offer(inputs[i], input_names_[i].c_str()));
        Host host(outputs_);
        const whittle_status status =
            guarded(host, [&] { return backend_.run(handle_, tensors.data(), tensors.size(), host.view()); });
        if (status != WHITTLE_OK) return failure_of("run", status, host);
        warn(backend_, host);
        if (const std::string problem = host.problem(); !problem.empty())
            return BackendFailure{"run", {}, "returned success, but " + problem};
        return host.take_outputs();
    }

  private:
    const whittle_backend& backend_;
    std::unique_ptr<OfferedGraph> graph_;  // the attributes' data, which the library may keep pointers to
    void* handle_;
    std::vector<std::string> input_names_;
    std::size_t outputs_;
};

class PluginBackend : public Backend, public Emitter {
  public:
    PluginBackend(const whittle_backend& backend, const fs::path& library)
        : backend_(backend), library_(fs::absolute(library).lexically_normal()) {}

    std::string name() const override { return backend_.name; }
    std::string description() const override { return text_or_empty(backend_.description); }

    CompileResult compile(const Graph& graph, const BackendOptions& options) override {
        auto plugin_graph = std::make_unique<OfferedGraph>(graph, options);
        Host host;
        void* handle = nullptr;
        const whittle_status status =
            guarded(host, [&] { return backend_.compile(plugin_graph->view(), host.view(), &handle); });
        const Said said = host.last();
        switch (status) {
            case WHITTLE_OK:
                warn(backend_, host);
                return make_executable(graph, std::move(plugin_graph), handle);
            case WHITTLE_BREAK: {
                const Node* node = graph.find(said.node);
                if (!node)
                    return BackendFailure{
                        "compile", said.op,
                        "requested a graph break at '" + said.node + "', which is not a node of the graph"};
                return BreakRequest{said.message, static_cast<NodeId>(node - graph.nodes.data())};
            }
            case WHITTLE_SKIP:
                return SkipRequest{said.message};
            default:
                return failure_of("compile", status, host);
        }
    }

    SuspectCode emit(const EmitRequest& request) override { return plugin_code(request, library_, name()); }
    std::optional<ReproProgram> short_program(const ShortRequest& request, std::string& why_not) override {
        return plugin_program(request, library_, name(), why_not);
    }

  private:
    std::unique_ptr<Executable> make_executable(const Graph& graph, std::unique_ptr<OfferedGraph> plugin_graph,
                                                void* handle) const {
        std::vector<std::string> input_names;
        for (const NodeId id : graph.placeholders()) input_names.push_back(graph.node({id}).name);
        return std::make_unique<PluginExecutable>(backend_, std::move(plugin_graph), handle, std::move(input_names),
                                                  graph.outputs().size());
    }

  protected:
    const whittle_backend& backend_;

  private:
    const fs::path library_;
};

/// One that has the function `unsupported`.
class TellingPlugin final : public PluginBackend, public Support {
  public:
    using PluginBackend::PluginBackend;

    std::vector<std::string> unsupported(const Graph& graph) const override {
        std::vector<std::string> targets;
        const OfferedGraph plugin_graph(graph, {});
        Host host;
        guarded(host, [&] { return backend_.unsupported(plugin_graph.view(), host.view()); });
        for (const Said& said : host.said())
            if (!said.op.empty() && std::find(targets.begin(), targets.end(), said.op) == targets.end())
                targets.push_back(said.op);
        return targets;
    }
};

}  // namespace

std::vector<PluginInfo> plugin_backends(const fs::path& library) {
    std::vector<PluginInfo> infos;
    for (const whittle_backend* backend : load_library(library))
        infos.push_back({backend->name, text_or_empty(backend->description)});
    return infos;
}

std::unique_ptr<Backend> load_plugin(const fs::path& library, const std::string& name) {
    const std::vector<const whittle_backend*> backends = load_library(library);
    std::vector<std::string> names;
    for (const whittle_backend* backend : backends) {
        if (name == backend->name || (name.empty() && backends.size() == 1)) {
            if (backend->unsupported) return std::make_unique<TellingPlugin>(*backend, library);
            return std::make_unique<PluginBackend>(*backend, library);
        }
        names.emplace_back(backend->name);
    }
    if (name.empty())
        throw Error({library.string(), {}},
                    "found " + std::to_string(names.size()) +
                        " backends in the library, expected the name of one backend after the path",
                    "write LIBRARY.so:NAME, where NAME is one of " + join(names));
    throw Error({library.string(), {}}, "found no backend '" + name + "', expected one of " + join(names),
                did_you_mean(name, names));
}

}  // namespace whittle
