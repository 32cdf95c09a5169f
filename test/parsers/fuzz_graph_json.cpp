// Any bytes as a graph's JSON: either an Error, or a graph that is written and read again unchanged.
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "formats/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace whittle;
    std::map<std::string, Tensor> tensors = {{"hash", Tensor(DType::f32, {3})}};
    Graph graph;
    try {
        graph = graph_from_json(std::string(reinterpret_cast<const char*>(data), size), tensors, "fuzz.json");
    } catch (const Error&) {
        return 0;
    }
    const std::string text = graph_to_json(graph, tensors);
    const Graph again = graph_from_json(text, tensors, "again.json");
    if (!same_structure(graph, again) || graph_to_json(again, tensors) != text) std::abort();
    return 0;
}
