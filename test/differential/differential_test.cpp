// The same small programs (sources.cpp), compiled with LibTorch and with our own API, both by `trace cc`: what both
// print must be equal, and what is captured of both — frames, graphs, what they read and give, breaks — up to the
// differences that known.txt lists. A difference that is gone fails, too: it is taken out of the list by
//   WHITTLE_UPDATE=1 ctest -R '^differential'
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/files.h"
#include "base/subprocess.h"
#include "formats/json.h"
#include "graph/text.h"
#include "trace/index.h"

namespace whittle {
namespace {

namespace fs = std::filesystem;
struct Seen {
    std::string printed;
    std::vector<std::string> captured;
};

std::string metas_text(const Graph& graph, NodeKind kind) {
    std::string text;
    const auto add = [&](const ValueMeta& meta) { text += (text.empty() ? "" : ", ") + print(meta); };
    for (const Node& node : graph.nodes) {
        if (node.kind != kind) continue;
        if (kind == NodeKind::placeholder) add(node.meta());
        if (kind == NodeKind::output) for_each_input(node, [&](NodeRef ref) { add(graph.node(ref).meta()); });
    }
    return text;
}

/// A tensor and a number are one overload in LibTorch, another in our API, which writes what torch.export does.
std::string overload(const std::string& target) {
    constexpr std::string_view number = ".Scalar";
    for (const char* op : {"aten.add", "aten.sub", "aten.mul", "aten.div"})
        if (target == op + std::string(number)) return op + std::string(".Tensor");
    return target;
}

/// "graph FRAME_0 (f32[4, 6]) aten.add.Tensor aten.relu.default -> f32[4, 6]"
std::string graph_text(const IndexGraph& entry, const Graph& graph) {
    // Our API numbers the only graph of a frame, too: while it captures nobody knows that it stays alone.
    std::string text = "graph " + (entry.name == entry.frame ? entry.name + "_0" : entry.name) + " (" +
                       metas_text(graph, NodeKind::placeholder) + ")";
    for (const Node& node : graph.nodes)
        if (node.kind == NodeKind::call) text += " " + overload(node.target);
    text += " -> " + metas_text(graph, NodeKind::output);
    for (const std::string& update : entry.updates) text += "; updates " + update.substr(0, update.find(" = "));
    return text + (entry.checked ? "" : "; not checked");
}

/// What the trace of a run holds, main's own frame left out: making and printing the data is not what is compared.
/// Guards of global state, which only our API has, are left out as well.
Seen run(const std::string& program, const std::string& name) {
    const TempDir folder;
    const fs::path trace = folder.path() / "trace";
    const ProcessResult result = run_process({WHITTLE_TRACE, "-o", trace.string(), "--capture", "check=always",
                                              "--capture", "level=api", program, "--", name},
                                             {.timeout = std::chrono::seconds(120)});
    INFO(program << " " << name << "\n" << result.err);
    REQUIRE(result.good());
    Seen seen{result.out, {}};
    const TraceIndex index = load_index(trace);
    for (const IndexGraph& graph : index.graphs) {
        if (graph.frame == "main") continue;
        seen.captured.push_back(graph_text(graph, load_graph(trace / graph.file)));
        std::set<std::string> guards;
        for (const IndexGuard& guard : graph.guards)
            if (!guard.text().starts_with("___")) guards.insert("  guard " + guard.text());
        seen.captured.insert(seen.captured.end(), guards.begin(), guards.end());
    }
    for (const IndexBreak& stop : index.breaks)
        if (stop.frame != "main")
            seen.captured.push_back("break " + stop.id + " in line " +
                                    (stop.stack.empty() ? "?" : std::to_string(stop.stack[0].line)) + ", " +
                                    std::to_string(stop.count) + " times");
    return seen;
}

/// What was captured of both where it differs, else nothing.
std::string difference(const Seen& torch, const Seen& ours) {
    if (torch.captured == ours.captured) return "";
    std::string text;
    for (const std::string& line : torch.captured) text += "  torch   " + line + "\n";
    for (const std::string& line : ours.captured) text += "  whittle " + line + "\n";
    return text;
}

/// known.txt: "NAME: REASON", then what was captured of both.
struct Entry {
    std::string reason, captured;
};
using Known = std::map<std::string, Entry>;

Known read_known(const fs::path& file) {
    Known known;
    std::istringstream in(read_file(file));
    std::string name;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("#")) continue;
        if (line.starts_with("  ")) {
            known[name].captured += line + "\n";
            continue;
        }
        name = line.substr(0, line.find(':'));
        known[name].reason = line.substr(std::min(line.size(), name.size() + 2));
    }
    return known;
}

void write_known(const fs::path& file, const Known& known) {
    std::string text = "# What is captured otherwise of LibTorch's than of our own programs (sources.cpp), and why.\n";
    for (const auto& [name, entry] : known) text += name + ": " + entry.reason + "\n" + entry.captured;
    write_file(file, text);
}

}  // namespace

TEST_CASE("LibTorch's and our own programs give the same values, graphs and breaks", "[differential]") {
    const ProcessResult names = run_process({WHITTLE_OURS}, {.timeout = std::chrono::seconds(60)});
    REQUIRE(names.good());
    std::istringstream lines(names.out);
    int programs = 0;
    const fs::path file = WHITTLE_SOURCE_DIR "/test/differential/known.txt";
    const Known known = read_known(file);
    Known found;
    for (std::string name; std::getline(lines, name);) {
        INFO(name);
        const Seen torch = run(WHITTLE_TORCH, name), ours = run(WHITTLE_OURS, name);
        CHECK(torch.printed == ours.printed);
        const auto listed = known.find(name);
        const std::string captured = difference(torch, ours);
        CHECK(captured == (listed == known.end() ? "" : listed->second.captured));
        if (!captured.empty()) found[name] = {listed == known.end() ? "?" : listed->second.reason, captured};
        ++programs;
    }
    CHECK(programs >= 30);
    for (const auto& [name, entry] : known) CHECK((name + " " + entry.reason).find('?') == std::string::npos);
    if (std::getenv("WHITTLE_UPDATE")) write_known(file, found);
}

}  // namespace whittle
