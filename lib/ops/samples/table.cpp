#include "ops/samples/table.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "ops/samples/families.h"

namespace whittle {

namespace samples {
namespace {

constexpr FamilyTable* kFamilies[] = {
#define WHITTLE_FAMILY(dialect, name) name##_table,
#include "ops/aten/families.def"
#include "ops/onnx/families.def"
#undef WHITTLE_FAMILY
};

/// By name of the op.
const std::multimap<std::string_view, SamplesFn>& all() {
    static const auto all = [] {
        std::multimap<std::string_view, SamplesFn> result;
        for (FamilyTable* family : kFamilies)
            for (const OpSamples& row : family())
                for (const std::string_view op : row.ops) result.emplace(op, row.samples);
        return result;
    }();
    return all;
}

/// The sample with arguments by name where the op takes them so alone.
Sample with_keywords(const RegisteredOp& op, Sample sample) {
    const auto first = std::ranges::find_if(op.schema.params, &Param::keyword_only);
    if (first == op.schema.params.end()) return sample;
    const auto positional = static_cast<std::size_t>(first - op.schema.params.begin());
    for (std::size_t i = positional; i < std::min(sample.args.size(), op.schema.params.size()); ++i)
        sample.kwargs.emplace_back(op.schema.params[i].name, sample.args[i]);
    sample.args.resize(std::min(sample.args.size(), positional));
    return sample;
}

/// The sample with a number where the op takes one in the place of a tensor.
Sample with_numbers(const RegisteredOp& op, Sample sample) {
    for (std::size_t i = 0; i < std::min(sample.args.size(), op.schema.params.size()); ++i)
        if (op.schema.params[i].type == ParamType::scalar && sample.args[i].node()) sample.args[i] = Arg(2);
    Sample used = sample;
    used.tensors.clear();
    std::map<NodeId, NodeRef> kept;
    const Node call = map_inputs({.args = sample.args, .kwargs = sample.kwargs}, [&](NodeRef ref) {
        const auto [found, first] = kept.try_emplace(ref.id, NodeRef{static_cast<NodeId>(used.tensors.size())});
        if (first) used.tensors.push_back(sample.tensors.at(static_cast<std::size_t>(ref.id)));
        return Arg(found->second);
    });
    used.args = call.args;
    used.kwargs = call.kwargs;
    return used;
}

/// The first sample of the record that the op takes, too.
Samples derived_samples(const RegisteredOp& op, DType dtype) {
    const auto found = all().find(op.record());
    if (found == all().end()) return {};
    for (const Sample& given : found->second(dtype)) {
        Sample sample = with_keywords(op, with_numbers(op, given));
        try {
            bind_arguments(op.schema, {.args = sample.args, .kwargs = sample.kwargs});
            return {std::move(sample)};
        } catch (const Error&) {  // another of its samples leaves out what this op lacks
        }
    }
    return {};
}

}  // namespace
}  // namespace samples

Samples samples_of(const RegisteredOp& op, DType dtype) {
    const auto found = samples::all().find(op.name);
    return found == samples::all().end() ? samples::derived_samples(op, dtype) : found->second(dtype);
}

bool has_samples(const RegisteredOp& op) {
    return samples::all().contains(op.name) || samples::all().contains(op.record());
}

std::vector<std::string_view> sampled_ops() {
    std::vector<std::string_view> result;
    for (const auto& [op, samples] : samples::all()) result.push_back(op);
    return result;
}

}  // namespace whittle
