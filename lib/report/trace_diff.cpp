#include "report/trace_diff.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/number_text.h"
#include "graph/value_ref.h"

namespace whittle::report {

namespace {

using Add = std::function<void(const std::string& key, CountDiff entry, std::int64_t times)>;

/// "step (train.cpp:31)".
std::string stack_frame_text(const StackFrame& frame) {
    const std::string line = frame.line ? ":" + std::to_string(frame.line) : "";
    const std::string file = std::filesystem::path(frame.file).filename().string();
    return frame.function + (file.empty() ? "" : " (" + file + line + ")");
}

/// Lines move when a file is edited: a place is told by its function and its text.
void count_breaks(const Report& report, const Add& add) {
    for (const BreakReason& reason : report.break_reasons)
        for (const BreakPlace& place : reason.places) {
            const StackFrame frame = place.user_stack.empty() ? StackFrame() : place.user_stack.front();
            const std::string id(reason.info().id);
            std::string key = id + '\n' + reason.op + '\n' + reason.reason;
            if (place.node.empty()) key += '\n' + frame.function + '\n' + frame.text;
            add(key, {.what = id + " " + reason.reason, .place = stack_frame_text(frame)}, place.count);
        }
}

/// One guard, whatever it found.
void count_recompiles(const Report& report, const Add& add) {
    for (const IndexRecompile& recompile : report.recompiles)
        add(recompile.frame + '\n' + recompile.condition, {.what = recompile.condition, .place = recompile.frame},
            recompile.count);
}

void count_ops(const Report& report, const Add& add) {
    for (const OpUse& use : report.ops) add(use.op, {.what = use.op}, use.count);
}

/// What `count` adds more or less often of the second report, by its key.
std::vector<CountDiff> counts(const Capture& before, const Capture& after, void (*count)(const Report&, const Add&)) {
    std::map<std::string, CountDiff> by_key;
    const auto add_to = [&](std::int64_t CountDiff::*side) {
        return [&by_key, side](const std::string& key, CountDiff entry, std::int64_t times) {
            by_key.try_emplace(key, std::move(entry)).first->second.*side += times;
        };
    };
    count(before.report, add_to(&CountDiff::before));
    count(after.report, add_to(&CountDiff::after));
    std::vector<CountDiff> all;
    for (const auto& [key, entry] : by_key)
        if (entry.before != entry.after) all.push_back(entry);
    return all;
}

/// Of each frame after its counterpart before, by position, where it has one.
std::vector<std::optional<std::size_t>> counterparts(const std::vector<Frame>& before,
                                                     const std::vector<Frame>& after) {
    std::vector<std::uint64_t> shapes;  // before
    for (const Frame& frame : before) shapes.push_back(shape_hash(frame.graph));
    std::vector<std::optional<std::size_t>> found(after.size());
    std::vector<bool> taken(before.size(), false);
    const auto pair = [&](bool same_function, bool same_shape) {
        for (std::size_t y = 0; y < after.size(); ++y) {
            if (found[y]) continue;
            const std::uint64_t shape = same_shape ? shape_hash(after[y].graph) : 0;
            for (std::size_t x = 0; x < before.size() && !found[y]; ++x)
                if (!taken[x] && (!same_function || before[x].name == after[y].name) &&
                    (!same_shape || shapes[x] == shape))
                    found[y] = x, taken[x] = true;
        }
    };
    pair(true, true);
    pair(true, false);
    pair(false, true);
    return found;
}

GraphOfOne told(const Frame& frame) {
    return {.name = frame.graph.name, .frame = frame.name, .ops = op_count(frame.graph)};
}

std::vector<std::string> guards_of(const Report& report, const std::string& graph) {
    const auto found = std::ranges::find(report.graphs, graph, &GraphSummary::name);
    return found == report.graphs.end() ? std::vector<std::string>() : found->guard_texts();
}

std::vector<std::string> without(const std::vector<std::string>& all, const std::vector<std::string>& those) {
    const std::set<std::string> known(those.begin(), those.end());
    std::vector<std::string> rest;
    std::ranges::copy_if(all, std::back_inserter(rest), [&](const std::string& one) { return !known.contains(one); });
    return rest;
}

const LoadedFrame* recorded_of(const Capture& side, const Graph& graph) {
    const auto found =
        std::ranges::find(side.recorded, graph.name, [](const LoadedFrame& frame) { return frame.graph.name; });
    return found == side.recorded.end() ? nullptr : &*found;
}

/// "[0, 1]: 3, was 2; 2 of 4 values differ, by 1 at most": neither side is expected.
std::string change_text(const Difference& differs, std::int64_t elements) {
    std::string text = differs.place + ": " + differs.got + ", was " + differs.expected;
    if (!differs.differing) return text;
    text += "; " + std::to_string(differs.differing) + " of " + std::to_string(elements) + " values differ";
    return differs.max_abs_error > 0 ? text + ", by " + significant(differs.max_abs_error, 3) + " at most" : text;
}

/// The first that differs of values that both sides have.
std::optional<ValueDiff> first_difference(const LoadedFrame& before, const LoadedFrame& after,
                                          const Accuracy& accuracy) {
    const std::vector<NodeId> named = after.graph.placeholders();
    for (std::size_t i = 0; i < std::min(before.inputs.size(), after.inputs.size()); ++i)
        if (const auto differs = compare(after.inputs[i], before.inputs[i], Accuracy{.mode = Accuracy::Mode::strict}))
            return ValueDiff{after.graph.name, "input " + after.graph.node({named.at(i)}).target,
                             change_text(*differs, after.inputs[i].numel())};
    for (std::size_t i = 0; i < std::min(before.expected.size(), after.expected.size()); ++i)
        if (const auto differs = compare(after.expected[i], before.expected[i], accuracy))
            return ValueDiff{after.graph.name, "output " + std::to_string(i),
                             change_text(*differs, after.expected[i].numel())};
    return std::nullopt;
}

double compile_seconds(const Report& report) {
    double all = 0;
    for (const GraphSummary& graph : report.graphs) all += graph.compile_seconds;
    return all;
}

}  // namespace

bool TraceDiff::same() const {
    return gone.empty() && added.empty() && changed.empty() && breaks.empty() && recompiles.empty() && values.empty();
}

TraceDiff diff(const Capture& before, const Capture& after, const Accuracy& accuracy) {
    TraceDiff result{.before = before.report.model, .after = after.report.model};
    const auto known = counterparts(before.frames, after.frames);
    for (std::size_t i = 0; i < before.frames.size(); ++i)
        if (!std::ranges::count(known, std::optional(i))) result.gone.push_back(told(before.frames[i]));
    for (std::size_t i = 0; i < after.frames.size(); ++i) {
        const Frame& frame = after.frames[i];
        if (!known[i]) {
            result.added.push_back(told(frame));
            continue;
        }
        const Frame& old = before.frames[*known[i]];
        ChangedGraph changed{.before = told(old), .after = told(frame), .graph = diff(old.graph, frame.graph)};
        const auto guards_before = guards_of(before.report, old.graph.name);
        const auto guards_after = guards_of(after.report, frame.graph.name);
        changed.guards_gone = without(guards_before, guards_after);
        changed.guards_new = without(guards_after, guards_before);
        const bool same = changed.graph.same() && changed.guards_gone.empty() && changed.guards_new.empty();
        same ? void(++result.same_graphs) : result.changed.push_back(std::move(changed));
        const LoadedFrame *was = recorded_of(before, old.graph), *is = recorded_of(after, frame.graph);
        if (!was || !is) continue;
        if (auto differs = first_difference(*was, *is, accuracy)) result.values.push_back(std::move(*differs));
    }
    result.breaks = counts(before, after, count_breaks);
    result.ops = counts(before, after, count_ops);
    result.recompiles = counts(before, after, count_recompiles);
    result.compile_seconds_before = compile_seconds(before.report);
    result.compile_seconds_after = compile_seconds(after.report);
    return result;
}

}  // namespace whittle::report
