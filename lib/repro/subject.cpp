#include "repro/steps.h"

#include <algorithm>
#include <chrono>
#include <functional>

#include "backends/registry.h"
#include "base/error.h"
#include "base/words.h"
#include "graph/abilities.h"
#include "judge/judge.h"
#include "ops/core/interpreter.h"
#include "ops/core/opaque.h"
#include "printers/short_program.h"

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

std::vector<Tensor> reference_outputs(const LoadedFrame& frame) {
    Outcome expected = run_in_process(frame.graph, frame.inputs, *find_backend(kReferenceBackend), {});
    if (expected.failed())
        throw Error({frame.file.string(), {}}, "the reference, eager, cannot run the model: " + expected.message,
                    "use --input to pass inputs with which the model runs");
    return std::move(expected.outputs);
}

std::optional<Failure> failure_of(const LoadedFrame& frame, const Suspect& suspect) {
    const bool unknown = suspect.tier == Tier::ends && !opaque_ops(frame.graph).empty();
    const std::vector<Tensor> expected = unknown ? std::vector<Tensor>() : reference_outputs(frame);
    const auto backend = find_backend(suspect.spec, suspect.options);
    Outcome seen = query(frame.graph, frame.inputs, expected, *backend, suspect);
    const auto not_judged = [&](const std::string& why) {
        return Error({frame.file.string(), {}}, "found no verdict on the model: " + why);
    };
    if (seen.kind == Outcome::Kind::unsupported)
        throw Error({frame.file.string(), {}},
                    "backend " + suspect.spec.text() + " does not support the model: " + seen.message);
    if (!seen.failed()) return std::nullopt;
    if (!seen.is_failure()) throw not_judged(seen.message);
    if (const auto found = excuse(frame.graph, frame.inputs, seen, expected, suspect)) {
        if (found->verdict == Verdict::not_judged) throw not_judged(found->why);
        return std::nullopt;
    }
    Failure failure;
    describe(suspect, failure);
    failure.version = version_of(*backend, suspect.options);
    failure.signature = signature_of(seen);
    failure.message = seen.message;
    failure.inputs = frame.inputs;
    return failure;
}

bool reproduces(const LoadedFrame& frame, const Options& options) {
    const Failure& failure = *frame.graph.failure;
    const bool of_values = suspect_of(failure).tier == Tier::computes;
    if (of_values && !opaque_ops(frame.graph).empty()) return true;
    const std::vector<Tensor> expected = of_values ? reference_outputs(frame) : std::vector<Tensor>();
    const Question question{
        .graph = frame.graph, .expected = expected, .limits = {.timeout = std::chrono::seconds(options.alarm)}};
    const int runs = std::max(runs_until_passing(failure.signature.rate), static_cast<int>(options.runs));
    return ask_again(question, *find_backend(failure.backend), runs).again != Again::right;
}

Repro with_data(Repro repro, Data data) {
    repro.data = data;
    std::uint64_t seed = 0;
    std::vector<Tensor>& inputs = repro.graph.failure->inputs;
    for (std::size_t i = 0; i < inputs.size(); i++) {
        if (data == Data::random) repro.seeds[i] = seed;
        inputs[i] = made_up(inputs[i], data, seed++);
    }
    for (auto& [name, value] : repro.graph.attributes)
        if (is_floating(value.dtype())) value = made_up(value, data, seed++, Role::parameter);
    if (!opaque_ops(repro.graph).empty()) return repro;  // nobody here knows, and only how it ends is compared
    repro.expected = evaluate(repro.graph, inputs);
    repro.expected.resize(repro.graph.outputs().size());  // behind them is what the graph writes to its inputs
    return repro;
}

Repro with_smallest_data(Repro repro, Backend& backend) {
    constexpr std::int64_t kMostListed = 64;  // elements of a tensor
    const bool few = all_data(repro.graph, [](const Tensor& tensor) { return tensor.numel() <= kMostListed; });
    std::vector<Data> order = {Data::zeros, Data::ones};
    if (few) order.push_back(Data::small);
    if (!few || !all_data(repro.graph, is_plain)) order.push_back(Data::random);
    for (const Data data : order) {
        try {
            Repro tried = with_data(repro, data);
            if (still_fails({.graph = tried.graph, .expected = tried.expected}, backend)) return tried;
        } catch (const Error&) {  // the reference refuses such values
        }
        repro.passing.emplace_back(name(data));
    }
    return with_data(std::move(repro), Data::real);
}

std::string data_text(const Repro& repro) {
    std::string text = repro.data == Data::real    ? "the recorded values"
                       : repro.data == Data::small ? "small whole numbers"
                                                   : std::string(name(repro.data));
    if (repro.data == Data::random) text += " values, generated by the program";
    return text + (repro.passing.empty() ? "" : "; with " + join(repro.passing) + ", the program does not fail");
}

}  // namespace whittle::repro
