// A case: a graph with the inputs it is run on and what the reference makes of them, or a part of an ONNX file. What
// oracles judge and reductions make smaller.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "formats/field_forms.h"
#include "graph/graph.h"
#include "graph/onnx_file.h"

namespace whittle::reduce {

struct Case {
    Graph graph;
    std::vector<Tensor> inputs = {};    ///< one per placeholder
    std::vector<Tensor> expected = {};  ///< one per output; none where a call is opaque (ops/core/opaque.h)
    /// Judged, byte by byte, in place of the graph. Null: there is none.
    std::shared_ptr<const OnnxFile> file = {};
    std::vector<std::string> nodes = {};  ///< of the file, in words, where it is known by these and not by the graph
};

/// A placeholder or a get_attr: what holds data.
bool is_leaf(const Node& node);
std::vector<NodeId> leaves_of(const Graph& graph);

/// How large a case is, for reports.
struct Size {
    std::size_t calls = 0;  ///< without getitems, nested graphs included; or nodes of a file
    std::size_t inputs = 0, outputs = 0;
    std::int64_t elements = 0;  ///< of inputs and attributes, nested graphs included
    bool operator==(const Size&) const = default;

    static constexpr const char* kName = "size";
    static void fields(auto& field) {
        field("calls", &Size::calls, "", Count{});
        field("inputs", &Size::inputs, "", Count{});
        field("outputs", &Size::outputs, "", Count{});
        field("elements", &Size::elements, "", Count{});
    }
};
Size size_of(const Case& sized);
/// "3 ops, 2 inputs, 1 output, 4,096 elements" without the thousands' separators.
std::string text(const Size& size);

}  // namespace whittle::reduce
