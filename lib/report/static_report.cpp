#include "report/static_report.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "base/words.h"
#include "capture/graph_break.h"
#include "formats/shared_fields.h"
#include "graph/text.h"
#include "report/text_parts.h"

namespace whittle::report {

namespace {

using capture::BreakKind;
using cpp::Analysis;
using cpp::PredictedKind;
using cpp::Prediction;
using nlohmann::json;

using Places = std::vector<const Prediction*>;

/// The places of each reason; a prediction that may not come true is another reason than one that will. The most
/// frequent first, else in the order of the file.
std::vector<Places> grouped(const Analysis& analysis) {
    std::vector<Places> groups;
    for (const Prediction& p : analysis.predictions) {
        const auto same = std::ranges::find_if(groups, [&](const Places& places) {
            return places[0]->kind == p.kind && places[0]->reason == p.reason && places[0]->possible == p.possible;
        });
        if (same == groups.end())
            groups.push_back({&p});
        else
            same->push_back(&p);
    }
    std::ranges::stable_sort(groups, std::greater(), [](const Places& places) { return places.size(); });
    return groups;
}

std::size_t possible_of(const Analysis& analysis) {
    return static_cast<std::size_t>(std::ranges::count(analysis.predictions, true, &Prediction::possible));
}

std::string columns_text(const cpp::Range& range) {
    if (range.line == range.end_line)
        return "line " + std::to_string(range.line) + ", columns " + std::to_string(range.column) + "-" +
               std::to_string(range.end_column);
    return "line " + std::to_string(range.line) + ", column " + std::to_string(range.column) + ", to line " +
           std::to_string(range.end_line) + ", column " + std::to_string(range.end_column);
}

std::string place_text(const Analysis& analysis, const Prediction& p) {
    return "   File \"" + analysis.file + "\", " + columns_text(p.range) + ", in " +
           analysis.functions[p.function].name + "\n     " + p.line + "\n";
}

/// Of a call that cannot be seen null: it is of no kind of its own.
const capture::BreakInfo* break_info(PredictedKind kind) { return kind ? &capture::info(*kind) : nullptr; }

std::string heading(const Prediction& p, const Painter& paint) {
    const capture::BreakInfo* info = break_info(p.kind);
    return (p.possible ? "possibly: " : "") + paint.red(p.reason) + (info ? " [" + std::string(info->id) + "]" : "");
}

json place_json(const Analysis& analysis, const Prediction& p) {
    return {{"file", analysis.file},
            {"line", p.range.line},
            {"column", p.range.column},
            {"end_line", p.range.end_line},
            {"end_column", p.range.end_column},
            {"function", analysis.functions[p.function].name},
            {"text", p.line},
            {"expression", p.text}};
}

// ---- matching

/// Whether two spellings may name one file: one is the end of the other, by whole names.
bool same_file(const std::string& a, const std::string& b) {
    const std::filesystem::path one = std::filesystem::path(a).lexically_normal();
    const std::filesystem::path other = std::filesystem::path(b).lexically_normal();
    std::vector<std::string> shorter(one.begin(), one.end()), longer(other.begin(), other.end());
    if (shorter.size() > longer.size()) shorter.swap(longer);
    return !shorter.empty() && std::equal(shorter.rbegin(), shorter.rend(), longer.rbegin());
}

bool contains(const cpp::Range& range, const StackFrame& place) {
    if (place.line < range.line || place.line > range.end_line) return false;
    if (place.column <= 0) return true;
    return (place.line > range.line || place.column >= range.column) &&
           (place.line < range.end_line || place.column <= range.end_column);
}

bool reads(BreakKind kind) {
    return kind == BreakKind::item || kind == BreakKind::branch || kind == BreakKind::compare;
}

/// What was predicted as one kind may be observed as another: item() in a condition, or while printing.
bool compatible(PredictedKind predicted, const IndexBreak& observed) {
    const capture::BreakInfo* info = capture::find_break(observed.id);
    if (!info || !predicted || *predicted == info->kind) return true;
    return reads(info->kind) && (reads(*predicted) || *predicted == BreakKind::side_effect);
}

/// How well they agree: 3 kind and range, 2 kind and line, 1 range, 0 not at all.
int agreement(const Prediction& prediction, const IndexBreak& observed, const StackFrame& place) {
    const bool kind = compatible(prediction.kind, observed), range = contains(prediction.range, place);
    const bool line = place.line >= prediction.range.line && place.line <= prediction.range.end_line;
    return kind && range ? 3 : kind && line ? 2 : range ? 1 : 0;
}

/// A file's predictions with the breaks that were seen there; and those whose stack leads through the file, but through
/// no prediction.
struct Join {
    struct Match {
        const Prediction* prediction;
        std::vector<const IndexBreak*> breaks = {};
    };
    std::vector<Match> predicted = {};
    std::vector<const IndexBreak*> seen_only = {};
};

Join join_breaks(const Analysis& analysis, const std::vector<IndexBreak>& breaks) {
    Join joined;
    for (const Prediction& prediction : analysis.predictions) joined.predicted.push_back({&prediction});
    for (const IndexBreak& observed : breaks) {
        bool in_file = false;
        Join::Match* best = nullptr;
        for (const StackFrame& place : observed.stack) {  // innermost first: the nearest place that was predicted
            if (best || !same_file(place.file, analysis.file)) continue;
            in_file = true;
            int agreed = 0;
            for (Join::Match& match : joined.predicted)
                if (const int found = agreement(*match.prediction, observed, place); found > agreed)
                    agreed = found, best = &match;
        }
        if (best)
            best->breaks.push_back(&observed);
        else if (in_file)
            joined.seen_only.push_back(&observed);
    }
    return joined;
}

std::string file_text(const Join& joined, const Analysis& analysis, const TextOptions& options) {
    std::string text;
    const auto add = [&](bool seen, const char* title) {
        std::size_t count = 0;
        for (const auto& [prediction, breaks] : joined.predicted) {
            if (breaks.empty() == seen) continue;
            text += (count++ ? " - " : title + std::string(" - ")) + heading(*prediction, Painter({})) + "\n" +
                    place_text(analysis, *prediction);
            for (const IndexBreak* b : breaks)
                text += "   seen " + plural(b->count, "time") + " in " + b->frame + ": " + b->reason + "\n";
        }
        return std::to_string(count);
    };
    const std::string seen = add(true, "\nPredicted and seen:\n");
    const std::string not_seen =
        add(false, "\nPredicted, but not seen (the program did not reach the place, or there is no break):\n");
    if (!joined.seen_only.empty()) text += "\nSeen only:\n";
    for (const IndexBreak* b : joined.seen_only)
        text += " - " + b->reason + " [" + b->id + "] (" + plural(b->count, "time") + ")\n" + print(b->stack);
    return Painter(options).bold("Predictions for " + analysis.file + ":") + " " + seen + " predicted and seen, " +
           not_seen + " predicted only, " + std::to_string(joined.seen_only.size()) + " seen only.\n" + text;
}

json file_json(const Join& joined, const Analysis& analysis) {
    const auto observed = [](const IndexBreak& b) {
        return json{{"id", b.id},
                    {"reason", b.reason},
                    {"frame", b.frame},
                    {"count", b.count},
                    {"user_stack", report_json(shown_stack(b.stack))}};
    };
    json file = {{"file", analysis.file},
                 {"predicted_and_seen", json::array()},
                 {"predicted_only", json::array()},
                 {"seen_only", json::array()}};
    for (const auto& [prediction, breaks] : joined.predicted) {
        json entry = place_json(analysis, *prediction);
        entry.update({{"kind", cpp::name(prediction->kind)},
                      {"reason", prediction->reason},
                      {"possible", prediction->possible}});
        for (const IndexBreak* b : breaks) entry["seen"].push_back(observed(*b));
        file[breaks.empty() ? "predicted_only" : "predicted_and_seen"].push_back(std::move(entry));
    }
    for (const IndexBreak* b : joined.seen_only) file["seen_only"].push_back(observed(*b));
    return file;
}

}  // namespace

std::string to_text(const Analysis& analysis, const TextOptions& options) {
    const Painter paint(options);
    std::set<std::size_t> functions;
    for (const Prediction& p : analysis.predictions) functions.insert(p.function);
    std::string text = "Whittle predicts " + plural(analysis.predictions.size(), "graph break");
    if (const std::size_t possible = possible_of(analysis)) text += " (" + std::to_string(possible) + " possible)";
    text += " in " + std::to_string(functions.size()) + " of " + plural(analysis.functions.size(), "function") +
            " of " + analysis.file + ".";
    text = paint.bold(text) + "\n";
    if (analysis.predictions.empty()) return text;
    text += "\n" + paint.bold("Break reasons:") + "\n";
    int number = 0;
    for (const Places& group : grouped(analysis)) {
        std::vector<std::string> places;
        for (const Prediction* p : group) places.push_back(place_text(analysis, *p));
        const capture::BreakInfo* info = break_info(group[0]->kind);
        text += reason_text(
            ++number, heading(*group[0], paint) + (group.size() > 1 ? " (" + plural(group.size(), "place") + ")" : ""),
            places, info ? info->hint : "", options);
    }
    return text;
}

json to_json(const Analysis& analysis) {
    json reasons = json::array(), functions = json::array();
    for (const Places& group : grouped(analysis)) {
        json places = json::array();
        for (const Prediction* p : group) places.push_back(place_json(analysis, *p));
        const capture::BreakInfo* info = break_info(group[0]->kind);
        reasons.push_back({{"id", info ? json(info->id) : json()},
                           {"kind", cpp::name(group[0]->kind)},
                           {"reason", group[0]->reason},
                           {"possible", group[0]->possible},
                           {"count", group.size()},
                           {"user_stack", json::array({places[0]})},
                           {"places", places}});
    }
    for (const cpp::Function& f : analysis.functions)
        functions.push_back(
            {{"name", f.name}, {"line", f.range.line}, {"end_line", f.range.end_line}, {"tensors", f.tensors}});
    return {{"file", analysis.file},
            {"functions", functions},
            {"graph_break_count", analysis.predictions.size()},
            {"possible_break_count", possible_of(analysis)},
            {"break_reasons", reasons}};
}

std::string joined_text(const std::vector<Analysis>& files, const std::vector<IndexBreak>& breaks,
                        const TextOptions& options) {
    std::string text;
    for (const Analysis& file : files) {
        const Join joined = join_breaks(file, breaks);
        if (!file.predictions.empty() || !joined.seen_only.empty()) text += "\n" + file_text(joined, file, options);
    }
    return text;
}

json joined_json(const std::vector<Analysis>& files, const std::vector<IndexBreak>& breaks) {
    json list = json::array();
    for (const Analysis& file : files) list.push_back(file_json(join_breaks(file, breaks), file));
    return list;
}

std::string first_break_text(const cpp::Analysis& analysis) {
    for (const cpp::Prediction& p : analysis.predictions)
        if (!p.possible)
            return "found a graph break at " + analysis.file + ":" + std::to_string(p.range.line) + ": " + p.reason +
                   "\n";
    return {};
}

}  // namespace whittle::report
