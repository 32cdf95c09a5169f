#include "graph/placement.h"

#include <algorithm>
#include <cctype>
#include <mutex>
#include <set>

namespace whittle {

std::string Placement::text() const {
    constexpr std::string_view kSparse = "Sparse";
    std::string what = elements.empty() ? "a tensor" : "a " + elements + " tensor";
    std::string of = layout.substr(std::min(layout.size(), kSparse.size()));
    std::ranges::transform(of, of.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    if (layout == "Mkldnn")
        what = "an MKL-DNN tensor";
    else if (layout.starts_with(kSparse))
        what = "a sparse tensor" + (of.empty() ? "" : " (" + of + ")");
    else if (layout != "Strided")
        what = "a tensor of layout " + layout;
    return device == "cpu" ? what : what + " on the device " + device;
}

const Placement* placed(Placement placement) {
    if (placement == Placement{}) return nullptr;
    static std::mutex mutex;
    static std::set<Placement> known;  // nodes of a set stay where they are
    const std::scoped_lock lock(mutex);
    return &*known.insert(std::move(placement)).first;
}

namespace {

bool is_misplaced(const ValueMeta& meta) { return meta.placement != nullptr; }

}  // namespace

std::optional<std::string> misplaced_value(const Graph& graph) {
    for (const Node& node : graph.nodes)
        if (const auto found = std::ranges::find_if(node.results, is_misplaced); found != node.results.end())
            return "%" + node.name + ", " + found->placement->text();
    for (const auto& [name, nested] : graph.subgraphs)
        if (std::optional<std::string> found = misplaced_value(*nested)) return found;
    return std::nullopt;
}

bool touches_misplaced(const Graph& graph, const Node& call) {
    bool touches = std::ranges::any_of(call.results, is_misplaced);
    for_each_input(call, [&](NodeRef ref) { touches |= std::ranges::any_of(graph.node(ref).results, is_misplaced); });
    return touches;
}

}  // namespace whittle
