#include "model.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "frontends/onnx/tensor_proto.h"

namespace whittle::conformance {
namespace {

namespace fs = std::filesystem;

std::string op_name(const onnx::NodeProto& node) {
    const bool standard = node.domain().empty() || node.domain() == "ai.onnx";
    return (standard ? "onnx" : node.domain()) + "." + node.op_type();
}

/// Collects a model's ops and features.
class Features {
  public:
    explicit Features(Model& model) : model_(model) {}

    void of(const onnx::ModelProto& proto) {
        for (const auto& opset : proto.opset_import())
            model_.features.insert(opset.domain().empty() ? "opset:" + std::to_string(opset.version())
                                                          : "domain:" + opset.domain());
        if (proto.functions_size() > 0) model_.features.insert("functions");
        for (const onnx::FunctionProto& function : proto.functions())
            for (const onnx::NodeProto& node : function.node()) of(node);
        of(proto.graph());
        if (shrinks(proto.graph())) model_.features.insert("shrinks");
        model_.features.insert(model_.ops.begin(), model_.ops.end());
    }

  private:
    static std::int64_t elements(const onnx::ValueInfoProto& value) {
        std::int64_t count = 1;
        for (const auto& dim : value.type().tensor_type().shape().dim()) count *= dim.dim_value();
        return count;
    }
    static bool shrinks(const onnx::GraphProto& graph) {
        return graph.input_size() > 0 && graph.output_size() > 0 &&
               elements(graph.output(0)) < elements(graph.input(0));
    }

    void of(const onnx::GraphProto& graph) {
        for (const auto* values : {&graph.input(), &graph.output(), &graph.value_info()})
            for (const onnx::ValueInfoProto& value : *values) of(value.type());
        for (const onnx::TensorProto& tensor : graph.initializer()) element(tensor.data_type());
        if (graph.sparse_initializer_size() > 0) model_.features.insert("type:sparse");
        for (const onnx::NodeProto& node : graph.node()) of(node);
    }

    void of(const onnx::TypeProto& type) {
        if (type.has_tensor_type()) element(type.tensor_type().elem_type());
        if (type.has_sparse_tensor_type()) model_.features.insert("type:sparse");
        if (type.has_map_type()) model_.features.insert("type:map");
        if (type.has_sequence_type()) {
            model_.features.insert("type:sequence");
            of(type.sequence_type().elem_type());
        }
        if (type.has_optional_type()) {
            model_.features.insert("type:optional");
            of(type.optional_type().elem_type());
        }
    }

    void of(const onnx::NodeProto& node) {
        const std::string op = op_name(node);
        model_.ops.insert(op);
        model_.features.insert(op + "#" + std::to_string(node.input_size()));
        for (const onnx::AttributeProto& attribute : node.attribute()) {
            const std::string name = op + "." + attribute.name();
            if (attribute.type() == onnx::AttributeProto::STRING) model_.features.insert(name + "=" + attribute.s());
            if (attribute.type() == onnx::AttributeProto::INT)
                model_.features.insert(name + "=" + std::to_string(attribute.i()));
            if (attribute.has_t()) element(attribute.t().data_type());
            if (attribute.has_sparse_tensor()) model_.features.insert("type:sparse");
            if (attribute.has_tp()) of(attribute.tp());
            if (attribute.has_g()) of(attribute.g());
        }
    }

    void element(int code) {
        if (onnx::TensorProto::DataType_IsValid(code))
            model_.features.insert("type:" +
                                   onnx::TensorProto::DataType_Name(static_cast<onnx::TensorProto::DataType>(code)));
    }

    Model& model_;
};

/// Operands that are inputs of the model and numbers, with the values that the first data set has for them:
/// "onnx.Dropout[1]=0.5".
void add_numbers(const onnx::GraphProto& graph, Model& model) {
    std::map<std::string, std::string> numbers;
    for (int i = 0; i < graph.input_size() && !model.data_sets.empty(); ++i) {
        const fs::path file = model.data_sets.front() / ("input_" + std::to_string(i) + ".pb");
        const auto& type = graph.input(i).type().tensor_type();
        if (!fs::exists(file) || !type.has_shape() || type.shape().dim_size() != 0 ||
            type.elem_type() != onnx::TensorProto::FLOAT)
            continue;
        std::ostringstream text;
        text << load_tensor_proto(file).tensor.item().to_double();
        numbers[graph.input(i).name()] = text.str();
    }
    for (const onnx::NodeProto& node : graph.node())
        for (int i = 0; i < node.input_size(); ++i)
            if (const auto number = numbers.find(node.input(i)); number != numbers.end())
                model.features.insert(op_name(node) + "[" + std::to_string(i) + "]=" + number->second);
}

}  // namespace

std::vector<Model> find_models(const fs::path& folder) {
    std::vector<Model> models;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.path().filename() != "model.onnx") continue;
        Model model{.name = entry.path().parent_path().lexically_relative(folder).string(), .file = entry.path()};
        onnx::ModelProto proto;
        if (!proto.ParseFromString(read_file(model.file))) throw Error({model.file, {}}, "found no ONNX model");
        Features(model).of(proto);
        for (const auto& input : proto.graph().input()) model.inputs.push_back(input.type().tensor_type().elem_type());
        for (const auto& output : proto.graph().output())
            model.outputs.push_back(output.type().tensor_type().elem_type());
        for (const fs::directory_entry& set : fs::directory_iterator(entry.path().parent_path()))
            if (set.is_directory()) model.data_sets.push_back(set.path());
        std::ranges::sort(model.data_sets);
        add_numbers(proto.graph(), model);
        models.push_back(std::move(model));
    }
    if (models.empty()) throw Error({folder, {}}, "found no model.onnx below it, expected the standard's test models");
    std::ranges::sort(models, {}, &Model::name);
    return models;
}

}  // namespace whittle::conformance
