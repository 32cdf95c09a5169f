#include "frontends/onnx/model_text.h"

#include <cstdint>
#include <sstream>
#include <utility>
#include <vector>

#include <onnx/defs/printer.h>

#include "base/words.h"
#include "tensor/scalars.h"

namespace whittle::onnx_proto {
namespace {

/// What ONNX's printer makes of a node, with the lines of nested graphs indented. Newer versions of the printer indent,
/// too, but otherwise.
std::string node_text(const onnx::NodeProto& node) {
    std::ostringstream printed;
    printed << node;
    std::istringstream lines(printed.str());
    std::string text;
    std::size_t depth = 1;
    for (std::string line; std::getline(lines >> std::ws, line);) {
        if (line.starts_with("}") && depth > 1) depth--;
        if (line.starts_with(">") && text.ends_with("}\n"))
            text.pop_back();
        else
            text += std::string(2 * depth, ' ');
        text += line + "\n";
        if (line.ends_with("{")) depth++;
    }
    return text;
}

/// "int64[2] {1, 2}" as type and values, which are empty where nothing can print them.
std::pair<std::string, std::string> type_and_values(const onnx::TensorProto& value) {
    std::ostringstream printed;
    printed << value;
    const std::string text = printed.str();
    if (const std::size_t values = text.find(" {"); values != std::string::npos)
        return {text.substr(0, values), text.substr(values)};
    // ONNX's printer has raw data of four types: "uint8[2]...".
    const std::string type = text.substr(0, text.find("..."));
    const std::optional<DType> dtype = dtype_from_onnx(value.data_type());
    if (!value.has_raw_data() || !dtype || is_complex(*dtype)) return {type, ""};
    onnx::TensorProto taken = value;
    ExternalFiles nowhere({});
    std::vector<std::string> values;
    for (const Scalar& one : scalars_of(take_tensor(taken, nowhere, {})))
        values.push_back(one.is_boolean() ? std::to_string(one.to_bool()) : short_number(one));
    return {type, " {" + join(values, ",") + "}"};
}

}  // namespace

std::string text_of(const onnx::ModelProto& model) {
    constexpr std::int64_t kMostElements = 16;
    std::ostringstream text;
    text << "<ir_version: " << model.ir_version() << ", opset_import: [";
    for (const onnx::OperatorSetIdProto& import : model.opset_import())
        text << (&import == &model.opset_import(0) ? "\"" : ", \"") << import.domain() << "\" : " << import.version();
    const onnx::GraphProto& proto = model.graph();
    text << "]>\n" << proto.name() << ' ' << proto.input() << " => " << proto.output() << "\n";
    for (const onnx::TensorProto& parameter : proto.initializer()) {
        std::int64_t elements = 1;
        for (const std::int64_t size : parameter.dims()) elements *= size;
        onnx::TensorProto value = parameter;
        value.clear_name();
        if (elements > kMostElements) value.clear_raw_data();
        const auto& [type, values] = type_and_values(value);
        text << (&parameter == &proto.initializer(0) ? "<" : ",\n ") << type << " " << parameter.name();
        if (elements <= kMostElements && !values.empty()) text << " =" << values;
    }
    text << (proto.initializer().empty() ? "{\n" : ">\n{\n");
    for (const onnx::NodeProto& node : proto.node()) text << node_text(node);
    text << "}\n";
    return text.str();
}

}  // namespace whittle::onnx_proto
