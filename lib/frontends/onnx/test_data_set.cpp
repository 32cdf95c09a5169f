// Folders of files that hold the inputs and outputs of a test.
#include <onnx/onnx_pb.h>

#include <onnx/onnx-data.pb.h>  // needs the macros of the one above

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "frontends/onnx/proto.h"
#include "frontends/onnx/tensor_proto.h"

namespace whittle {
namespace {

DeclaredValue declared_value(const onnx::ValueInfoProto& value) {
    const bool optional = value.type().has_optional_type();
    const onnx::TypeProto& held = optional ? value.type().optional_type().elem_type() : value.type();
    return {value.name(), optional, held.has_sequence_type()};
}

NamedTensor named(std::string name, NamedTensor tensor) {
    tensor.name = std::move(name);
    return tensor;
}

/// The tensors of one file, named after the value; nothing for an optional that holds nothing.
std::optional<std::vector<NamedTensor>> load_value(const std::filesystem::path& path, const DeclaredValue& declared) {
    const std::string file = path.string();
    const auto mapped = MappedFile::open(path);
    onnx_proto::ExternalFiles none({});
    onnx::OptionalProto optional;
    onnx::SequenceProto sequence;
    if (declared.optional) {
        onnx_proto::parse(mapped->bytes(), optional, file, "optional (OptionalProto)");
        if (optional.has_tensor_value() && !declared.sequence)
            return std::vector<NamedTensor>{
                named(declared.name, onnx_proto::take_any_tensor(*optional.mutable_tensor_value(), none, {file, {}}))};
        if (!optional.has_sequence_value() || !declared.sequence) return std::nullopt;
        sequence.Swap(optional.mutable_sequence_value());
    } else {
        onnx_proto::parse(mapped->bytes(), sequence, file, "sequence (SequenceProto)");
    }
    std::vector<NamedTensor> tensors;
    for (onnx::TensorProto& tensor : *sequence.mutable_tensor_values()) {
        const std::string position = std::to_string(tensors.size());
        tensors.push_back(named(declared.name + "." + position,
                                onnx_proto::take_any_tensor(tensor, none, {file, "element " + position})));
    }
    if (sequence.elem_type() != onnx::SequenceProto::TENSOR)
        throw Error({file, {}},
                    "found a sequence whose elements are not tensors, expected a sequence of dense tensors");
    return tensors;
}

/// Files of the name PREFIX_*.pb in the folder.
std::size_t count_files(const std::filesystem::path& folder, const std::string& prefix) {
    std::size_t count = 0;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error))
        count += entry.path().extension() == ".pb" && entry.path().filename().string().starts_with(prefix + "_");
    return count;
}

struct Numbered {
    std::vector<NamedTensor> tensors = {};
    std::map<std::string, std::optional<std::size_t>> lengths = {};
};

/// PREFIX_0.pb, PREFIX_1.pb … as long as they exist. Throws Error where there are later ones.
Numbered load_numbered(const std::filesystem::path& folder, const std::string& prefix,
                       const std::vector<DeclaredValue>& declared) {
    Numbered loaded;
    std::size_t count = 0;
    for (;; ++count) {
        const auto file = folder / (prefix + "_" + std::to_string(count) + ".pb");
        if (!std::filesystem::exists(file)) break;
        if (count >= declared.size() || (!declared[count].optional && !declared[count].sequence)) {
            loaded.tensors.push_back(load_tensor_proto(file));
            continue;
        }
        auto value = load_value(file, declared[count]);
        loaded.lengths[declared[count].name] = value ? std::optional(value->size()) : std::nullopt;
        if (value) std::ranges::move(*value, std::back_inserter(loaded.tensors));
    }
    if (count_files(folder, prefix) != count)
        throw Error({folder.string(), {}},
                    "found no " + prefix + "_" + std::to_string(count) + ".pb, but files with higher numbers",
                    "number the files from 0 without gaps");
    return loaded;
}

}  // namespace

DeclaredValues onnx_proto::declared_values(const onnx::GraphProto& graph) {
    DeclaredValues declared;
    std::set<std::string> constants;
    for (const onnx::TensorProto& initializer : graph.initializer()) constants.insert(initializer.name());
    for (const onnx::ValueInfoProto& input : graph.input())
        if (!constants.contains(input.name())) declared.inputs.push_back(declared_value(input));
    for (const onnx::ValueInfoProto& output : graph.output()) declared.outputs.push_back(declared_value(output));
    return declared;
}

DeclaredValues declared_values(const std::filesystem::path& model) {
    onnx::ModelProto proto;
    onnx_proto::parse(MappedFile::open(model)->bytes(), proto, model.string(), "model");
    return onnx_proto::declared_values(proto.graph());
}

TestDataSet load_test_data_set(const std::filesystem::path& folder, const DeclaredValues& declared) {
    if (count_files(folder, "input") + count_files(folder, "output") == 0)
        throw Error({folder.string(), {}}, "found neither input_0.pb nor output_0.pb, expected an ONNX test data set",
                    "put input_0.pb, input_1.pb … into the folder, and output_0.pb … if the outputs are known");
    Numbered inputs = load_numbered(folder, "input", declared.inputs);
    Numbered outputs = load_numbered(folder, "output", declared.outputs);
    return {std::move(inputs.tensors), std::move(outputs.tensors), std::move(inputs.lengths)};
}

}  // namespace whittle
