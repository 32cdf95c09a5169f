// What is known of an op: defined in the file once, with its schema, and kept for as long as the process lives.
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>

#include "frontends/libtorch/capture/ops.h"
#include "frontends/libtorch/capture/state.h"
#include "frontends/libtorch/torch_names.h"
#include "ops/aten/capture.h"

namespace whittle::libtorch {

namespace {

void write_op(Thread& thread, const OpInfo& info, const std::string& name, const std::string& overload,
              const std::string& schema) {
    RecordBuffer& record = thread.definition;
    record.start(records::OpDefinition{
        .op = info.id, .flags = info.flags, .name = name, .overload = overload, .schema = schema});
    commit(thread, record);
}

/// "aten::foo" beside "aten::foo_", with as many arguments.
bool has_functional(const c10::OperatorHandle& op) {
    c10::OperatorName name = op.operator_name();
    if (name.name.back() != '_') return false;
    name.name.pop_back();
    const auto functional = c10::Dispatcher::singleton().findSchema(name);
    return functional && functional->schema().arguments().size() == op.schema().arguments().size() &&
           functional->schema().returns().size() == 1;
}

const OpInfo& define_op(Thread& thread, const at::RecordFunction& function) {
    const auto name = function.operator_name();
    const std::string key = name ? name->name + "." + name->overload_name : std::string("\n") + function.name();
    std::lock_guard lock(state.mutex);
    const auto [entry, fresh] = state.ops.try_emplace(key);
    OpInfo& info = entry->second;
    if (!fresh) return info;
    info.id = static_cast<std::uint32_t>(state.ops.size());
    std::string schema;
    bool can_cast = false;
    if (name) {
        info.flags |= kHasSchema;
        if (const auto op = c10::Dispatcher::singleton().findSchema(*name)) {
            if (op->hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd) ||
                calls_op_for_each(name->name))
                info.flags |= kComposite;
            const auto& returns = op->schema().returns();
            if (!op->schema().is_vararg()) info.arguments = static_cast<int>(op->schema().arguments().size());
            if (!op->schema().is_varret()) info.returns = static_cast<int>(returns.size());
            can_cast = op->hasKernelForDispatchKey(c10::DispatchKey::AutocastCPU);
            const bool any = std::any_of(returns.begin(), returns.end(), [](const c10::Argument& result) {
                return result.type()->str().find("Tensor") != std::string::npos;
            });
            if (!any && !returns.empty()) info.flags |= kReturnsOnlyHost;
            schema = c10::toString(op->schema());
            const bool writes = schema.find('!') != std::string::npos;
            for (std::size_t i = 0; i < std::min<std::size_t>(op->schema().arguments().size(), 64); ++i) {
                const auto* const alias = op->schema().arguments()[i].alias_info();
                if (alias && alias->isWrite()) info.written |= std::uint64_t{1} << i;
            }
            // Of what shows other memory from now on, no element was written.
            info.writes = writes && capture_role(name->name) != CaptureRole::adopts;
            info.returns_nothing = returns.empty();
            info.shows_memory = !info.writes && std::any_of(returns.begin(), returns.end(), [](const auto& result) {
                return result.alias_info() != nullptr;
            });
            if (writes && has_functional(*op)) info.flags |= kHasFunctional;
        }
        info.updates_statistics = may_update_statistics(name->name);
    }
    if (name) info.makes_memory = !info.writes && capture_role(name->name) == CaptureRole::allocates;
    write_op(thread, info, name ? name->name : function.name(), name ? name->overload_name : "", schema);
    if (can_cast) {
        OpInfo& casting = state.ops[key + "\ncasts"];
        casting = info;
        casting.id = static_cast<std::uint32_t>(state.ops.size());
        casting.flags |= kComposite | kCasts;
        write_op(thread, casting, name->name, name->overload_name, schema);
        info.casting = &casting;
    }
    return info;
}

/// An op's name lies in its schema, which stays where it is: the pointer is the key. Other names may be temporary.
const OpInfo& known_op(Thread& thread, const at::RecordFunction& function) {
    const auto found = thread.ops_by_name.find(function.name());
    if (found != thread.ops_by_name.end()) return *found->second;
    const OpInfo& info = define_op(thread, function);
    if (info.flags & kHasSchema) thread.ops_by_name.emplace(function.name(), &info);
    return info;
}

}  // namespace

const OpInfo& fused_op(Thread& thread) {
    std::lock_guard lock(state.mutex);
    const auto [entry, fresh] = state.ops.try_emplace(std::string("\n") + kFusedKernel);
    OpInfo& info = entry->second;
    if (!fresh) return info;
    info.id = static_cast<std::uint32_t>(state.ops.size());
    write_op(thread, info, kFusedKernel, "", "");
    return info;
}

const OpInfo& info_of(Thread& thread, const at::RecordFunction& function) {
    const OpInfo& info = known_op(thread, function);
    const bool autocast = info.casting && !c10::impl::tls_is_dispatch_key_excluded(c10::DispatchKey::AutocastCPU);
    return autocast ? *info.casting : info;
}

}  // namespace whittle::libtorch
