#include "judge/capture_check.h"

#include <algorithm>
#include <new>

#include "backends/eager/eager.h"
#include "backends/registry.h"
#include "base/error.h"
#include "graph/abilities.h"
#include "graph/placement.h"
#include "judge/divergence.h"
#include "judge/explained.h"
#include "ops/aten/random.h"
#include "ops/core/interpreter.h"
#include "ops/core/opaque.h"
#include "passes/widen.h"

namespace whittle {

namespace {

using Clock = std::chrono::steady_clock;
using Kind = CaptureCheck::Finding::Kind;

struct OutOfTime {};

/// Gives up between two nodes.
class TimedInterpreter final : public Interpreter {
  public:
    explicit TimedInterpreter(Clock::time_point deadline) : deadline_(deadline) {}

  protected:
    void observe(const Graph&, NodeId, std::span<const Tensor>) override {
        if (Clock::now() > deadline_) throw OutOfTime();
    }

  private:
    Clock::time_point deadline_;
};

bool all_close(const Outcome& got, std::span<const Tensor> expected, const Accuracy& accuracy) {
    if (got.failed() || got.outputs.size() != expected.size()) return false;
    for (std::size_t i = 0; i < expected.size(); ++i)
        if (compare(got.outputs[i], expected[i], accuracy)) return false;
    return true;
}

/// LibTorch, where it is installed, computes of the graph what was observed: then the graph is right.
bool libtorch_agrees(const Graph& graph, std::span<const Tensor> inputs, std::span<const Tensor> observed,
                     const Accuracy& accuracy) {
    try {
        return all_close(run_isolated(graph, inputs, *find_backend("libtorch"), {}, {}), observed, accuracy);
    } catch (const Error&) {  // it is not installed
        return false;
    }
}

/// Where LibTorch agrees with what was observed: in f64 it gives what the reference does, too. Then it is a kernel of
/// LibTorch that cancels (native_group_norm_backward of values that are near each other).
bool libtorch_rounds(const Graph& graph, std::span<const Tensor> inputs, std::span<const Tensor> exact) {
    return libtorch_agrees(widen(graph).graph, widen(inputs), exact, Accuracy());
}

bool computes_in_reduced_floats(const Graph& graph) {
    return std::ranges::any_of(graph.nodes, [](const Node& node) {
        return node.kind == NodeKind::call &&
               std::ranges::any_of(node.results, [](const ValueMeta& meta) { return is_reduced(meta.dtype); });
    });
}

/// Kernels round differently, and errors add up: where what was observed is not close, it may be as far from the exact
/// result as twice the reference's own; or, which is noise, as rounding moves the graph's results where its values
/// cancel, or as LibTorch's own are.
CaptureCheck::Finding judged(const Graph& graph, std::span<const Tensor> inputs, std::span<const Tensor> observed,
                             const std::vector<Tensor>& computed) {
    const Accuracy by_dtype = accuracy_of(graph);
    Accuracy accuracy = by_dtype;
    accuracy.mode = Accuracy::Mode::fp64;
    std::optional<std::vector<Tensor>> exact;
    const bool reduced = computes_in_reduced_floats(graph);
    bool asked = false, noisy = false;
    const std::vector<NodeId> outputs = graph.outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const ExactValue exact_value = [&]() -> const Tensor* {
            if (!std::exchange(asked, true)) exact = evaluate_exactly(graph, inputs);
            return exact ? &exact->at(i) : nullptr;
        };
        const auto found = compare(observed[i], computed[i], accuracy, exact_value);
        if (!found) {
            noisy |= reduced && compare(computed[i], observed[i], by_dtype).has_value();
            continue;
        }
        if (closeness_of(graph, inputs, observed, accuracy) == Closeness::noise)
            return {.kind = Kind::good, .noisy = true};
        const std::string differs =
            "output %" + graph.node({outputs[i]}).name +
            ": from the captured graph, Whittle's reference computes a value that differs from the "
            "program's value: " +
            found->description;
        if (!libtorch_agrees(graph, inputs, observed, by_dtype)) return {Kind::fault, differs};
        if (explained_by_rounding(graph, inputs, observed, computed, by_dtype).explained) continue;
        if (exact_value() && libtorch_rounds(graph, inputs, *exact)) return {.kind = Kind::good, .noisy = true};
        return {Kind::failed, differs +
                                  "; LibTorch computes the program's value from the same graph, so the capture is "
                                  "probably right; both values can be valid: for example, the signs of singular "
                                  "vectors are not unique"};
    }
    return {.kind = Kind::good, .noisy = noisy};
}

}  // namespace

