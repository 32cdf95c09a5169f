#include "report/divergence.h"

#include <algorithm>

#include "backends/registry.h"
#include "base/number_text.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "formats/shared_fields.h"
#include "graph/text.h"
#include "judge/frames.h"
#include "report/text_parts.h"

namespace whittle {
namespace {

/// "file.cpp:12" of the user's line, or the module's path.
std::string place(const ValueDivergence& value) {
    return value.stack.empty() ? value.module_path : report::line_of(value.stack);
}

}  // namespace

template <>
struct Fields<ValueDivergence> {
    static void visit(auto& field) {
        const auto of = [&](const char* name, auto&& get) { field(name, get, ""); };
        using Value = const ValueDivergence&;
        of("node", &ValueDivergence::node);
        of("result", &ValueDivergence::result);
        of("op", &ValueDivergence::op);
        of("dtype", [](Value value) { return value.meta.dtype; });
        of("sizes", [](Value value) { return value.meta.sizes; });
        of("closeness", [](Value value) { return name(value.closeness); });
        of("max_abs", [](Value value) { return value.error.max_abs; });
        of("max_rel", [](Value value) { return value.error.max_rel; });
        of("max_ulp", [](Value value) { return value.error.max_ulp; });
        of("misplaced", [](Value value) { return value.error.misplaced; });
        of("nan", [](Value value) { return value.error.nan; });
        of("inf", [](Value value) { return value.error.inf; });
        of("born", [](Value value) { return static_cast<bool>(value.born); });
        of("born_nan", [](Value value) { return value.born.nan; });
        of("born_infinity", [](Value value) { return value.born.infinity; });
        of("born_in_reference", [](Value value) { return static_cast<bool>(value.born_in_reference); });
        of("line", place);
        field.maybe("rmse", &ValueDivergence::own_rmse, "");
        field.maybe("reference_rmse", &ValueDivergence::reference_rmse, "");
    }
};

template <>
struct Fields<Divergence> {
    static void visit(auto& field) {
        const auto of = [&](const char* name, auto&& get, auto... form) { field(name, get, "", form...); };
        of("outcome", [](const Divergence& divergence) { return name(divergence.plain.kind); });
        of("message", [](const Divergence& divergence) { return divergence.plain.message; });
        of("failure", &Divergence::failure);
        of("joint", &Divergence::joint);
        of("only_forward", &Divergence::only_forward);
        of("values", &Divergence::values);
        of(
            "first",
            [](const Divergence& divergence) {
                const ValueDivergence* const first = divergence.first_wrong();
                return first ? std::optional(first->node) : std::nullopt;
            },
            OrNull{});
    }
};

namespace report {
namespace {

constexpr std::size_t kBefore = 3, kAfter = 3;  // values shown around the first that differs

std::string figure_text(double value) { return significant(value, 2); }

std::string node_text(const ValueDivergence& value) {
    return "%" + value.node + (value.results > 1 ? "[" + std::to_string(value.result) + "]" : "");
}

std::string births(const ValueDivergence& value) {
    std::string text;
    const auto add = [&](const char* what, bool here, bool there) {
        if (!here && !there) return;
        text += (text.empty() ? "" : "; ") + std::string(what) + " first appears here";
        if (there) text += here ? " in both results" : " only in the reference";
    };
    add("NaN", value.born.nan, value.born_in_reference.nan);
    add("Inf", value.born.infinity, value.born_in_reference.infinity);
    return text;
}

Row row(const ValueDivergence& value) {
    const ErrorFigures& error = value.error;
    std::string remark = births(value);
    if (error.misplaced)
        remark += (remark.empty() ? "" : "; ") + plural(error.misplaced, "NaN or Inf", "NaNs or Infs") +
                  " in only one of the two results";
    return {std::string(name(value.closeness)),
            node_text(value),
            value.op,
            std::string(name(value.meta.dtype)) + to_string(value.meta.sizes),
            figure_text(error.max_abs),
            figure_text(error.max_rel),
            figure_text(error.max_ulp),
            value.own_rmse ? figure_text(*value.own_rmse) : "-",
            value.reference_rmse ? figure_text(*value.reference_rmse) : "-",
            place(value),
            remark};
}

/// What the columns hold; legend() says it at length.
const Row kHeader = {"verdict",          "value", "op",    "result", "max abs", "max rel", "max ulp", "rmse",
                     "reference's rmse", "line",  "remark"};

std::string legend(const std::string& backend) {
    return "  max abs, rel, ulp  largest error of " + backend +
           " against the reference: absolute, relative, in ULPs\n"
           "  rmse               root mean square error of " +
           backend +
           " against f64\n"
           "  reference's rmse   root mean square error of the reference against f64\n";
}

std::string summary(const Divergence& divergence, const std::string& backend) {
    const auto& values = divergence.values;
    const auto count = [&](Closeness wanted) {
        return std::ranges::count(values, wanted, &ValueDivergence::closeness);
    };
    const auto coarse = count(Closeness::coarse);
    std::string text =
        "values:      " + std::to_string(values.size()) + (divergence.joint ? " of the joint graph" : "") +
        " compared: " + std::to_string(count(Closeness::differs)) + " wrong; " +
        (coarse ? std::to_string(coarse) + " within the tolerance, but with an error that rounding does not explain; "
                : "") +
        std::to_string(count(Closeness::noise)) + " with only rounding noise\n";
    if (const ValueDivergence* const first = divergence.first_wrong()) {
        text += "first wrong: " + node_text(*first) + " = " + first->op;
        if (const std::string where = place(*first); !where.empty()) text += "   # " + where;
        text += "\n";
    } else if (divergence.plain.kind == Outcome::Kind::mismatch && divergence.only_forward.empty()) {
        text += count(Closeness::noise)
                    ? "             rounding noise: rounding explains the error of " + backend + " against f64\n"
                    : "             if every value is an output, " + backend +
                          " matches the reference, so the cause of the mismatch is fusion, or " +
                          (divergence.joint ? "how the joint graph is split into forward and backward\n"
                                            : "the last ops\n");
    }
    if (!divergence.only_forward.empty())
        text += "             only forward values were compared, because " + divergence.only_forward + "\n";
    const auto first = [&](const char* what, bool ValueDivergence::Birth::*kind) {
        const auto found = std::ranges::find_if(
            values, [&](const ValueDivergence& value) { return value.born.*kind && !(value.born_in_reference.*kind); });
        if (found != values.end())
            text += "first " + std::string(what) + ":   " + node_text(*found) + " = " + found->op +
                    " (the reference has no " + std::string(what) + " there)\n";
    };
    first("NaN", &ValueDivergence::Birth::nan);
    first("Inf", &ValueDivergence::Birth::infinity);
    return text;
}

/// Nobody ran the frame, so that there are no values to compare.
bool not_run(const Judgement& said) {
    return said.verdict == Verdict::not_judged && (!said.no_reference.empty() || said.outcome.outputs.empty());
}

/// The verdict where it is not what the comparison of the graph with the reference says.
std::string verdict_line(const FrameDivergence& one) {
    const Judgement& said = one.judgement;
    if (said.verdict != Verdict::not_judged && said.fails() == one.divergence.plain.failed()) return {};
    return "verdict:     " + text_of(said) + "\n" +
           (one.rewritten.empty() ? "" : "rewritten:   " + join(one.rewritten, "; ") + "\n");
}

}  // namespace

bool FrameDivergence::differs() const {
    return judgement.fails() || (judgement.right() && !divergence.plain.failed() && divergence.first) ||
           (kernels && kernels->first_wrong());
}

namespace {

std::string minify_command(const LoadedFrame& frame, const Suspect& suspect) {
    std::vector<std::string> words = {"minify", frame.file.string(), "--backend", suspect.spec.text()};
    for (const auto& [key, value] : suspect.options) words.insert(words.end(), {"--backend-option", key + "=" + value});
    const Accuracy::Mode mode = suspect.compared_by().mode;
    words.push_back("--accuracy" + (mode == Accuracy{}.mode ? "" : "=" + std::string(name(mode))));
    return shell_quote(words);
}

/// Without the judgement.
FrameDivergence begun(const LoadedFrame& frame, const Suspect& suspect) {
    return {.file = frame.file.string(),
            .backend = suspect.spec.text(),
            .minify = minify_command(frame, suspect),
            .rewritten = frame.rewritten};
}

Suspect comparing(Suspect suspect) {
    suspect.tier = Tier::computes;
    return suspect;
}

}  // namespace

FrameDivergence diverge(const LoadedFrame& frame, const Suspect& suspect) {
    const std::unique_ptr<Backend> backend = find_backend(suspect.spec, suspect.options);
    FrameDivergence one = begun(frame, suspect);
    const FailingCase asked = case_of(frame, comparing(suspect));
    one.judgement = judge(asked, *backend);
    if (not_run(one.judgement))
        one.divergence.failure = one.judgement.reason;
    else
        one.divergence = whittle::diverge(frame.graph, frame.inputs, *backend, suspect.options, suspect.limits,
                                          asked.suspect.compared_by());
    return one;
}

FrameDivergence diverge_by_kernels(const LoadedFrame& frame, const Suspect& suspect, KernelArithmetic arithmetic) {
    const std::unique_ptr<Backend> backend = find_backend(suspect.spec, suspect.options);
    FrameDivergence one = begun(frame, suspect);
    const FailingCase asked = case_of(frame, comparing(suspect));
    CodeHashes codes;
    {
        const program::Observing observing(&codes);
        one.judgement = judge(asked, *backend);
    }
    if (not_run(one.judgement)) {
        one.divergence.failure = one.judgement.reason;
        return one;
    }
    one.kernels = judge_kernels(asked, one.judgement, codes.all(), *backend, arithmetic);
    one.divergence.plain = one.judgement.outcome;
    return one;
}

std::string to_text(const Divergence& divergence, const std::string& backend, const TextOptions& options) {
    std::string text = whole_text(divergence.plain);
    if (!divergence.failure.empty())
        return text + "values:      not compared, because the backend fails if every value is an output: " +
               divergence.failure + "\n";
    text += summary(divergence, backend);
    if (!divergence.no_exact.empty()) text += "f64:         not computed: " + divergence.no_exact + "\n";
    const auto& values = divergence.values;
    std::size_t begin = 0, end = values.size();
    if (!options.verbose) {
        const std::size_t centre = divergence.first.value_or(values.size());
        begin = centre > kBefore ? centre - kBefore : 0;
        end = std::min(values.size(), centre + kAfter + 1);
        if (!divergence.first) begin = end;  // where nothing differs no value is of more interest than another
    }
    std::vector<Row> rows = {kHeader};
    for (std::size_t i = begin; i < end; i++) rows.push_back(row(values[i]));
    if (rows.size() == 1) return text;
    text += "\n" + table(rows, {.columns = options.verbose ? 0 : options.columns});
    if (rows.size() - 1 < values.size()) text += "  (-v shows all " + std::to_string(values.size()) + ")\n";
    return text + "\n" + legend(backend);
}

std::string to_text(const FrameDivergence& one, const TextOptions& options) {
    const std::string title = "divergence of " + one.backend + " from the reference on " + one.file + "\n";
    if (not_run(one.judgement)) return title + text_of(one.judgement) + "\n";
    std::string text = title + verdict_line(one);
    const bool compared_values = !one.divergence.values.empty() || !one.divergence.failure.empty();
    if (one.kernels && !compared_values) return text + to_text(*one.kernels, one.divergence.plain, one.minify, options);
    if (one.kernels) text += "kernels:     not judged: " + one.kernels->none + "\n";
    return text + to_text(one.divergence, one.backend, options);
}

nlohmann::json to_json(const Divergence& divergence) { return report_json(divergence); }

nlohmann::json to_json(std::span<const FrameDivergence> all) {
    nlohmann::json list = nlohmann::json::array();
    for (const FrameDivergence& one : all) {
        list.push_back(report_json(one.divergence));
        list.back()["file"] = one.file;
        if (one.kernels) list.back().update(to_json(*one.kernels));
        add_verdict(list.back(), judged_frame("", one.file, one.judgement));
    }
    return {{"backend", all.empty() ? "" : all.back().backend}, {"divergence", std::move(list)}};
}

}  // namespace report
}  // namespace whittle
