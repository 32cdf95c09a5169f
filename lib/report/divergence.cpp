#include "report/divergence.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "base/number_text.h"
#include "base/words.h"
#include "graph/text.h"

namespace whittle::report {
namespace {

constexpr std::size_t kBefore = 3, kAfter = 3;  // values shown around the first that differs

std::string figure_text(double value) { return significant(value, 2); }

std::string node_text(const ValueDivergence& value) {
    return "%" + value.node + (value.results > 1 ? "[" + std::to_string(value.result) + "]" : "");
}

/// "file.cpp:12" of the user's line, or the module's path.
std::string place(const ValueDivergence& value) {
    if (value.stack.empty()) return value.module_path;
    return value.stack.front().file + ":" + std::to_string(value.stack.front().line);
}

std::string births(const ValueDivergence& value) {
    std::string text;
    const auto add = [&](const char* what, bool here, bool there) {
        if (!here && !there) return;
        text += (text.empty() ? "" : "; ") + std::string(what) + " born here";
        if (there) text += here ? ", in both" : " in the reference only";
    };
    add("NaN", value.born.nan, value.born_in_reference.nan);
    add("Inf", value.born.infinity, value.born_in_reference.infinity);
    return text;
}

using Row = std::vector<std::string>;

Row row(const ValueDivergence& value) {
    const ErrorFigures& error = value.error;
    std::string remark = births(value);
    if (error.misplaced) remark += (remark.empty() ? "" : "; ") + plural(error.misplaced, "NaN or Inf") + " misplaced";
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

/// Columns that no row fills are left out.
std::string divergence_table(const std::vector<Row>& rows, std::size_t columns) {
    std::vector<std::size_t> widths(rows[0].size());
    for (const Row& row : std::span(rows).subspan(1))
        for (std::size_t i = 0; i < row.size(); i++) widths[i] = std::max(widths[i], row[i].size());
    for (std::size_t i = 0; i < widths.size(); i++)
        if (widths[i]) widths[i] = std::max(widths[i], rows[0][i].size());
    std::string text;
    for (const Row& row : rows) {
        std::string line = "  ";
        for (std::size_t i = 0; i < row.size(); i++)
            if (widths[i]) line += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
        while (line.ends_with(' ')) line.pop_back();
        text += shortened(line, columns) + "\n";
    }
    return text;
}

std::string legend(const std::string& backend) {
    return "  max abs, rel, ulp  largest error of " + backend +
           " against the reference: as it is, relative, in steps of the data type\n"
           "  rmse               root mean square error of " +
           backend +
           " against the same computed in f64\n"
           "  reference's rmse   that of the reference against the same\n";
}

std::string verdict(const Divergence& divergence, const std::string& backend) {
    const auto& values = divergence.values;
    const auto count = [&](Closeness wanted) {
        return std::count_if(values.begin(), values.end(),
                             [&](const ValueDivergence& value) { return value.closeness == wanted; });
    };
    const auto coarse = count(Closeness::coarse);
    std::string text = "values:      " + std::to_string(values.size()) + " compared, " +
                       std::to_string(count(Closeness::differs)) + " of them wrong, " +
                       (coarse ? std::to_string(coarse) + " close but coarser than rounding explains, " : "") +
                       std::to_string(count(Closeness::noise)) + " off by rounding noise only\n";
    if (const ValueDivergence* const first = divergence.first_wrong()) {
        text += "first:       " + node_text(*first) + " = " + first->op;
        if (const std::string where = place(*first); !where.empty()) text += "   # " + where;
        text += "\n";
    } else if (divergence.plain.kind == Outcome::Kind::mismatch) {
        text += count(Closeness::noise)
                    ? "             rounding noise: " + backend + " is no further from f64 than rounding explains\n"
                    : "             with every value exposed " + backend +
                          " computes what the reference does: what fails is how it fuses, or the last steps\n";
    }
    const auto first = [&](const char* what, bool ValueDivergence::Birth::*kind) {
        const auto found = std::ranges::find_if(
            values, [&](const ValueDivergence& value) { return value.born.*kind && !(value.born_in_reference.*kind); });
        if (found != values.end())
            text += "born:        the first " + std::string(what) +
                    " that the reference has not: " + node_text(*found) + " = " + found->op + "\n";
    };
    first("NaN", &ValueDivergence::Birth::nan);
    first("Inf", &ValueDivergence::Birth::infinity);
    return text;
}

}  // namespace

std::string to_text(const Divergence& divergence, const std::string& backend, const DivergenceTextOptions& options) {
    const Outcome& plain = divergence.plain;
    std::string text =
        "whole graph: " + std::string(name(plain.kind)) + (plain.failed() ? ": " + plain.message : "") + "\n";
    if (!divergence.failure.empty())
        return text + "exposed:     no values, it fails with all of them exposed: " + divergence.failure + "\n";
    text += verdict(divergence, backend);
    if (!divergence.no_exact.empty()) text += "f64:         not computed: " + divergence.no_exact + "\n";
    const auto& values = divergence.values;
    std::size_t begin = 0, end = values.size();
    if (!options.all) {
        const std::size_t centre = divergence.first.value_or(values.size());
        begin = centre > kBefore ? centre - kBefore : 0;
        end = std::min(values.size(), centre + kAfter + 1);
        if (!divergence.first) begin = end;  // where nothing differs no value is of more interest than another
    }
    std::vector<Row> rows = {kHeader};
    for (std::size_t i = begin; i < end; i++) rows.push_back(row(values[i]));
    if (rows.size() == 1) return text;
    text += "\n" + divergence_table(rows, options.all ? 0 : options.columns);
    if (rows.size() - 1 < values.size()) text += "  (-v shows all " + std::to_string(values.size()) + ")\n";
    return text + "\n" + legend(backend);
}

nlohmann::json to_json(const Divergence& divergence) {
    nlohmann::json values = nlohmann::json::array();
    for (const ValueDivergence& value : divergence.values) {
        nlohmann::json entry = {{"node", value.node},
                                {"result", value.result},
                                {"op", value.op},
                                {"dtype", name(value.meta.dtype)},
                                {"sizes", value.meta.sizes},
                                {"closeness", name(value.closeness)},
                                {"max_abs", value.error.max_abs},
                                {"max_rel", value.error.max_rel},
                                {"max_ulp", value.error.max_ulp},
                                {"misplaced", value.error.misplaced},
                                {"nan", value.error.nan},
                                {"inf", value.error.inf},
                                {"born", static_cast<bool>(value.born)},
                                {"born_nan", value.born.nan},
                                {"born_infinity", value.born.infinity},
                                {"born_in_reference", static_cast<bool>(value.born_in_reference)},
                                {"line", place(value)}};
        if (value.own_rmse) entry["rmse"] = *value.own_rmse, entry["reference_rmse"] = *value.reference_rmse;
        values.push_back(std::move(entry));
    }
    nlohmann::json json = {{"outcome", name(divergence.plain.kind)},
                           {"message", divergence.plain.message},
                           {"failure", divergence.failure},
                           {"values", std::move(values)}};
    json["first"] = nullptr;
    if (const ValueDivergence* const first = divergence.first_wrong()) json["first"] = first->node;
    return json;
}

}  // namespace whittle::report
