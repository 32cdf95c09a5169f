#include "backends/debug/op_checks.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "graph/text.h"
#include "ops/core/memory.h"
#include "tensor/compare.h"

namespace whittle {
namespace {

/// Those of dimensions with one element, or of no elements at all, place nothing.
bool same_strides(const ValueMeta& a, const ValueMeta& b) {
    if (a.numel() == 0) return true;
    for (std::size_t i = 0; i < a.sizes.size(); ++i)
        if (a.sizes[i] != 1 && a.strides[i] != b.strides[i]) return false;
    return true;
}

}  // namespace

std::vector<Operand> operands_of(const Node& call, const Schema& schema, const Arguments<Tensor>& arguments) {
    const ArgList bound = bind_arguments(schema, call);
    std::vector<Operand> operands;
    for (std::size_t i = 0; i < bound.size(); ++i)
        for (const Arg& arg : bound[i].list() ? *bound[i].list() : ArgList{bound[i]})
            if (const NodeRef* ref = arg.node()) {
                const Tensor tensor = arguments.value(*ref);
                operands.push_back({&schema.params[i], tensor, own_copy(tensor)});
            }
    return operands;
}

void check_unwritten(const Node& call, std::span<const Operand> operands) {
    for (const Operand& operand : operands) {
        if (operand.param->mutates) continue;
        const auto changed = compare(operand.tensor, operand.before, Accuracy{.mode = Accuracy::Mode::strict});
        if (changed)
            throw Error(call.target + " wrote to its operand '" + operand.param->name +
                        "', which its schema does not declare as written: " + changed->description);
    }
}

void check_unshared(const Node& call, const Schema& schema, std::span<const Operand> operands,
                    std::span<const Tensor> results) {
    for (const Operand& operand : operands)
        for (std::size_t i = 0; i < results.size(); ++i) {
            const Return& declared = schema.returns[std::min(i, schema.returns.size() - 1)];
            const bool view = !declared.alias.empty() && declared.alias == operand.param->alias;
            if (!view && results[i].storage() == operand.tensor.storage())
                throw Error("result " + std::to_string(i) + " of " + call.target + " shares memory with its operand '" +
                            operand.param->name + "', which its schema does not declare");
        }
    const auto alias_of = [&](std::size_t i) { return schema.returns[std::min(i, schema.returns.size() - 1)].alias; };
    for (std::size_t i = 0; i < results.size(); ++i)
        for (std::size_t k = 0; k < i; ++k)
            if (results[i].storage() == results[k].storage() && (alias_of(i).empty() || alias_of(i) != alias_of(k)))
                throw Error("results " + std::to_string(k) + " and " + std::to_string(i) + " of " + call.target +
                            " share memory, which its schema does not declare");
}

std::optional<std::size_t> first_misfit(std::span<const Tensor> results, std::span<const ValueMeta> expected,
                                        bool in_place) {
    for (std::size_t i = 0; i < results.size(); ++i) {
        const ValueMeta got = ValueMeta::of(results[i]);
        const bool same = got.sizes == expected[i].sizes &&
                          (in_place || (got.dtype == expected[i].dtype && same_strides(got, expected[i])));
        if (!same) return i;
    }
    return std::nullopt;
}

void check_metas(const Node& call, std::span<const Tensor> results, std::span<const ValueMeta> expected,
                 std::string_view expected_are, bool in_place) {
    const std::string are(expected_are);
    if (results.size() != expected.size())
        throw Error(call.target + " gave " + std::to_string(results.size()) + " results, " + are + " are " +
                    std::to_string(expected.size()));
    if (const auto i = first_misfit(results, expected, in_place))
        throw Error("result " + std::to_string(*i) + " of " + call.target + " is " + print(ValueMeta::of(results[*i])) +
                    ", " + are + " is " + print(expected[*i]));
}

}  // namespace whittle
