#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/number_text.h"
#include "base/words.h"
#include "formats/fields.h"
#include "report/text_parts.h"
#include "report/trace_diff.h"

namespace whittle::report {

namespace {

constexpr std::size_t kNodes = 20, kLines = 10;  // shown without verbose

class Text {
  public:
    explicit Text(const TextOptions& options) : options_(options) {}

    std::string all(const TraceDiff& diff) {
        summary(diff);
        if (!diff.gone.empty() || !diff.added.empty() || !diff.changed.empty()) heading("Graphs");
        for (const GraphOfOne& graph : diff.gone) line('-', named(graph) + ops(graph));
        for (const ChangedGraph& graph : diff.changed) changed(graph);
        for (const GraphOfOne& graph : diff.added) line('+', named(graph) + ops(graph));
        counts("Graph breaks", diff.breaks);
        counts("Recompiles", diff.recompiles);
        if (!diff.values.empty()) heading("Recorded values");
        for (const ValueDiff& value : diff.values)
            line('~', value.graph + ", " + value.value + ": " + value.difference);
        if (options_.ops) counts("Operations", diff.ops);
        if (options_.times)
            text_ += "\nCompile time: " + fixed(diff.compile_seconds_after * 1e3, 1) + " ms, was " +
                     fixed(diff.compile_seconds_before * 1e3, 1) + " ms\n";
        return text_;
    }

  private:
    static std::string named(const GraphOfOne& graph) { return graph.name + " (" + graph.frame + "): "; }
    static std::string ops(const GraphOfOne& graph) { return plural(graph.ops, "op"); }
    void heading(const std::string& words) { text_ += "\n" + words + ":\n"; }
    void line(char sign, const std::string& words, int depth = 1) {
        const char* const color = sign == '-' ? "31" : sign == '+' ? "32" : "33";
        std::string shown = std::string(static_cast<std::size_t>(2 * depth), ' ') + sign + " " + words;
        if (!options_.verbose) shown = shortened(shown, options_.columns);
        text_ += Painter(options_).in(color, shown) + "\n";
    }

    void summary(const TraceDiff& diff) {
        text_ = diff.before + " -> " + diff.after + ": ";
        if (diff.same()) {
            text_ += "no difference in " + plural(diff.same_graphs, "graph") + "\n";
            return;
        }
        std::vector<std::string> parts;
        const auto part = [&](std::size_t count, const std::string& one, const std::string& several) {
            if (count) parts.push_back(plural(count, one, several));
        };
        part(static_cast<std::size_t>(diff.same_graphs), "graph is the same", "graphs are the same");
        part(diff.changed.size(), "graph differs", "graphs differ");
        part(diff.gone.size(), "graph is gone", "graphs are gone");
        part(diff.added.size(), "graph is new", "graphs are new");
        part(number(diff.breaks, '+'), "new graph break", "new graph breaks");
        part(number(diff.breaks, '-'), "graph break is gone", "graph breaks are gone");
        part(number(diff.breaks, '~'), "graph break happens more or less often",
             "graph breaks happen more or less often");
        part(diff.recompiles.size(), "recompile differs", "recompiles differ");
        part(diff.values.size(), "value differs", "values differ");
        text_ += join(parts) + "\n";
    }
    static char sign_of(const CountDiff& one) { return one.before == 0 ? '+' : one.after == 0 ? '-' : '~'; }
    static std::size_t number(const std::vector<CountDiff>& breaks, char sign) {
        return static_cast<std::size_t>(
            std::ranges::count_if(breaks, [&](const CountDiff& one) { return sign_of(one) == sign; }));
    }

    void changed(const ChangedGraph& changed) {
        const GraphOfOne &before = changed.before, &after = changed.after;
        const bool renamed = before.name != after.name || before.frame != after.frame;
        const std::string was = before.ops == after.ops ? "" : ", was " + std::to_string(before.ops);
        line('~',
             named(after) + ops(after) + was + (renamed ? "; before: " + before.name + " (" + before.frame + ")" : ""));
        const std::vector<NodeDiff>& nodes = changed.graph.nodes;
        if (!options_.verbose && nodes.size() > kNodes) text_ += "      " + kinds(nodes) + "\n";
        const std::size_t shown = shown_of(nodes.size(), kNodes, options_);
        for (std::size_t i = 0; i < shown; ++i) node(nodes[i]);
        text_ += rest_text(6, nodes.size(), shown);
        if (changed.graph.resized)
            text_ += "      " +
                     plural(changed.graph.resized,
                            "further result differs in data type or sizes, because the operands differ",
                            "further results differ in data type or sizes, because the operands differ") +
                     "\n";
        lines('-', changed.guards_gone);
        lines('+', changed.guards_new);
    }
    static std::string kinds(const std::vector<NodeDiff>& nodes) {
        const auto gone = std::ranges::count_if(nodes, [](const NodeDiff& node) { return node.after.empty(); });
        const auto fresh = std::ranges::count_if(nodes, [](const NodeDiff& node) { return node.before.empty(); });
        return plural(gone, "node") + " gone, " + std::to_string(fresh) + " new, " +
               std::to_string(static_cast<std::ptrdiff_t>(nodes.size()) - gone - fresh) + " changed:";
    }
    void node(const NodeDiff& node) {
        if (node.after.empty()) return line('-', node.before, 2);
        if (node.before.empty()) return line('+', node.after, 2);
        line('~', node.after, 2);
        for (const std::string& change : node.changes) text_ += "          " + change + "\n";
    }
    void lines(char sign, const std::vector<std::string>& guards) {
        const std::size_t shown = shown_of(guards.size(), kLines, options_);
        for (std::size_t i = 0; i < shown; ++i) line(sign, "guard " + guards[i], 2);
        text_ += rest_text(6, guards.size(), shown);
    }

    void counts(const std::string& words, const std::vector<CountDiff>& all) {
        if (!all.empty()) heading(words);
        for (const CountDiff& one : all) {
            const char sign = sign_of(one);
            const std::string times = plural(sign == '-' ? one.before : one.after, "time");
            line(sign, one.what + (one.place.empty() ? "" : ", in " + one.place) + ": " + times +
                           (sign == '~' ? ", was " + std::to_string(one.before) : ""));
        }
    }

    const TextOptions& options_;
    std::string text_ = {};
};

}  // namespace

std::string to_text(const TraceDiff& diff, const TextOptions& options) { return Text(options).all(diff); }

nlohmann::json to_json(const TraceDiff& diff) { return report_json(diff); }

nlohmann::ordered_json diff_output_schema() {
    return report_schema<TraceDiff>("What explain diff --json prints",
                                    "The differences between two captures. More members may be added.");
}

}  // namespace whittle::report
