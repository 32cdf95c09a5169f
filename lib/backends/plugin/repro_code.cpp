#include "backends/plugin/repro_code.h"

#include <map>

#include "base/program_text.h"
#include "base/words.h"
#include "formats/json.h"
#include "text/language.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

using language::cpp;

/// The structs of the interface that carry the graph's tensors.
class PluginText {
  public:
    explicit PluginText(const EmitRequest& request) : request_(request), graph_(request.graph) {
        graph_.failure.reset();
        json_ = graph_to_json(graph_, sidecar_);
    }

    std::string code(const fs::path& library, const std::string& name) {
        const std::string attributes = attributes_text();
        return fill_template("repro_plugin.cpp", {{"JSON", cpp.quoted_lines(json_)},
                                                  {"NESTED", nested_data_},
                                                  {"LIBRARY", cpp.quoted_lines(library.string())},
                                                  {"LIBRARY_NAME", cpp.quoted_lines(library.filename().string())},
                                                  {"BACKEND", cpp.quoted_lines(name)},
                                                  {"TENSORS", tensors_text(attributes)},
                                                  {"SLOTS", slots_text()}});
    }

  private:
    std::string tensors_text(const std::string& attributes) {
        std::string options, inputs = inputs_text();
        for (const auto& [key, value] : request_.graph.failure->options)
            options += "        {" + cpp.quoted_lines(key) + ", " + cpp.quoted_lines(value) + "},\n";
        return dims_ + "    const std::vector<whittle_tensor> inputs = {\n" + inputs + "    };\n" +
               "    const std::vector<whittle_tensor> attributes = {\n" + attributes + "    };\n" +
               "    const std::vector<whittle_option> options = {\n" + options + "    };";
    }

    std::string inputs_text() {
        std::string text;
        std::size_t next = 0;
        for (const NodeId id : graph_.placeholders()) {
            const Node& node = graph_.node({id});
            text += tensor_struct("in_" + node.name, request_.graph.failure->inputs.at(next++), node.name, {});
        }
        return text;
    }

    /// Parameters of the graph, then those of nested graphs, as OfferedGraph names them.
    std::string attributes_text() {
        std::string text;
        for (const Node& node : graph_.nodes) {
            if (node.kind != NodeKind::get_attr) continue;
            const Tensor& value = graph_.attributes.at(node.target);
            text += tensor_struct("in_" + node.name, value, node.target, hash_of(value));
        }
        for (const auto& [key, nested] : graph_.subgraphs) text += nested_attributes(*nested, key + "/");
        return text;
    }

    std::string nested_attributes(const Graph& graph, const std::string& prefix) {
        std::string text;
        for (const auto& [key, value] : graph.attributes) {
            const std::string place = "nested_" + std::to_string(nested_seen_++);
            nested_data_ += request_.define(place, value);
            text += tensor_struct(place, value, prefix + key, hash_of(value));
        }
        for (const auto& [key, nested] : graph.subgraphs) text += nested_attributes(*nested, prefix + key + "/");
        return text;
    }

    std::string slots_text() const {
        std::string text;
        for (std::size_t i = 0; i < request_.expected.size(); i++) {
            const Tensor& expected = request_.expected[i];
            text += (i ? "\n    call.slots.push_back({" : "    call.slots.push_back({") +
                    (expected.numel() ? "out." + request_.outputs[i] : std::string("nullptr")) + ", " +
                    std::to_string(static_cast<int>(expected.dtype())) + ", " +
                    std::to_string(size_of(expected.dtype())) + ", " + cpp.sizes(expected.sizes()) + ", false});";
        }
        return text;
    }

    /// By which the JSON refers to a tensor; empty where it holds the values.
    std::string hash_of(const Tensor& value) const {
        const std::string hash = content_hash(value);
        return sidecar_.contains(hash) ? hash : "";
    }

    /// One initializer of a whittle_tensor; its sizes and strides are defined in dims_.
    std::string tensor_struct(const std::string& place, const Tensor& tensor, const std::string& name,
                              const std::string& hash) {
        const auto define = [&](const char* what, const std::vector<std::int64_t>& values) {
            // The last element is not used: it keeps the arrays of a 0-d tensor from being empty.
            dims_ += "    static const int64_t " + place + what + "[] = {" + join(values) +
                     (values.empty() ? "0" : ", 0") + "};\n";
        };
        define("_sizes", tensor.sizes());
        define("_strides", tensor.strides());
        return "        {" + std::to_string(static_cast<int>(tensor.dtype())) + ", " + std::to_string(tensor.rank()) +
               ", " + place + "_sizes, " + place + "_strides, " + place + ", " + cpp.quoted_lines(name) + ", " +
               (hash.empty() ? "nullptr" : cpp.quoted_lines(hash)) + "},\n";
    }

    const EmitRequest& request_;
    Graph graph_;
    std::map<std::string, Tensor> sidecar_;
    std::string json_, dims_, nested_data_;
    std::size_t nested_seen_ = 0;
};

}  // namespace

SuspectCode plugin_code(const EmitRequest& request, const fs::path& library, const std::string& name) {
    SuspectCode code;
    code.code = PluginText(request).code(library, name);
    code.header = "backend " + name + " in " + library.filename().string();
    code.compile_flags = {"-ldl"};
    code.companions = {library};
    if (request.graph.failure->backend.find('/') != std::string::npos)  // as it is called wherever it lies
        code.called = library.filename().string() + ":" + name;
    code.spec_beside = "./" + library.filename().string() + ":" + name;
    return code;
}

}  // namespace whittle
