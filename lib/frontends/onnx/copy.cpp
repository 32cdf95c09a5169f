#include "frontends/onnx/copy.h"

#include "frontends/onnx/proto.h"
#include "frontends/onnx/weights.h"

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

void make_folder_of(const fs::path& file) {
    std::error_code error;  // whoever writes the file says it
    if (file.has_parent_path()) fs::create_directories(file.parent_path(), error);
}

void replace_file(const fs::path& from, const fs::path& to) {
    std::error_code error;
    std::filesystem::copy_file(from, to, fs::copy_options::overwrite_existing, error);
    if (error) throw Error({to.string(), {}}, "cannot copy " + from.string() + ": " + error.message());
}

}  // namespace

std::set<std::string> external_files(const fs::path& file) {
    std::set<std::string> locations;
    onnx::ModelProto model;
    onnx_proto::parse(MappedFile::open(file)->bytes(), model, file.string(), "model");
    add_locations(model.graph(), locations);
    return locations;
}

void copy_onnx(const fs::path& from, const fs::path& to, SharedWeights* shared) {
    const fs::path folder = from.has_parent_path() ? from.parent_path() : ".";
    onnx_proto::ExternalFiles external(folder);
    for (const std::string& location : external_files(from)) {
        external.file(location, {from.string(), "model"});  // inside the folder, or an Error
        const fs::path beside = to.parent_path() / location;
        make_folder_of(beside);
        shared ? shared->put(fs::canonical(folder / location), beside) : replace_file(folder / location, beside);
    }
    make_folder_of(to);
    replace_file(from, to);
}

}  // namespace whittle
