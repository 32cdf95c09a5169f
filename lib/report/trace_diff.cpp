#include "report/trace_diff.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

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

/// Counterparts among the frames, by position.
class Pairs {
  public:
    Pairs(const std::vector<Frame>& before, const std::vector<Frame>& after)
        : before_(before), after_(after), counterpart_(after.size()), taken_(before.size(), false) {
        for (const Frame& frame : before) before_hashes_.push_back(shape_hash(frame.graph));
        for (const Frame& frame : after) after_hashes_.push_back(shape_hash(frame.graph));
        pair([&](std::size_t x, std::size_t y) { return same_function(x, y) && same_shape(x, y); });
        pair([&](std::size_t x, std::size_t y) { return same_function(x, y); });
        pair([&](std::size_t x, std::size_t y) { return same_shape(x, y); });
    }
    std::optional<std::size_t> before(std::size_t after) const { return counterpart_[after]; }
    bool is_taken(std::size_t before) const { return taken_[before]; }

  private:
    bool same_function(std::size_t x, std::size_t y) const { return before_[x].name == after_[y].name; }
    bool same_shape(std::size_t x, std::size_t y) const { return before_hashes_[x] == after_hashes_[y]; }
    void pair(const auto& alike) {
        for (std::size_t y = 0; y < after_.size(); ++y)
            for (std::size_t x = 0; x < before_.size() && !counterpart_[y]; ++x)
                if (!taken_[x] && alike(x, y)) counterpart_[y] = x, taken_[x] = true;
    }

    const std::vector<Frame>&before_, &after_;
    std::vector<std::uint64_t> before_hashes_ = {}, after_hashes_ = {};
    std::vector<std::optional<std::size_t>> counterpart_;
    std::vector<bool> taken_;
};

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

const RecordedValues* values_of(const Capture& side, const std::string& graph) {
    const auto found = std::ranges::find(side.values, graph, &RecordedValues::graph);
    return found == side.values.end() ? nullptr : &*found;
}

/// The first that differs of values that both sides have.
std::optional<ValueDiff> first_difference(const RecordedValues& before, const RecordedValues& after,
                                          const Accuracy& accuracy) {
    for (std::size_t i = 0; i < std::min(before.inputs.size(), after.inputs.size()); ++i)
        if (const auto differs = compare(after.inputs[i], before.inputs[i], Accuracy{.mode = Accuracy::Mode::strict}))
            return ValueDiff{after.graph, "input " + after.inputs_of.at(i), differs->description};
    for (std::size_t i = 0; i < std::min(before.outputs.size(), after.outputs.size()); ++i)
        if (const auto differs = compare(after.outputs[i], before.outputs[i], accuracy))
            return ValueDiff{after.graph, "output " + std::to_string(i), differs->description};
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
    const Pairs pairs(before.frames, after.frames);
    for (std::size_t i = 0; i < before.frames.size(); ++i)
        if (!pairs.is_taken(i)) result.gone.push_back(told(before.frames[i]));
    for (std::size_t i = 0; i < after.frames.size(); ++i) {
        const Frame& frame = after.frames[i];
        if (!pairs.before(i)) {
            result.added.push_back(told(frame));
            continue;
        }
        const Frame& old = before.frames[*pairs.before(i)];
        ChangedGraph changed{.before = told(old), .after = told(frame), .graph = diff(old.graph, frame.graph)};
        const auto guards_before = guards_of(before.report, old.graph.name);
        const auto guards_after = guards_of(after.report, frame.graph.name);
        changed.guards_gone = without(guards_before, guards_after);
        changed.guards_new = without(guards_after, guards_before);
        const bool same = changed.graph.same() && changed.guards_gone.empty() && changed.guards_new.empty();
        same ? void(++result.same_graphs) : result.changed.push_back(std::move(changed));
        const RecordedValues *was = values_of(before, old.graph.name), *is = values_of(after, frame.graph.name);
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
