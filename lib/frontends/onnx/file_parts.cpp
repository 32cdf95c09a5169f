#include "frontends/onnx/file_parts.h"

#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>

#include "base/files.h"
#include "base/words.h"
#include "frontends/onnx/order.h"
#include "frontends/onnx/proto.h"

namespace whittle {

using namespace onnx_proto;

namespace {

/// Dense, of numbers, of known sizes.
std::optional<ValueMeta> dense_meta(const onnx::TypeProto& type) {
    const auto sizes = declared_sizes(type);
    const auto dtype = sizes ? dtype_from_onnx(type.tensor_type().elem_type()) : std::nullopt;
    return dtype ? std::optional(ValueMeta::contiguous(*dtype, *sizes)) : std::nullopt;
}

bool is_external(const onnx::TensorProto& tensor) { return tensor.data_location() == onnx::TensorProto::EXTERNAL; }

/// ONNX's inference, which leaves out what it does not know; a model that it refuses keeps what it declares.
onnx::ModelProto inferred(const onnx::ModelProto& model) {
    onnx::ModelProto with_types = model;
    try {
        onnx::shape_inference::InferShapes(with_types);
    } catch (const std::exception&) {
        return model;
    }
    return with_types;
}

}  // namespace

struct FileParts::Parts {
    onnx::ModelProto model;
    std::vector<std::vector<std::string>> reads;             ///< of each node, its nested graphs included
    std::unordered_map<std::string, int> maker;              ///< of a value: the node
    std::unordered_map<std::string, onnx::TypeProto> types;  ///< of values, those of inputs included
    std::set<std::string> initializers, outputs;

