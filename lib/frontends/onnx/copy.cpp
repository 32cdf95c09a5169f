#include "frontends/onnx/copy.h"

#include <set>
#include <string>

#include "frontends/onnx/proto.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

void add_locations(const onnx::TensorProto& tensor, std::set<std::string>& locations) {
    if (tensor.data_location() != onnx::TensorProto::EXTERNAL) return;
    for (const onnx::StringStringEntryProto& entry : tensor.external_data())
        if (entry.key() == "location") locations.insert(entry.value());
}

void add_locations(const onnx::GraphProto& graph, std::set<std::string>& locations) {
    for (const onnx::TensorProto& tensor : graph.initializer()) add_locations(tensor, locations);
    for (const onnx::NodeProto& node : graph.node())
        for (const onnx::AttributeProto& attribute : node.attribute()) {
            if (attribute.has_t()) add_locations(attribute.t(), locations);
            if (attribute.has_g()) add_locations(attribute.g(), locations);
            for (const onnx::TensorProto& tensor : attribute.tensors()) add_locations(tensor, locations);
            for (const onnx::GraphProto& nested : attribute.graphs()) add_locations(nested, locations);
        }
}

void replace_file(const fs::path& from, const fs::path& to) {
    std::error_code error;
    if (to.has_parent_path()) fs::create_directories(to.parent_path(), error);
    std::filesystem::copy_file(from, to, fs::copy_options::overwrite_existing, error);
    if (error) throw Error({to.string(), {}}, "cannot copy " + from.string() + ": " + error.message());
}

}  // namespace

void copy_onnx(const fs::path& from, const fs::path& to) {
    std::set<std::string> locations;
    {
        onnx::ModelProto model;
        onnx_proto::parse(MappedFile::open(from)->bytes(), model, from.string(), "model");
        add_locations(model.graph(), locations);
    }
    const fs::path folder = from.has_parent_path() ? from.parent_path() : ".";
    onnx_proto::ExternalFiles external(folder);
    for (const std::string& location : locations) {
        external.file(location, {from.string(), "model"});  // inside the folder, or an Error
        replace_file(folder / location, to.parent_path() / location);
    }
    replace_file(from, to);
}

}  // namespace whittle
