#include "judge/gradient_values.h"

#include <algorithm>

#include "base/error.h"
#include "ops/core/draws.h"
#include "ops/core/gradients.h"
#include "ops/core/interpreter.h"
#include "ops/core/recorder.h"
#include "passes/widen.h"

namespace whittle {
namespace {

/// A value as a gradient of that size, as LibTorch's engine sums what was broadcast; nothing where it cannot be one.
std::optional<Tensor> as_gradient(const Tensor& value, const Tensor& wanted) {
    if (value.dtype() != wanted.dtype()) return std::nullopt;
    if (value.sizes() == wanted.sizes()) return value;
    Graph graph;
    GraphBuilder builder(graph);
    const V whole = builder.value(graph.placeholder("value", ValueMeta::of(value)));
    try {
        graph.output({sum_to_size(whole, wanted.sizes()).ref});
    } catch (const Error&) {
        return std::nullopt;
    }
    return evaluate(graph, std::vector<Tensor>{value}).at(0);
}

}  // namespace

std::optional<Ran> Ran::of(const capture::CapturedGraph& captured) {
    if (captured.inputs.size() != captured.graph.placeholders().size() || draws_random_numbers(captured.graph))
        return std::nullopt;
    try {
        Recorder recorder(captured.graph);
        recorder.run(captured.graph, captured.inputs);
        return Ran{&captured, std::move(recorder.values)};
    } catch (const Error&) {  // which checking the graph itself has told
        return std::nullopt;
    }
}

ExpectedGradients::ExpectedGradients(const Joint& joint, const std::vector<Tensor>& inputs, const Accuracy& accuracy)
    : first_(joint.outputs),
      count_(joint.gradients.size()),
      values_(evaluate(joint.graph, inputs)),
      exact_(evaluate_exactly(joint.graph, inputs)),
      accuracy_(accuracy) {}

bool ExpectedGradients::all_zero() const {
    for (std::size_t i = 0; i < count_; ++i)
        for (const double element : value(i).contiguous().values<double>())
            if (element != 0) return false;
    return true;
}

bool ExpectedGradients::is_among(std::size_t gradient, const Candidates& values) const {
    return std::ranges::any_of(values, [&](const Tensor& other) {
        const std::optional<Tensor> candidate = as_gradient(other, value(gradient));
        return candidate && !difference(gradient, *candidate);
    });
}

std::optional<std::string> ExpectedGradients::nearest(std::size_t gradient, const Candidates& results) const {
    for (const Tensor& result : results) {
        const std::optional<Tensor> candidate = as_gradient(result, value(gradient));
        const auto found = candidate ? difference(gradient, *candidate) : std::nullopt;
        if (!found) continue;
        bool explained = false;
        for (std::size_t other = 0; other < count_ && !explained; ++other) explained = is_among(other, {result});
        if (!explained) return found;
    }
    return std::nullopt;
}

std::optional<std::string> ExpectedGradients::difference(std::size_t i, const Tensor& candidate) const {
    const auto found =
        compare(candidate, value(i), accuracy_, [&] { return exact_ ? &exact_->at(first_ + i) : nullptr; });
    return found ? std::optional(found->description) : std::nullopt;
}

}  // namespace whittle
