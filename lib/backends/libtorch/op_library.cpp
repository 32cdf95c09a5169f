#include "backends/libtorch/op_library.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <dlfcn.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <set>

#include "backends/libtorch/boxed_call.h"
#include "base/error.h"
#include "base/log.h"
#include "base/subprocess.h"
#include "ops/core/custom.h"
#include "tensor/reach.h"

namespace whittle::aten {
namespace {

namespace fs = std::filesystem;

void load(const fs::path& file) {
    if (!::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) throw Error(std::string(::dlerror()));
}

/// Why it cannot be loaded, tried in a copy of this process; empty: it can.
std::string refused(const fs::path& file) {
    const ForkedAnswer asked = ask_forked(
        [&] {
            try {
                load(file);
                return std::string();
            } catch (const Error& error) {
                return std::string(error.what());
            }
        },
        {.timeout = std::chrono::seconds(30)});
    return asked.process.good() ? asked.answer : "the process that loaded the library " + ending_of(asked.process);
}

/// "mylib.scale.default" of mylib::scale.
std::string target_of(const c10::OperatorName& name) {
    std::string target = name.name;
    if (const std::size_t colons = target.find("::"); colons != std::string::npos) target.replace(colons, 2, ".");
    return target + "." + (name.overload_name.empty() ? "default" : name.overload_name);
}

/// Of all that LibTorch knows.
std::set<std::string> all_targets() {
    std::set<std::string> targets;
    for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) targets.insert(target_of(name));
    return targets;
}

template <class T>
Node call_of(const std::string& target, const Arguments<T>& arguments) {
    Node call;
    call.kind = NodeKind::call;
    call.target = target;
    call.args = arguments.bound();
    return call;
}

std::vector<Tensor> run(const Node& call, const Operands& operands) {
    std::vector<Tensor> results;
    for (std::optional<Tensor>& result : call_boxed(call, operands)) {
        if (!result)
            throw Error(call.target + " leaves result " + std::to_string(results.size()) +
                        " undefined, expected a tensor");
        results.push_back(std::move(*result));
    }
    return results;
}

std::vector<ValueMeta> infer(const std::string& target, const Arguments<ValueMeta>& arguments) {
    const Node call = call_of(target, arguments);
    const auto meta = [&](NodeRef operand) { return arguments.value(operand); };
    if (auto metas = infer_boxed(call, meta)) return std::move(*metas);
    const auto zeros = [&](NodeRef operand) {
        const ValueMeta of = meta(operand);
        return laid_out(Tensor(of.dtype, of.sizes), of.strides);
    };
    std::vector<ValueMeta> metas;
    for (const Tensor& result : run(call, zeros)) metas.push_back(ValueMeta::of(result));
    return metas;
}

/// False, with a warning, where the registry cannot have it.
bool added(const std::string& target, const fs::path& file) {
    CustomOp op{.target = target, .schema = schema_of(target).value(), .library = file.string()};
    op.infer = [target](const Arguments<ValueMeta>& arguments) { return infer(target, arguments); };
    op.eval = [target](const Arguments<Tensor>& arguments) {
        return run(call_of(target, arguments), [&](NodeRef operand) { return arguments.value(operand); });
    };
    try {
        register_op(std::move(op));
        return true;
    } catch (const Error& error) {
        log_warning(LogChannel::backend, file.string() + ": " + target + " cannot be used: " + error.what());
        return false;
    }
}

}  // namespace

std::vector<std::string> load_op_library(const fs::path& file) {
    static std::mutex mutex;
    static std::map<fs::path, std::vector<std::string>> loaded;
    const std::lock_guard lock(mutex);
    std::error_code error;
    const fs::path absolute = fs::canonical(file, error);
    if (error) throw Error({file.string(), {}}, error.message());
    if (const auto known = loaded.find(absolute); known != loaded.end()) return known->second;
    if (const std::string words = refused(absolute); !words.empty())
        throw Error({file.string(), {}},
                    "cannot load this file, expected a shared library that registers ops with TORCH_LIBRARY: " + words);
    const std::set<std::string> before = all_targets();
    load(absolute);
    std::vector<std::string> brought, targets;
    std::ranges::set_difference(all_targets(), before, std::back_inserter(brought));
    std::ranges::copy_if(brought, std::back_inserter(targets),
                         [&](const std::string& target) { return added(target, absolute); });
    if (brought.empty())
        throw Error({file.string(), {}}, "found a library that adds no op to LibTorch, expected at least one op",
                    "register ops with TORCH_LIBRARY(NAMESPACE, m) { m.def(…); }, and link the library against the "
                    "LibTorch that Whittle uses");
    loaded.emplace(absolute, targets);
    return targets;
}

}  // namespace whittle::aten

extern "C" void whittle_load_op_library(const std::filesystem::path& file) { whittle::aten::load_op_library(file); }