CaptureCheck::Finding CaptureCheck::check(const Graph& graph, std::span<const Tensor> inputs,
                                          std::span<const Tensor> observed, bool again) {
    if (observed.empty()) return {};  // it gives nothing that could be compared
    const bool limited = policy_ == CheckPolicy::budget;
    Finding verdict;
    if (policy_ != CheckPolicy::never && !(limited && (again || left_ <= 0))) {
        const auto begin = Clock::now();
        verdict = run(graph, inputs, observed);
        left_ -= std::chrono::duration<double>(Clock::now() - begin).count();
    }
    verdict.noisy |= verdict.kind == Kind::unchecked && computes_in_reduced_floats(graph);
    return verdict;
}

std::vector<GradientVerdict> CaptureCheck::check_gradients(const capture::CapturedFrame& frame) {
    if (policy_ == CheckPolicy::never || (policy_ == CheckPolicy::budget && left_ <= 0)) return {};
    const auto begin = Clock::now();
    std::vector<GradientVerdict> verdicts = whittle::check_gradients(frame);
    left_ -= std::chrono::duration<double>(Clock::now() - begin).count();
    return verdicts;
}

/// No graph takes more than half of the time that is left: a large one leaves some to the others.
CaptureCheck::Finding CaptureCheck::run(const Graph& graph, std::span<const Tensor> inputs,
                                        std::span<const Tensor> observed) const {
    WHITTLE_CHECK(observed.size() == graph.outputs().size(), "one tensor was observed per output");
    if (misplaced_value(graph)) return {};  // nobody can, which is no fault of anybody
    if (!opaque_ops(graph).empty())         // only LibTorch may know what they compute
        return {libtorch_agrees(graph, inputs, observed, accuracy_of(graph)) ? Kind::good : Kind::unchecked};
    if (const auto unknown = unsupported_by(*make_eager_backend(), graph); !unknown.empty())
        return {Kind::failed, "the reference backend has no kernel for " + unknown.front()};
    const auto deadline =
        policy_ == CheckPolicy::budget
            ? Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(left_ / 2))
            : Clock::time_point::max();
    seed_random_ops(0);
    try {
        const std::vector<Tensor> computed = TimedInterpreter(deadline).run(graph, inputs);
        return judged(graph, inputs, observed, computed);
    } catch (const OutOfTime&) {
        return {};
    } catch (const std::bad_alloc&) {
        return {};
    } catch (const Error& error) {
        return {Kind::failed, std::string("exception at run: ") + error.what()};
    }
}

Accuracy accuracy_of(const Graph& graph) {
    const auto coarser = [](const Tolerance& a, const Tolerance& b) { return a.rtol > b.rtol; };
    std::vector<Tolerance> of(graph.nodes.size(), Tolerance{.rtol = 0, .atol = 0});
    Accuracy accuracy;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const Node& node = graph.nodes[i];
        if (node.kind != NodeKind::call) continue;
        for_each_input(node, [&](NodeRef input) {
            const Tolerance& before = of.at(static_cast<std::size_t>(input.id));
            if (coarser(before, of[i])) of[i] = before;
        });
        for (const ValueMeta& meta : node.results)
            if (const Tolerance own = default_tolerance(meta.dtype); coarser(own, of[i])) of[i] = own;
    }
    for (const NodeId id : graph.outputs()) {
        const Tolerance& reached = of.at(static_cast<std::size_t>(id));
        const DType dtype = graph.node({id}).meta().dtype;
        const bool wide = dtype == DType::f32 || dtype == DType::f64;
        if (wide && coarser(reached, accuracy.tolerance(dtype))) accuracy.tolerances[dtype] = reached;
    }
    return accuracy;
}

}  // namespace whittle
