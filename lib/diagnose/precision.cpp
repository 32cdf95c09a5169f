#include "diagnose/precision.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/number_text.h"
#include "base/words.h"
#include "compile/program.h"
#include "graph/abilities.h"
#include "graph/value_ref.h"
#include "judge/judge.h"
#include "ops/core/interpreter.h"
#include "ops/core/memory.h"
#include "passes/mixed.h"
#include "reduce/search/search.h"

namespace whittle::diagnose {
namespace {

ErrorFigures worse(const ErrorFigures& a, const ErrorFigures& b) {
    return {.max_abs = std::max(a.max_abs, b.max_abs),
            .max_rel = std::max(a.max_rel, b.max_rel),
            .rmse = std::max(a.rmse, b.rmse),
            .max_ulp = std::max(a.max_ulp, b.max_ulp),
            .misplaced = a.misplaced + b.misplaced,
            .nan = a.nan + b.nan,
            .inf = a.inf + b.inf};
}

class PrecisionSearch {
  public:
    PrecisionSearch(const LoadedFrame& frame, Backend& backend, const PrecisionRequest& request)
        : graph_(functional(frame.graph)), inputs_(frame.inputs), backend_(backend), request_(request) {
        const Tolerance tolerance = request.suspect.compared_by().tolerance(request.half);
        for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) accuracy_.tolerances[dtype] = tolerance;
        report_.half = request.half;
        report_.tolerance = tolerance;
        report_.model = frame.name;
        report_.backend = backend.name();
    }

    PrecisionReport run() {
        items_ = mixed(graph_, request_.half, {}).halved;
        report_.operations = items_.size();
        note_without_half();
        reduce::Set all(items_.size());
        for (std::size_t i = 0; i < all.size(); i++) all[i] = static_cast<int>(i);
        expected_ = evaluate(mixed_with(all).graph, inputs_);
        report_.before = tried({});
        report_.after = report_.before;
        if (report_.before.holds) return finished({}, true);
        reduce::Problem problem;
        problem.count = static_cast<int>(items_.size());
        problem.test = [this](const reduce::Set& kept) {  // it looks for the fewest that "fail": those that hold
            const PrecisionRun run = tried(kept);
            if (run.holds) return reduce::TestResult::fails;
            return ran_ ? reduce::TestResult::passes : reduce::TestResult::unresolved;
        };
        const reduce::Result found = reduce::search(problem, {.stop = request_.stop});
        const reduce::Set& kept = found.reproduces ? found.kept : all;
        report_.after = tried(kept);
        return finished(kept, found.reproduces && found.one_minimal);
    }

  private:
    static Graph functional(const Graph& graph) {
        return has_writes(graph) ? program::CompiledProgram(graph).graph(CompileStage::functional) : graph;
    }

    MixedPrecision mixed_with(const reduce::Set& kept) const {
        std::set<NodeId> nodes;
        for (const int item : kept) nodes.insert(items_[static_cast<std::size_t>(item)]);
        return mixed(graph_, request_.half, nodes);
    }

    void note_without_half() {
        for (const NodeId id : graph_.calls()) {
            const Node& call = graph_.node({id});
            const bool floats = std::ranges::any_of(call.results, [](const ValueMeta& meta) {
                return is_floating(meta.dtype) && meta.dtype != DType::f64;
            });
            std::vector<std::string>& none = report_.no_half;
            if (is_op_call(call) && floats && !std::ranges::binary_search(items_, id) &&
                std::ranges::find(none, call.target) == none.end())
                none.push_back(call.target);
        }
    }

    PrecisionRun tried(const reduce::Set& kept) {
        report_.runs++;
        Suspect suspect = request_.suspect;
        suspect.tier = Tier::ends;
        const Graph graph = mixed_with(kept).graph;
        const Outcome outcome = offered<Reference>(backend_) ? run_in_process(graph, inputs_, backend_, suspect.options)
                                                             : whittle::run_suspect(graph, inputs_, backend_, suspect);
        ran_ = !outcome.failed();
        if (!ran_) return {.failure = whittle::text_of(outcome)};
        PrecisionRun run;
        for (std::size_t i = 0; i < std::min(expected_.size(), outcome.outputs.size()); i++) {
            const Tensor &got = outcome.outputs[i], &right = expected_[i];
            if (got.sizes() == right.sizes() && is_floating(right.dtype()))
                run.error = worse(run.error, measure(got, right));
        }
        const Outcome judged = judge(outcome, expected_, accuracy_);
        run.holds = !judged.failed();
        if (judged.failed()) run.failure = judged.message;
        return run;
    }

