#include "frontends/onnx/load.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/words.h"
#include "frontends/onnx/importer.h"
#include "frontends/onnx/order.h"
#include "frontends/onnx/prepare.h"
#include "frontends/onnx/standard.h"
#include "graph/dynamic_dims.h"
#include "graph/verify.h"
#include "ops/onnx/control.h"
#include "ops/onnx/sequence.h"
#include "tensor/opaque_types.h"

namespace whittle {
namespace {

using onnx_proto::in_quotes;
using onnx_proto::Session;

/// Files of an intermediate representation before this one do not say which opsets they use.
constexpr std::int64_t kMinIrVersion = 3;

void check_model(const onnx::ModelProto& model, Session& session) {
    const Location where{session.file, "model"};
    if (model.ir_version() < kMinIrVersion)
        throw Error(where,
                    "found ir_version " + std::to_string(model.ir_version()) + ", expected at least " +
                        std::to_string(kMinIrVersion),
                    "check that the file is an ONNX model");
    if (!model.has_graph())
        throw Error(where, "found no graph in the model, expected a graph", "check that the file is an ONNX model");
    for (const onnx::OperatorSetIdProto& opset : model.opset_import()) {
        const std::string domain =
            onnx_proto::domain_of(onnx_proto::checked_text(opset.domain(), where, "an imported domain"));
        const auto [known, added] = session.opsets.emplace(domain, opset.version());
        if (!added && known->second != opset.version())
            throw Error(where, "found two versions of the domain " + in_quotes(domain) + " (" +
                                   std::to_string(known->second) + " and " + std::to_string(opset.version()) +
                                   "), expected one version");
    }
    const auto standard = session.opsets.find("");
    const std::string expected = "expected opset 1 to " + std::to_string(kMaxOpset) + " of ai.onnx";
    if (standard == session.opsets.end()) {
        if (session.opsets.empty()) throw Error(where, "found no opset, " + expected);
        return;  // a node of ai.onnx names the missing import
    }
    if (standard->second < 1 || standard->second > kMaxOpset)
        throw Error(where, "found opset " + std::to_string(standard->second) + " of ai.onnx, " + expected,
                    "convert the model with onnx.version_converter");
}

/// Sparse initializers anywhere: refused, before their names would have to be understood.
void refuse_sparse(const onnx::GraphProto& graph, const std::string& file) {
    if (graph.sparse_initializer_size() > 0)
        throw Error({file, "initializer " + in_quotes(graph.sparse_initializer(0).values().name())},
                    "found a sparse tensor, expected a dense tensor");
    for (const onnx::NodeProto& node : graph.node())
        for (const onnx::AttributeProto& attribute : node.attribute())
            if (attribute.has_g()) refuse_sparse(attribute.g(), file);
}

std::string declared(const onnx::TypeProto& type) {
    std::string text = "[";
    for (const auto& dim : type.tensor_type().shape().dim())
        text += (text.size() > 1 ? ", " : "") + (dim.has_dim_value()   ? std::to_string(dim.dim_value())
                                                 : dim.has_dim_param() ? in_quotes(dim.dim_param())
                                                                       : "?");
    return text + "]";
}

/// Binds the named dimensions of an input to the sizes that the caller gives.
void bind_dims(const onnx::ValueInfoProto& input, const Sizes& given, Session& session, const Location& where) {
    const auto& type = input.type().tensor_type();
    if (!type.has_shape()) return;
    const auto misfit = [&] {
        return Error(where, "found the given sizes " + to_string(given) + ", expected " + declared(input.type()));
    };
    if (static_cast<std::size_t>(type.shape().dim_size()) != given.size()) throw misfit();
    for (std::size_t i = 0; i < given.size(); ++i) {
        const auto& dim = type.shape().dim(static_cast<int>(i));
        if (dim.has_dim_value() && dim.dim_value() >= 0 && dim.dim_value() != given[i]) throw misfit();
        if (!dim.has_dim_param() || dim.dim_param().empty()) continue;
        const auto [known, added] = session.dims.emplace(dim.dim_param(), given[i]);
        if (!added && known->second != given[i])
            throw Error(where, "found the given size " + std::to_string(given[i]) + " for the dimension " +
                                   in_quotes(dim.dim_param()) + ", expected " + std::to_string(known->second) +
                                   ", the size of the same dimension in another input");
    }
}

bool is_dynamic(const onnx::TensorShapeProto_Dimension& dim) {  // some exporters write -1
    return !dim.has_dim_value() || dim.dim_value() < 0;
}

/// What the caller calls a dynamic dimension: its own name, or its place, "x[2]".
std::string dim_name(const onnx::ValueInfoProto& input, int position) {
    const auto& dim = input.type().tensor_type().shape().dim(position);
    return dim.dim_param().empty() ? input.name() + '[' + std::to_string(position) + ']' : dim.dim_param();
}

/// The declared sizes; dynamic dimensions that nothing decides are assumed. Nothing when not even the rank is declared.
std::optional<Sizes> decided_sizes(const onnx::ValueInfoProto& input, Session& session) {
    const auto& type = input.type().tensor_type();
    if (!type.has_shape()) return std::nullopt;
    Sizes sizes;
    for (int i = 0; i < type.shape().dim_size(); ++i) {
        const auto& dim = type.shape().dim(i);
        if (!is_dynamic(dim)) {
            sizes.push_back(dim.dim_value());
            continue;
        }
        const auto [size, assumed] = session.dims.emplace(dim_name(input, i), session.options.default_dim);
        if (assumed) session.assumed_dims.push_back(size->first);
        sizes.push_back(size->second);
    }
    return sizes;
}

/// "a map": what is declared for an input that is not a tensor.
std::string kind_of(const onnx::TypeProto& type) {
    return type.has_map_type() ? "a map" : type.has_sparse_tensor_type() ? "a sparse tensor" : "no declared type";
}

void check_is_tensor(const onnx::ValueInfoProto& input, const std::string& file) {
    if (!input.type().has_tensor_type())
        throw Error(
            {file, "input " + in_quotes(input.name())},
            "found " + kind_of(input.type()) + ", expected a dense tensor, or a sequence or optional of dense tensors");
}

ValueMeta input_meta(const onnx::ValueInfoProto& input, const Sizes* given, Session& session) {
    const Location where{session.file, "input " + in_quotes(input.name())};
    check_is_tensor(input, session.file);
    const int code = input.type().tensor_type().elem_type();
    const auto dtype = dtype_from_onnx(code);
    const auto opaque = opaque_type_from_onnx(code);
    if (!dtype && !opaque)
        throw Error(where, "found elements of type " + onnx_proto::data_type_name(code) + ", expected " +
                               dtype_names(&DTypeInfo::onnx_name));
    std::optional<Sizes> sizes = given ? std::optional(*given) : decided_sizes(input, session);
    if (!sizes)
        throw Error(where, "found an input without a shape, expected a shape",
                    "give the sizes with --input NAME=DTYPE[SIZES]");
    try {
        element_count(*sizes);
        return dtype ? ValueMeta::contiguous(*dtype, std::move(*sizes)) : opaque_meta(opaque->name, std::move(*sizes));
    } catch (Error& error) {
        error.locate(where);
        throw;
    }
}

std::vector<std::string> dynamic_dims(const std::vector<const onnx::ValueInfoProto*>& inputs) {
    std::vector<std::string> names;
    for (const onnx::ValueInfoProto* input : inputs)
        for (int i = 0; i < input->type().tensor_type().shape().dim_size(); ++i)
            if (is_dynamic(input->type().tensor_type().shape().dim(i))) names.push_back(dim_name(*input, i));
    return names;
}

/// The sizes that the caller gives, alone or with values, by name.
std::map<std::string, Sizes> given_sizes(const std::vector<const onnx::ValueInfoProto*>& inputs,
                                         const LoadOptions& options) {
    std::map<std::string, Sizes> given = options.input_sizes;
    for (std::size_t i = 0; i < options.values.size(); ++i) {
        const InputValue& value = options.values[i];
        if (!value.name.empty())
            given[value.name] = value.sizes();
        else if (i < inputs.size())
            given[inputs[i]->name()] = value.sizes();
    }
    return given;
}

/// Metas of the inputs, dynamic dimensions decided.
std::vector<ValueMeta> input_metas(const std::vector<const onnx::ValueInfoProto*>& inputs, Session& session) {
    const auto given = given_sizes(inputs, session.options);
    for (const auto& [name, sizes] : given) {
        bool found = false;
        std::vector<std::string> names;
        for (const onnx::ValueInfoProto* input : inputs) {
            names.push_back(input->name());
            if (input->name() != name) continue;
            bind_dims(*input, sizes, session, {session.file, "input " + in_quotes(name)});
            found = true;
        }
        if (!found)
            throw Error({session.file, {}},
                        "the model has no input " + in_quotes(name) + "; its inputs are " + join(names),
                        did_you_mean(name, names));
    }
    check_dims(session.file, session.options.dims, dynamic_dims(inputs));
    std::vector<ValueMeta> metas;
    for (const onnx::ValueInfoProto* input : inputs) {
        const auto sizes = given.find(input->name());
        metas.push_back(input_meta(*input, sizes == given.end() ? nullptr : &sizes->second, session));
    }
    return metas;
}

/// `value` of the input, if the caller gave one.
const Tensor* given_value(const std::vector<std::string>& inputs, const std::string& name, const LoadOptions& options) {
    for (std::size_t i = 0; i < options.values.size(); ++i) {
        const InputValue& value = options.values[i];
        if (value.opaque) continue;  // nobody here knows what it says
        if (value.name == name || (value.name.empty() && i < inputs.size() && inputs[i] == name)) return &value.value;
    }
    return nullptr;
}

bool reads_input(const Graph& graph, const std::string& name) {
    return std::ranges::any_of(graph.placeholders(), [&](NodeId id) { return graph.node({id}).target == name; });
}

std::string times(std::size_t count) { return count > 1 ? " (" + std::to_string(count) + " times)" : std::string(); }

/// LoadedModel::rewritten, of what became of nodes.
std::vector<std::string> rewritten_nodes(const std::map<std::string, std::size_t>& folded) {
    std::vector<std::string> texts;
    for (const auto& [op, count] : folded)
        texts.push_back(op +
                        (onnx_sequence_op(op)  ? " was resolved into tensors"
                         : onnx_branches(op)   ? " was replaced by the branch that a constant chooses"
                         : onnx_passing_op(op) ? " was unrolled"
                                               : " was computed while reading the file (constant)") +
                        times(count));
    return texts;
}

/// Reads the model with the values of the inputs that session.known names.
LoadedModel load_once(onnx::ModelProto& model, Session& session, std::vector<std::string>& inputs) {
    const std::string& file = session.file;
    session.dims = session.options.dims;
    LoadedModel loaded;
    loaded.declared = onnx_proto::declared_values(model.graph());
    if (model.functions_size() > 0) loaded.rewritten.push_back("function calls were inlined");
    onnx_proto::inline_functions(model, file);
    check_model(model, session);
    onnx::GraphProto& proto = *model.mutable_graph();
    refuse_sparse(proto, file);
    onnx_proto::list_inputs(proto, session.options, file);
    onnx_proto::sort_nodes(proto, file);
    if (const auto standard = session.opsets.find("");
        standard != session.opsets.end() && standard->second < kMinOpset) {
        onnx_proto::upgrade(proto, standard->second, kMinOpset, file);
        loaded.rewritten.push_back("opset " + std::to_string(standard->second) + " was converted to opset " +
                                   std::to_string(kMinOpset));
        standard->second = kMinOpset;
    }

    onnx_proto::GraphImporter importer(session, proto);
    const auto declared = importer.inputs();
    for (const onnx::ValueInfoProto* input : declared) inputs.push_back(input->name());
    const std::vector<ValueMeta> metas = input_metas(declared, session);
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (const auto value = session.known.values.find(inputs[i]);
            value != session.known.values.end() && value->second.dtype() != metas[i].dtype)
            throw Error({file, "input " + in_quotes(inputs[i])}, "found a value of type " +
                                                                     std::string(name(value->second.dtype())) +
                                                                     ", expected " + std::string(name(metas[i].dtype)));
    importer.import(metas);
    loaded.graph = importer.finish(proto.name().empty() ? "graph" : identifier(proto.name()));
    loaded.breaks = std::move(session.breaks);
    loaded.unknown = std::move(session.unknown);
    for (std::string& text : rewritten_nodes(session.folded)) loaded.rewritten.push_back(std::move(text));
    for (const auto& [name, size] : session.dims)
        loaded.rewritten.push_back("the dimension " + in_quotes(name) + " is " + std::to_string(size));
    loaded.folded = std::move(session.folded);
    loaded.assumed_dims = std::move(session.assumed_dims);
    try {
        const bool all_known = loaded.breaks.empty() && !session.opaque_calls;
        verify(loaded.graph, all_known ? Stage::registered : Stage::captured, Registry::instance());
    } catch (Error& error) {
        error.locate({file, error.where().position});
        throw;
    }
    return loaded;
}

}  // namespace

LoadedModel load_onnx_bytes(std::span<const std::byte> bytes, const std::string& file,
                            const std::filesystem::path& folder, const LoadOptions& options) {
    onnx_proto::KnownInputs known;
    std::set<std::string> written_out;
    for (;;) {
        onnx::ModelProto model;
        onnx_proto::parse(bytes, model, file, "model");
        Session session{file, options, onnx_proto::ExternalFiles(folder)};
        session.known = known;
        session.written_out = written_out;
        std::vector<std::string> inputs;
        const auto more_known = [&] {
            bool more = false;
            // What is known for some calls already, and wanted for others, is a constant for all.
            const auto add = [&](const std::string& name, bool for_all) {
                const Tensor* value = given_value(inputs, name, options);
                if (!value) return false;
                const bool fresh = known.values.emplace(name, *value).second;
                more |= fresh;
                if (for_all || !fresh) more |= known.constants.insert(name).second;
                return fresh;
            };
            for (const std::string& name : session.wanted) add(name, true);
            for (auto& [name, calls] : session.wanted_by)
                if (add(name, false)) known.readers.merge(calls);
            return more;
        };
        try {
            LoadedModel loaded = load_once(model, session, inputs);
            if (more_known() || (!loaded.breaks.empty() && known.make_constants())) continue;
            loaded.inputs = std::move(inputs);
            for (const auto& [name, value] : known.values) {
                const bool stays = reads_input(loaded.graph, name);
                if (!stays) loaded.constants.push_back(name);
                loaded.rewritten.push_back((stays ? "the value of the input " + in_quotes(name) + " was used"
                                                  : "the input " + in_quotes(name) + " became a constant") +
                                           ", because sizes depend on " + (stays ? "it" : "the value of this input"));
            }
            return loaded;
        } catch (const Error&) {
            const bool more_written_out = session.written_out.size() > written_out.size();
            written_out = std::move(session.written_out);
            if (!more_known() && !more_written_out && !known.make_constants()) throw;
        }
    }
}

void check_onnx_inputs(const std::filesystem::path& path) {
    onnx::ModelProto model;
    onnx_proto::parse(MappedFile::open(path)->bytes(), model, path.string(), "model");
    for (const onnx::ValueInfoProto& input : model.graph().input())
        if (!input.type().has_sequence_type() && !input.type().has_optional_type())
            check_is_tensor(input, path.string());
}

LoadedModel load_onnx_with_breaks(const std::filesystem::path& path, const LoadOptions& options) {
    const auto mapped = MappedFile::open(path);
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
    return load_onnx_bytes(mapped->bytes(), path.string(), folder, options);
}

Graph load_onnx(const std::filesystem::path& path, const LoadOptions& options) {
    WHITTLE_CHECK(!options.keep_unknown, "load_onnx() cannot report breaks");
    return load_onnx_with_breaks(path, options).graph;
}

}  // namespace whittle
