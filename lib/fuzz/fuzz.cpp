#include "fuzz/fuzz.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "backends/registry.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/words.h"
#include "frontends/onnx/unspecified.h"
#include "fuzz/left_open.h"
#include "graph/abilities.h"
#include "judge/exact.h"
#include "judge/judge.h"
#include "ops/core/interpreter.h"
#include "passes/widen.h"

namespace whittle::fuzz {
namespace {

bool all_finite(const std::vector<Tensor>& tensors) {
    return std::ranges::all_of(tensors, [](const Tensor& tensor) {
        if (!is_floating(tensor.dtype())) return true;
        return std::ranges::all_of(tensor.values<double>(), [](double v) { return std::isfinite(v); });
    });
}

/// Whether rounding alone changes what the model gives: its values in f64 are others than the reference's.
bool is_unstable(const Model& model, const std::vector<Tensor>& expected) {
    const auto exact = evaluate_exactly(model.graph, model.inputs);
    if (!exact) return false;
    for (std::size_t i = 0; i < expected.size(); i++) {
        if ((*exact)[i].sizes() != expected[i].sizes()) return true;
        if (compare((*exact)[i].to(expected[i].dtype()), expected[i], default_tolerance(expected[i].dtype())))
            return true;
    }
    return false;
}

class Fuzzer {
  public:
    Fuzzer(const Options& options, const Observer& observer)
        : options_(options),
          observer_(observer),
          models_(options.models),
          backend_(find_backend(options.suspect.spec, options.suspect.options)) {}

    Counts run() {
        const auto start = std::chrono::steady_clock::now();
        const auto seconds = [&] {
            return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        };
        const double limit = options_.time_limit ? static_cast<double>(options_.time_limit->count()) : HUGE_VAL;
        const std::uint64_t last = options_.last().value_or(UINT64_MAX);
        for (std::uint64_t i = 0; i < last && seconds() < limit; i++) {
            throw_if_interrupted();
            observer_.progress(counts_);
            try_model(options_.seed + i);
        }
        counts_.seconds = seconds();
        counts_.ops = models_.ops(), counts_.pairs = models_.pairs();
        return counts_;
    }

  private:
    void try_model(std::uint64_t number) {
        Model model = models_.model(number);
        if (model.graph.calls().empty()) return;
        counts_.models++;
        if (!outside_standard(model.graph).empty()) {
            counts_.outside++;
            return;
        }
        if (exact()) {
            ExactCase made = exact_case(model.graph, model.inputs, number);
            model = {std::move(made.graph), std::move(made.inputs)};
        }
        const std::optional<std::vector<Tensor>> expected = expected_of(model);
        if (!expected) {
            counts_.refused++;
            return;
        }
        if (exact() && !not_exact(model.graph, model.inputs, *expected).empty()) {
            counts_.inexact++;
            return;
        }
        const Outcome outcome = query(model.graph, model.inputs, *expected, *backend_, options_.suspect);
        if (!outcome.failed()) {
            counts_.right++;
        } else if (!outcome.is_failure()) {
            counts_.unsupported++;
        } else if (outcome.kind == Outcome::Kind::mismatch && !exact() && is_unstable(model, *expected)) {
            counts_.unstable++;
        } else if (shares_lowerings() || left_open(model.graph, model.inputs).empty()) {
            report(number, model, outcome);
        } else {
            try_what_is_settled(number, without_open(model));
        }
    }

    /// Nothing: the reference refuses the model, or gives values that are no numbers.
    std::optional<std::vector<Tensor>> expected_of(const Model& model) const {
        try {
            std::vector<Tensor> expected = evaluate(model.graph, model.inputs);
            if (options_.models.special || all_finite(expected)) return expected;
        } catch (const Error&) {
        }
        return std::nullopt;
    }

    /// The part of a failing model of which every expected value is determined.
    void try_what_is_settled(std::uint64_t number, const Model& model) {
        if (!model.graph.calls().empty()) {
            const std::vector<Tensor> expected = evaluate(model.graph, model.inputs);
            const Outcome outcome = query(model.graph, model.inputs, expected, *backend_, options_.suspect);
            if (outcome.is_failure() &&
                (exact() || outcome.kind != Outcome::Kind::mismatch || !is_unstable(model, expected)))
                return report(number, model, outcome);
        }
        counts_.open++;
    }
    bool exact() const { return options_.suspect.compared_by().mode == Accuracy::Mode::exact; }
    /// Of a backend that compiles our lowerings, these say what is right.
    bool shares_lowerings() const { return backend_->consumes() == CompileStage::plan; }

    void report(std::uint64_t number, const Model& model, const Outcome& outcome) {
        counts_.failing++;
        Failure failure;
        describe(options_.suspect, failure);
        failure.version = version_of(*backend_, options_.suspect.options);
        failure.signature = signature_of(outcome);
        failure.message = outcome.message;
        failure.inputs = model.inputs;
        Graph graph = model.graph;
        graph.failure = std::move(failure);
        observer_.found(number, graph);
    }

    const Options& options_;
    const Observer& observer_;
    RandomModels models_;
    const std::unique_ptr<Backend> backend_;
    Counts counts_;
};

}  // namespace

std::optional<std::uint64_t> Options::last() const { return count || time_limit ? count : kDefaultCount; }

Counts fuzz(const Options& options, const Observer& observer) { return Fuzzer(options, observer).run(); }

std::string kind_of(const Graph& minimized) {
    constexpr std::size_t kMost = 4;
    std::set<std::string> ops;
    for (const NodeId id : minimized.calls()) {
        const Node& call = minimized.node({id});
        if (!is_op_call(call)) continue;
        const std::string op = call.target.substr(call.target.find('.') + 1);  // without its dialect
        ops.insert(op.substr(0, op.find('.')));
    }
    std::vector<std::string> first(ops.begin(), ops.end());
    first.resize(std::min(first.size(), kMost));
    return (minimized.failure ? minimized.failure->signature.kind : "failure") + "-" +
           (first.empty() ? "none" : join(first, "+"));
}

std::string to_text(const Counts& counts) {
    const auto of = [](std::size_t number, const char* what) { return ", " + std::to_string(number) + " " + what; };
    const auto any = [&](std::size_t number, const char* what) { return number ? of(number, what) : std::string(); };
    return "models " + std::to_string(counts.models) + ": " + std::to_string(counts.right) + " right" +
           any(counts.unsupported, "unsupported") + any(counts.refused, "refused by the reference") +
           any(counts.unstable, "unstable (rounding decides)") + any(counts.outside, "outside the ONNX standard") +
           any(counts.inexact, "without exact operations") + any(counts.open, "with unspecified results") +
           of(counts.failing, "failing; ") + std::to_string(counts.ops) + " ops" + of(counts.pairs, "pairs of ops") +
           of(static_cast<std::size_t>(static_cast<double>(counts.models) / std::max(counts.seconds, 1e-3)),
              "models per second\n");
}

nlohmann::json to_json(const Counts& counts) {
    return {{"models", counts.models},   {"right", counts.right},        {"unsupported", counts.unsupported},
            {"refused", counts.refused}, {"unstable", counts.unstable},  {"outside_standard", counts.outside},
            {"inexact", counts.inexact}, {"left_open", counts.open},     {"failing", counts.failing},
            {"ops", counts.ops},         {"pairs_of_ops", counts.pairs}, {"seconds", counts.seconds}};
}

}  // namespace whittle::fuzz