    PrecisionReport finished(const reduce::Set& kept, bool minimal) {
        for (const int item : kept) {
            const Node& call = graph_.node({items_[static_cast<std::size_t>(item)]});
            const std::string line = call.stack.empty()
                                         ? call.module_path
                                         : call.stack.front().file + ":" + std::to_string(call.stack.front().line);
            report_.kept.push_back({call.name, call.target, line});
        }
        report_.minimal = minimal;
        report_.mixed = mixed_with(kept).graph;
        return std::move(report_);
    }

    const Graph graph_;
    const std::vector<Tensor>& inputs_;
    Backend& backend_;
    const PrecisionRequest& request_;
    Accuracy accuracy_;
    std::vector<NodeId> items_;
    std::vector<Tensor> expected_;
    bool ran_ = false;  ///< the last one
    PrecisionReport report_;
};

std::string text_of(const PrecisionRun& run) {
    const auto figure = [](double value) { return significant(value, 3); };
    std::string text = run.holds ? "passes" : "fails";
    if (run.holds || run.error.max_abs > 0 || run.error.misplaced > 0)
        text += "; largest error " + figure(run.error.max_abs) + ", relative " + figure(run.error.max_rel) +
                ", root mean square " + figure(run.error.rmse);
    if (run.error.misplaced) text += ", " + plural(run.error.misplaced, "NaN or infinity", "NaNs or infinities");
    return text + (run.failure.empty() ? "" : "\n             " + run.failure);
}

nlohmann::json json_of(const PrecisionRun& run) {
    nlohmann::json json = {{"holds", run.holds},
                           {"max_abs", run.error.max_abs},
                           {"max_rel", run.error.max_rel},
                           {"rmse", run.error.rmse},
                           {"misplaced", run.error.misplaced}};
    if (!run.failure.empty()) json["failure"] = run.failure;
    return json;
}

}  // namespace

PrecisionReport precision(const LoadedFrame& frame, Backend& backend, const PrecisionRequest& request) {
    return PrecisionSearch(frame, backend, request).run();
}

std::string to_text(const PrecisionReport& report) {
    const std::string half(name(report.half));
    const auto line = [](const std::string& label, const std::string& text) {
        constexpr std::size_t kWidth = 13;
        return label + ":" + std::string(kWidth - std::min(kWidth, label.size()), ' ') + text + "\n";
    };
    std::string text = report.model + ": precision " + half + " on " + report.backend +
                       ", tolerances: " + significant(report.tolerance.rtol, 3) + " relative, " +
                       significant(report.tolerance.atol, 3) + " absolute\n" +
                       line("all in " + half, text_of(report.before));
    if (!report.no_half.empty()) text += line("no " + half, join(report.no_half) + " stay in f32");
    if (report.before.holds) {
        text += line("in f32", "no operation has to stay in f32");
    } else {
        text += line("in f32", std::to_string(report.kept.size()) + " of " + plural(report.operations, "operation") +
                                   ", found in " + plural(report.runs, "run") +
                                   (report.minimal ? "; each of these operations is needed" : ""));
        if (report.after.holds)
            for (const PrecisionReport::Operation& kept : report.kept)
                text += "  %" + kept.node + " = " + kept.op + (kept.line.empty() ? "" : "   # " + kept.line) + "\n";
        text += line("mixed", text_of(report.after));
    }
    return report.file.empty() ? text : text + line("written", report.file);
}

nlohmann::json to_json(const PrecisionReport& report) {
    nlohmann::json kept = nlohmann::json::array();
    for (const PrecisionReport::Operation& operation : report.kept)
        kept.push_back({{"node", operation.node}, {"op", operation.op}, {"line", operation.line}});
    nlohmann::json json = {
        {"frame", report.model},          {"precision", name(report.half)},     {"backend", report.backend},
        {"rtol", report.tolerance.rtol},  {"atol", report.tolerance.atol},      {"operations", report.operations},
        {"no_half", report.no_half},      {"all_half", json_of(report.before)}, {"kept", std::move(kept)},
        {"mixed", json_of(report.after)}, {"minimal", report.minimal},          {"runs", report.runs}};
    if (!report.file.empty()) json["output"] = report.file;
    return json;
}

}  // namespace whittle::diagnose
