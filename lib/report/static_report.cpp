#include "report/static_report.h"
#include "base/words.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/error.h"
#include "capture/graph_break.h"
#include "report/show.h"

namespace whittle::report {

namespace {

using capture::BreakKind;
using cpp::Analysis;
using cpp::PredictedKind;
using cpp::Prediction;
using nlohmann::json;

/// A reason with its places; a prediction that may not come true is another reason than one that will.
struct Group {
    const Prediction* first;
    std::vector<const Prediction*> places;
};

/// The most frequent first, else in the order of the file.
std::vector<Group> grouped(const Analysis& analysis) {
    std::vector<Group> groups;
    for (const Prediction& p : analysis.predictions) {
        const auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& g) {
            return g.first->kind == p.kind && g.first->reason == p.reason && g.first->possible == p.possible;
        });
        if (same == groups.end())
            groups.push_back({&p, {&p}});
        else
            same->places.push_back(&p);
    }
    std::stable_sort(groups.begin(), groups.end(),
                     [](const Group& a, const Group& b) { return a.places.size() > b.places.size(); });
    return groups;
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

std::string id_text(PredictedKind kind) {
    const capture::BreakInfo* info = break_info(kind);
    return info ? " [" + std::string(info->id) + "]" : std::string();
}

std::string bold(const std::string& text, const TextOptions& options) {
    return options.color ? "\033[1m" + text + "\033[0m" : text;
}
std::string red(const std::string& text, const TextOptions& options) {
    return options.color ? "\033[31m" + text + "\033[0m" : text;
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

}  // namespace

std::string to_text(const Analysis& analysis, const TextOptions& options) {
    std::set<std::size_t> places;
    std::size_t possible = 0;
    for (const Prediction& p : analysis.predictions) places.insert(p.function), possible += p.possible;
    std::string text = "Whittle predicts " + plural(analysis.predictions.size(), "graph break");
    if (possible) text += " (" + std::to_string(possible) + " possible)";
    text += " in " + std::to_string(places.size()) + " of " + plural(analysis.functions.size(), "function") + " of " +
            analysis.file + ".";
    text = bold(text, options) + "\n";
    if (analysis.predictions.empty()) return text;
    text += "\n" + bold("Break reasons:", options) + "\n";
    int number = 0;
    for (const Group& group : grouped(analysis)) {
        text += "\n" + std::to_string(++number) + ". " + (group.first->possible ? "possibly: " : "") +
                red(group.first->reason, options) + id_text(group.first->kind);
        if (group.places.size() > 1) text += " (" + plural(group.places.size(), "place") + ")";
        text += "\n";
        const std::size_t shown = options.verbose ? group.places.size() : std::min(kPlaces, group.places.size());
        for (std::size_t i = 0; i < shown; ++i) text += place_text(analysis, *group.places[i]);
        if (shown < group.places.size())
            text += "   and " + std::to_string(group.places.size() - shown) + " more (--verbose lists all)\n";
        if (const capture::BreakInfo* info = break_info(group.first->kind))
            text += "   hint: " + std::string(info->hint) + "\n";
    }
    return text;
}

json to_json(const Analysis& analysis) {
    json reasons = json::array(), functions = json::array();
    std::size_t possible = 0;
    for (const Group& group : grouped(analysis)) {
        json stack = json::array();
        for (const Prediction* p : group.places) stack.push_back(place_json(analysis, *p));
        if (group.first->possible) possible += group.places.size();
        const capture::BreakInfo* info = break_info(group.first->kind);
        reasons.push_back({{"id", info ? json(std::string(info->id)) : json()},
                           {"kind", std::string(cpp::name(group.first->kind))},
                           {"reason", group.first->reason},
                           {"possible", group.first->possible},
                           {"count", group.places.size()},
                           {"user_stack", json::array({stack.front()})},
                           {"places", stack}});
    }
    for (const cpp::Function& f : analysis.functions)
        functions.push_back(
            {{"name", f.name}, {"line", f.range.line}, {"end_line", f.range.end_line}, {"tensors", f.tensors}});
    return {{"file", analysis.file},
            {"functions", functions},
            {"graph_break_count", analysis.predictions.size()},
            {"possible_break_count", possible},
            {"break_reasons", reasons}};
}

Join join_breaks(const Analysis& analysis, const std::vector<IndexBreak>& breaks) {
    Join joined;
    std::vector<Join::Match> matches(analysis.predictions.size());
    for (std::size_t b = 0; b < breaks.size(); ++b) {
        bool in_file = false;
        std::optional<std::size_t> best;
        for (const StackFrame& place : breaks[b].stack) {  // innermost first: the nearest place that was predicted
            if (!same_file(place.file, analysis.file)) continue;
            in_file = true;
            int agreed = 0;
            for (std::size_t p = 0; p < analysis.predictions.size(); ++p)
                if (const int found = agreement(analysis.predictions[p], breaks[b], place); found > agreed)
                    agreed = found, best = p;
            if (best) break;
        }
        if (best)
            matches[*best].breaks.push_back(b);
        else if (in_file)
            joined.seen_only.push_back(b);
    }
    for (std::size_t p = 0; p < matches.size(); ++p) {
        matches[p].prediction = p;
        if (matches[p].breaks.empty())
            joined.predicted_only.push_back(p);
        else
            joined.seen.push_back(std::move(matches[p]));
    }
    return joined;
}

namespace {

std::string file_text(const Join& joined, const Analysis& analysis, const std::vector<IndexBreak>& breaks,
                      const TextOptions& options) {
    std::string text = bold("Predictions for " + analysis.file + ":", options) + " " +
                       std::to_string(joined.seen.size()) + " predicted and seen, " +
                       std::to_string(joined.predicted_only.size()) + " predicted only, " +
                       std::to_string(joined.seen_only.size()) + " seen only.\n";
    const auto reason_of = [&](std::size_t at) {
        const Prediction& p = analysis.predictions[at];
        return (p.possible ? "possibly: " : "") + p.reason + id_text(p.kind) + "\n" + place_text(analysis, p);
    };
    if (!joined.seen.empty()) text += "\nPredicted and seen:\n";
    for (const Join::Match& match : joined.seen) {
        text += " - " + reason_of(match.prediction);
        for (const std::size_t b : match.breaks)
            text += "   seen " + plural(static_cast<std::size_t>(breaks[b].count), "time") + " in " + breaks[b].frame +
                    ": " + breaks[b].reason + "\n";
    }
    if (!joined.predicted_only.empty()) text += "\nPredicted only (not reached, or no break after all):\n";
    for (const std::size_t p : joined.predicted_only) text += " - " + reason_of(p);
    if (!joined.seen_only.empty()) text += "\nSeen only:\n";
    for (const std::size_t b : joined.seen_only) {
        text += " - " + breaks[b].reason + " [" + breaks[b].id + "] (" +
                plural(static_cast<std::size_t>(breaks[b].count), "time") + ")\n";
        for (const StackFrame& frame : breaks[b].stack) {
            text +=
                "   File \"" + frame.file + "\", line " + std::to_string(frame.line) + ", in " + frame.function + "\n";
            if (!frame.text.empty()) text += "     " + frame.text + "\n";
        }
    }
    return text;
}

json file_json(const Join& joined, const Analysis& analysis, const std::vector<IndexBreak>& breaks) {
    const auto predicted = [&](std::size_t at) {
        const Prediction& p = analysis.predictions[at];
        json place = place_json(analysis, p);
        place.update({{"kind", std::string(cpp::name(p.kind))}, {"reason", p.reason}, {"possible", p.possible}});
        return place;
    };
    const auto observed = [&](std::size_t at) {
        const IndexBreak& b = breaks[at];
        return json{{"id", b.id},
                    {"reason", b.reason},
                    {"frame", b.frame},
                    {"count", b.count},
                    {"user_stack", stack_json(b.stack)}};
    };
    json seen = json::array(), predicted_only = json::array(), seen_only = json::array();
    for (const Join::Match& match : joined.seen) {
        json entry = predicted(match.prediction);
        entry["seen"] = json::array();
        for (const std::size_t b : match.breaks) entry["seen"].push_back(observed(b));
        seen.push_back(std::move(entry));
    }
    for (const std::size_t p : joined.predicted_only) predicted_only.push_back(predicted(p));
    for (const std::size_t b : joined.seen_only) seen_only.push_back(observed(b));
    return {{"file", analysis.file},
            {"predicted_and_seen", seen},
            {"predicted_only", predicted_only},
            {"seen_only", seen_only}};
}

}  // namespace

std::string joined_text(const std::vector<Analysis>& files, const std::vector<IndexBreak>& breaks,
                        const TextOptions& options) {
    std::string text;
    for (const Analysis& file : files) {
        const Join joined = join_breaks(file, breaks);
        if (!file.predictions.empty() || !joined.seen_only.empty())
            text += "\n" + file_text(joined, file, breaks, options);
    }
    return text;
}

json joined_json(const std::vector<Analysis>& files, const std::vector<IndexBreak>& breaks) {
    json list = json::array();
    for (const Analysis& file : files) list.push_back(file_json(join_breaks(file, breaks), file, breaks));
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
