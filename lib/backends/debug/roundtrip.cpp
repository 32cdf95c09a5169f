#include "backends/eager/interpreted.h"
#include "base/error.h"
#include "formats/json.h"
#include "graph/text.h"

namespace whittle {
namespace {

/// The first line that differs, of two graphs' texts.
std::string first_difference(const std::string& before, const std::string& after) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < before.size() && i < after.size() && before[i] == after[i]; ++i)
        if (before[i] == '\n') begin = i + 1;
    const auto line = [&](const std::string& text) { return text.substr(begin, text.find('\n', begin) - begin); };
    return "found '" + line(after) + "', expected '" + line(before) + "'";
}

Graph read_back(const Graph& graph, std::string& json) {
    std::map<std::string, Tensor> tensors;
    json = graph_to_json(graph, tensors);
    return graph_from_json(json, tensors, "the graph");
}

/// Writes the graph as JSON and tensors and as text, reads both again, compares, and runs what was read as eager.
class RoundTrip final : public InterpretingBackend, public Rewriting {
  public:
    using InterpretingBackend::InterpretingBackend;

    std::optional<Graph> instead_of(const Graph& graph) const override {
        try {
            std::string json;
            return read_back(graph, json);
        } catch (const Error&) {
            return std::nullopt;
        }
    }

  private:
    CompileResult compiled(const Graph& graph, const BackendOptions&) override {
        try {
            std::string json;
            Graph read = read_back(graph, json);
            std::map<std::string, Tensor> again;
            if (const std::string twice = graph_to_json(read, again); twice != json)
                return BackendFailure{"compile",
                                      {},
                                      "the graph's JSON changed when the graph was written and read back: " +
                                          first_difference(json, twice)};
            if (const std::string text = print(graph), twice = print(parse(text)); twice != text)
                return BackendFailure{"compile",
                                      {},
                                      "the graph's text changed when the graph was written and read back: " +
                                          first_difference(text, twice)};
            return interpreted(std::move(read));
        } catch (const Error& error) {
            return BackendFailure{"compile", {}, std::string("the written graph cannot be read back: ") + error.what()};
        }
    }
};

}  // namespace

std::unique_ptr<Backend> make_roundtrip(const BuiltInBackend& row, const FindBackend&) {
    return std::make_unique<RoundTrip>(row);
}

}  // namespace whittle
