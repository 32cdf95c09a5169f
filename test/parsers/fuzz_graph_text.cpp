// Any bytes as a graph's text: either an Error, or a graph that is printed and parsed again unchanged.
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "graph/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace whittle;
    Graph graph;
    try {
        graph = parse(std::string_view(reinterpret_cast<const char*>(data), size));
    } catch (const Error&) {
        return 0;
    }
    const std::string text = print(graph);
    const Graph again = parse(text);
    if (!same_structure(graph, again) || print(again) != text) std::abort();
    return 0;
}
