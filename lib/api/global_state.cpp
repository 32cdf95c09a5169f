#define WHITTLE_API_IMPLEMENTATION
#include "api/global_state.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "api/call.h"
#include "base/error.h"
#include "ops/core/registry.h"

namespace whittle::api {
namespace {

std::atomic<ScalarType> default_dtype{kFloat};
std::atomic<bool> deterministic{false};
thread_local bool asked_deterministic = false;

/// The dtype of the first result; nothing where the call is a mistake, which is told later.
std::optional<whittle::DType> result_dtype(const Node& call, const std::vector<ImplPtr>& operands) {
    Graph graph;
    for (const ImplPtr& operand : operands) graph.placeholder("operand", operand->meta);
    try {
        const std::vector<ValueMeta> metas = infer(graph, call);
        return metas.empty() ? std::nullopt : std::optional(metas.front().dtype);
    } catch (const Error&) {
        return std::nullopt;
    }
}

}  // namespace

ScalarType get_default_dtype() { return default_dtype; }

bool is_deterministic() { return deterministic; }
bool deterministic_algorithms() {
    asked_deterministic = true;
    return deterministic;
}
bool take_asked_deterministic() { return std::exchange(asked_deterministic, false); }
void use_deterministic_algorithms(bool value) { deterministic = value; }

void set_default_dtype(ScalarType type) {
    if (!is_floating(to_internal(type)))
        throw Error("set_default_dtype: found " + std::string(name(type)) + ", expected a floating-point dtype");
    default_dtype = type;
}

void use_default_dtype(Node& call, const Schema& schema, std::vector<ImplPtr>& operands, void* pc) {
    const whittle::DType wanted = to_internal(get_default_dtype());
    if (wanted == whittle::DType::f32) return;  // what the ops take
    const auto floating = [](const ImplPtr& operand) { return is_floating(operand->meta.dtype); };
    if (std::any_of(operands.begin(), operands.end(), floating)) return;
    if (result_dtype(call, operands) != whittle::DType::f32) return;
    if (const Param* dtype = schema.param("dtype")) {
        const auto at = static_cast<std::size_t>(dtype - schema.params.data());
        const bool given = (at < call.args.size() && !call.args[at].is_none()) || call.kwarg("dtype");
        if (given) return;
        if (at < call.args.size())
            call.args[at] = Arg(wanted);
        else
            call.kwargs.emplace_back("dtype", Arg(wanted));
        return;
    }
    std::vector<ImplPtr> converted = operands;
    for (ImplPtr& operand : converted) {
        const ValueMeta meta{wanted, operand->meta.sizes, operand->meta.strides};
        operand = make_pending(meta);  // to see whether it would do
    }
    if (operands.empty() || result_dtype(call, converted) != wanted)
        throw Error(
            call.target +
                ": found no floating-point operand: the operation cannot compute its result in the default dtype " +
                std::string(whittle::name(wanted)),
            "convert an operand to the default dtype with to()");
    for (ImplPtr& operand : operands) {
        Node convert;
        convert.target = "aten.to.dtype";
        convert.args = {Arg(NodeRef{0}), Arg(wanted)};
        operand = issue(std::move(convert), {operand}, pc).front().impl();
    }
}

}  // namespace whittle::api
