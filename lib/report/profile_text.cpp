// A profile for people: tables of what compiling and running took.
#include <algorithm>
#include <map>

#include "base/number_text.h"
#include "base/words.h"
#include "report/text_parts.h"

namespace whittle::report {
namespace {

constexpr std::size_t kMostRows = 10;  // of a table, unless all are wanted

std::string percent(double share) { return fixed(100 * share, 0) + " %"; }

std::string quantity_text(double value, const char* unit) { return fixed(value, value >= 100 ? 0 : 2) + ' ' + unit; }

/// Every span but kernels in its order, and the kernels of each graph in one row: those that were measured on a backend
/// are others than those of the program itself.
std::string compile_text(const Profile& profile, std::size_t most) {
    if (profile.spans.empty()) return {};
    struct Line {
        TimeSpan span;  ///< of kernels: the first, with the seconds of all and the name of the longest
        std::size_t kernels = 0, cached = 0;
        double longest = 0;
    };
    std::vector<Line> lines;
    std::map<std::pair<std::string, std::string>, std::size_t> kernels;  // positions, by graph and backend
    for (const TimeSpan& span : profile.spans) {
        if (span.kind != "kernel") {
            lines.push_back({span});
            continue;
        }
        const auto [at, fresh] = kernels.try_emplace({span.graph, span.backend}, lines.size());
        if (fresh) lines.push_back({span});
        Line& line = lines[at->second];
        if (line.kernels++) line.span.seconds += span.seconds;
        line.cached += span.from != "compiled";
        if (span.seconds > line.longest) line.longest = span.seconds, line.span.name = span.name;
    }
    const bool several = std::ranges::any_of(
        profile.spans, [&](const TimeSpan& span) { return span.backend != profile.spans.front().backend; });
    std::vector<Row> rows = {{"start", "took", "", "what", "graph"}};
    for (const auto& [span, count, cached, longest] : lines) {
        const std::string all = plural(count, "kernel") + ", " + std::to_string(cached) + " from the cache; longest " +
                                span.name + ", " + seconds_text(longest);
        const bool named = several && !span.graph.empty() && !span.backend.empty();
        rows.push_back({seconds_text(span.start), seconds_text(span.seconds), count ? "kernels" : span.kind,
                        count ? all : span.name, span.graph + (named ? " on " + span.backend : "")});
    }
    return "Compile times:\n" + table(rows, {.right = 2, .most = 4 * most}) + "\n";
}

/// Arithmetic as fast as the machine allows would wait for the kernel's bytes.
bool waits_for_memory(const KernelProfile& kernel, const MachineSpeed& machine) {
    return static_cast<double>(kernel.bytes) / machine.bytes_per_second >=
           static_cast<double>(kernel.flops) / machine.flops_per_second;
}

std::string kernels_text(const Profile& profile, std::size_t most) {
    std::vector<const KernelProfile*> measured;
    double all = 0;
    for (const KernelProfile& kernel : profile.kernels)
        if (kernel.runs) measured.push_back(&kernel), all += kernel.seconds;
    if (measured.empty()) return {};
    std::ranges::stable_sort(measured, [](const auto* a, const auto* b) { return a->seconds > b->seconds; });
    std::vector<Row> rows = {{"time", "share", "flops", "bytes", "speed", "roofline", "kernel", "computes"}};
    bool in_cache = false;
    for (const KernelProfile* kernel : measured) {
        in_cache |= profile.machine && kernel->roofline > 1.0 && waits_for_memory(*kernel, *profile.machine);
        std::string nodes;
        for (const std::string& node : kernel->nodes) nodes += (nodes.empty() ? "%" : ", %") + node;
        rows.push_back(
            {seconds_text(kernel->seconds), percent(all > 0 ? kernel->seconds / all : 0), std::to_string(kernel->flops),
             bytes_text(kernel->bytes),
             quantity_text(1e-9 * static_cast<double>(kernel->flops) / std::max(kernel->seconds, 1e-9), "GFLOP/s"),
             kernel->roofline ? percent(*kernel->roofline) : "", kernel->graph + "." + kernel->name,
             shortened(nodes, 60)});
    }
    std::string text = "Kernels on " + profile.backend + ", slowest first:\n" + table(rows, {.right = 6, .most = most});
    if (profile.machine)
        text += "  roofline: share of the peak of this machine, " +
                quantity_text(1e-9 * profile.machine->flops_per_second, "GFLOP/s") + " and " +
                quantity_text(1e-9 * profile.machine->bytes_per_second, "GB/s") + " on " +
                plural(profile.machine->threads, "thread") +
                (in_cache ? "; a memory-bound kernel above 100 % reads from a cache\n" : "\n");
    return text + "\n";
}

std::string profiled_graphs_text(const Profile& profile, std::size_t most) {
    if (profile.graphs.empty()) return {};
    std::vector<Row> rows = {{"compiled", "runs in", "graph", ""}};
    for (const GraphProfile& graph : profile.graphs)
        rows.push_back({graph.failure.empty() ? seconds_text(graph.compile_seconds) : "",
                        graph.failure.empty() ? seconds_text(graph.seconds) : "", graph.graph,
                        graph.failure.empty() ? "median of " + plural(graph.runs, "run") : "fails: " + graph.failure});
    return "Graphs on " + profile.backend + ":\n" + table(rows, {.right = 2, .most = most}) + "\n";
}

std::string memory_text(const Profile& profile, std::size_t most) {
    std::vector<Row> rows = {{"peak", "graph", "at", "", "alive at the peak"}};
    for (const MemoryProfile& memory : profile.memory) {
        if (memory.bytes.empty()) continue;
        std::vector<std::string> alive;
        for (const auto& value : memory.alive) alive.push_back("%" + value.value + " " + bytes_text(value.bytes));
        rows.push_back({bytes_text(memory.peak), memory.graph, memory.peak_at,
                        memory.how == "measured" ? "measured" : "computed", listed(alive, 3)});
    }
    return rows.size() == 1 ? std::string()
                            : "Memory, without parameters:\n" + table(rows, {.right = 1, .most = most}) + "\n";
}

std::string profiled_ops_text(const Profile& profile, std::size_t most) {
    std::string text;
    for (auto from = profile.ops.begin(); from != profile.ops.end();) {
        const auto to =
            std::find_if(from, profile.ops.end(), [&](const OpTime& op) { return op.frame != from->frame; });
        double all = 0;
        for (auto op = from; op != to; ++op) all += op->seconds;
        std::vector<Row> rows = {{"time", "share", "calls", "operation"}};
        for (auto op = from; op != to; ++op)
            rows.push_back({seconds_text(op->seconds), percent(all > 0 ? op->seconds / all : 0),
                            std::to_string(op->calls), op->op});
        text += "Operations of " + from->frame + ", " + seconds_text(all) + ":\n" +
                table(rows, {.right = 3, .most = most}) + "\n";
        from = to;
    }
    return text;
}

}  // namespace

std::string seconds_text(double seconds) {
    if (seconds >= 1) return fixed(seconds, 2) + " s";
    if (seconds >= 1e-3) return fixed(1e3 * seconds, 2) + " ms";
    return fixed(1e6 * seconds, 1) + " us";
}

std::string to_text(const Profile& profile, const TextOptions& options) {
    const std::size_t most = options.verbose ? 0 : kMostRows;
    return compile_text(profile, most) + profiled_graphs_text(profile, most) + kernels_text(profile, most) +
           memory_text(profile, most) + profiled_ops_text(profile, most);
}

}  // namespace whittle::report