    const onnx::GraphProto& graph() const { return model.graph(); }
    bool is_made_by(const std::string& value, const std::set<int>& nodes) const {
        const auto made = maker.find(value);
        return made != maker.end() && nodes.contains(made->second);
    }
};

FileParts::FileParts(const std::filesystem::path& file) : parts_(std::make_unique<Parts>()) {
    Parts& parts = *parts_;
    parse(MappedFile::open(file)->bytes(), parts.model, file.string(), "model (ModelProto)");
    sort_nodes(*parts.model.mutable_graph(), file.string());
    const onnx::GraphProto& graph = parts.graph();
    if (std::ranges::any_of(graph.initializer(), is_external))
        throw Error({file.string(), {}}, "found weights in separate files, expected all weights inside the model file");
    FreeNames names;
    for (int i = 0; i < graph.node_size(); ++i) {
        parts.reads.push_back(names.read_by(graph.node(i)));
        for (const std::string& output : graph.node(i).output())
            if (!output.empty()) parts.maker[output] = i;
    }
    for (const onnx::TensorProto& tensor : graph.initializer()) parts.initializers.insert(tensor.name());
    for (const onnx::ValueInfoProto& output : graph.output()) parts.outputs.insert(output.name());
    const onnx::ModelProto with_types = inferred(parts.model);
    for (const auto* values :
         {&with_types.graph().input(), &with_types.graph().value_info(), &with_types.graph().output()})
        for (const onnx::ValueInfoProto& value : *values)
            if (value.type().value_case() != onnx::TypeProto::VALUE_NOT_SET) parts.types[value.name()] = value.type();
}

FileParts::~FileParts() = default;

int FileParts::count() const { return parts_->graph().node_size(); }

std::string FileParts::op(int node) const {
    const onnx::NodeProto& proto = parts_->graph().node(node);
    return (proto.domain().empty() ? "" : proto.domain() + ".") + proto.op_type();
}

std::string FileParts::text(int node) const {
    const onnx::NodeProto& proto = parts_->graph().node(node);
    const std::vector<std::string> inputs(proto.input().begin(), proto.input().end()),
        outputs(proto.output().begin(), proto.output().end());
    return join(outputs) + " = " + op(node) + "(" + join(inputs) + ")";
}

void FileParts::know(const std::string& value, const ValueMeta& meta) {
    onnx::TypeProto::Tensor& type = *parts_->types[value].mutable_tensor_type();
    type.set_elem_type(info_of(meta.dtype).onnx);
    type.mutable_shape()->clear_dim();
    for (const std::int64_t size : meta.sizes) type.mutable_shape()->add_dim()->set_dim_value(size);
}

std::vector<std::vector<int>> FileParts::between(const Values& values) const {
    std::vector<int> first(parts_->reads.size());  // node of the group, as far as that is seen yet
    std::iota(first.begin(), first.end(), 0);
    for (std::size_t i = 0; i < first.size(); ++i)
        for (const std::string& value : parts_->reads[i]) {
            const auto made = parts_->maker.find(value);
            if (made == parts_->maker.end() || values(value)) continue;
            const auto [one, other] = std::minmax(first[i], first[static_cast<std::size_t>(made->second)]);
            if (const int keep = one, drop = other; keep != drop) std::ranges::replace(first, drop, keep);
        }
    std::map<int, std::vector<int>> by_first;
    for (int i = 0; i < count(); ++i) by_first[first[static_cast<std::size_t>(i)]].push_back(i);
    std::vector<std::vector<int>> groups;
    for (auto& [node, group] : by_first) groups.push_back(std::move(group));
    std::ranges::sort(groups, {}, [](const std::vector<int>& group) { return group.back(); });
    return groups;
}

std::vector<std::vector<int>> FileParts::neighbours() const {
    std::vector<std::vector<int>> adjacent(parts_->reads.size());
    for (std::size_t i = 0; i < adjacent.size(); ++i)
        for (const std::string& name : parts_->reads[i])
            if (const auto made = parts_->maker.find(name); made != parts_->maker.end()) {
                adjacent[i].push_back(made->second);
                adjacent[static_cast<std::size_t>(made->second)].push_back(static_cast<int>(i));
            }
    return adjacent;
}

std::vector<int> FileParts::legal(const std::vector<int>& nodes) const {
    std::set<int> kept;
    for (const int node : nodes) {  // in order: who reads what an illegal one makes goes with it
        const auto is_known = [&](const std::string& value) {
            return parts_->initializers.contains(value) || parts_->types.contains(value) ||
                   parts_->is_made_by(value, kept);
        };
        if (std::ranges::all_of(parts_->reads[static_cast<std::size_t>(node)], is_known)) kept.insert(node);
    }
    return {kept.begin(), kept.end()};
}

OnnxFile FileParts::write(const std::vector<int>& nodes, const std::filesystem::path& file,
                          const Values& outputs) const {
    const onnx::GraphProto& whole = parts_->graph();
    const std::set<int> kept(nodes.begin(), nodes.end());
    OnnxFile made{.model = file};
    onnx::ModelProto model;
    model.set_ir_version(parts_->model.ir_version());
    *model.mutable_opset_import() = parts_->model.opset_import();
    *model.mutable_functions() = parts_->model.functions();
    onnx::GraphProto& graph = *model.mutable_graph();
    graph.set_name(whole.name());
    const auto declare = [&](onnx::ValueInfoProto& value, const std::string& name, std::vector<OnnxFile::Value>& to) {
        value.set_name(name);
        const auto type = parts_->types.find(name);
        if (type != parts_->types.end()) *value.mutable_type() = type->second;
        to.push_back({name, dense_meta(value.type())});
    };
    std::set<std::string> read;
    for (const int node : nodes) {
        *graph.add_node() = whole.node(node);
        for (const std::string& name : parts_->reads[static_cast<std::size_t>(node)]) {
            const bool outside = !parts_->is_made_by(name, kept) && !parts_->initializers.contains(name);
            if (read.insert(name).second && outside) declare(*graph.add_input(), name, made.inputs);
        }
    }
    for (const onnx::TensorProto& tensor : whole.initializer())
        if (read.contains(tensor.name())) *graph.add_initializer() = tensor;
    const auto is_output = [&](const std::string& name) {
        return outputs ? outputs(name) : !read.contains(name) || parts_->outputs.contains(name);
    };
    for (const int node : nodes)
        for (const std::string& name : whole.node(node).output())
            if (!name.empty() && is_output(name)) declare(*graph.add_output(), name, made.outputs);
    write_file(file, model.SerializeAsString());
    return made;
}

}  // namespace whittle
