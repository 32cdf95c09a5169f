#include "repro/subject.h"

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "graph/short_program.h"
#include "judge/judge.h"
#include "ops/core/interpreter.h"
#include "ops/core/opaque.h"

namespace whittle::repro {
namespace {

/// Of the inputs and floating-point parameters.
bool all_data(const Graph& graph, const std::function<bool(const Tensor&)>& are) {
    if (!std::ranges::all_of(graph.failure->inputs, are)) return false;
    return std::ranges::all_of(
        graph.attributes, [&](const auto& entry) { return !is_floating(entry.second.dtype()) || are(entry.second); });
}

/// Numbers that a reader takes in, as those that minify rounded.
bool is_plain(const Tensor& tensor) {
    constexpr std::size_t kLongest = 5;  // characters: "-0.25"
    const auto is_short = [](const Scalar& value) { return short_number(value).size() <= kLongest; };
    return !is_complex(tensor.dtype()) && std::ranges::all_of(scalars_of(tensor), is_short);
}

}  // namespace

Subject with_data(const Graph& graph, Data data) {
    Subject subject{graph, {}, data};
    std::uint64_t seed = 0;
    std::vector<Tensor>& inputs = subject.graph.failure->inputs;
    for (std::size_t i = 0; i < inputs.size(); i++) {
        if (data == Data::random) subject.seeds[i] = seed;
        inputs[i] = made_up(inputs[i], data, seed++);
    }
    for (auto& [name, value] : subject.graph.attributes)
        if (is_floating(value.dtype())) value = made_up(value, data, seed++, Role::parameter);
    if (!opaque_ops(graph).empty()) return subject;  // nobody here knows, and only how it ends is compared
    subject.expected = evaluate(subject.graph, inputs);
    subject.expected.resize(graph.outputs().size());  // behind them is what the graph writes to its inputs
    return subject;
}

Subject smallest(const Graph& graph, Backend& backend, const Options& options) {
    constexpr std::int64_t kMostListed = 64;  // elements of a tensor
    const bool few = all_data(graph, [](const Tensor& tensor) { return tensor.numel() <= kMostListed; });
    std::vector<Data> order = {Data::zeros, Data::ones};
    if (few) order.push_back(Data::small);
    if (!few || !all_data(graph, is_plain)) order.push_back(Data::random);
    std::vector<Data> passing;
    for (const Data data : order) {
        try {
            Subject subject = with_data(graph, data);
            if (still_fails({.graph = subject.graph, .expected = subject.expected, .limits = options.limits},
                            backend)) {
                subject.passing = passing;
                return subject;
            }
        } catch (const Error&) {  // the reference refuses such values
        }
        passing.push_back(data);
    }
    Subject subject = with_data(graph, Data::real);
    subject.passing = passing;
    return subject;
}

std::string data_text(const Subject& subject) {
    std::string text = subject.data == Data::real    ? "the recorded values"
                       : subject.data == Data::small ? "small whole numbers"
                                                     : std::string(name(subject.data));
    if (subject.data == Data::random) text += " values, made up by the program";
    for (std::size_t i = 0; i < subject.passing.size(); i++)
        text += (i ? ", " : "; it does not fail with ") + std::string(name(subject.passing[i]));
    return text;
}

}  // namespace whittle::repro
