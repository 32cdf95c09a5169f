#include "frontends/pt2/exporter.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "frontends/pt2/codes.h"
#include "graph/schema.h"
#include "ops/core/assertions.h"
#include "ops/core/registry.h"

namespace whittle::pt2 {
namespace {

constexpr int kPositional = 1, kKeyword = 2;
constexpr std::string_view kHigherOrder = "higher_order.";

Json named(const std::string& name) { return {{"name", name}}; }
Json as_tensor(const std::string& name) { return {{"as_tensor", named(name)}}; }

/// JSON has no number for what is not finite; Python reads a text.
Json real_json(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
    return value;
}

/// As Python prints a stack: outermost first, each place with its line of text below.
std::string trace_of(const std::vector<StackFrame>& stack) {
    std::string text;
    for (auto frame = stack.rbegin(); frame != stack.rend(); ++frame) {
        text += (text.empty() ? "File \"" : "\n  File \"") + frame->file + "\", line " + std::to_string(frame->line) +
                ", in " + frame->function;
        if (!frame->text.empty()) text += "\n    " + frame->text;
    }
    return text;
}

Json metadata_of(const Node& node) {
    Json metadata = Json::object();
    if (!node.stack.empty()) metadata["stack_trace"] = trace_of(node.stack);
    // ',' and ';' are the format's own.
    if (!node.module_path.empty() && node.module_path.find_first_of(",;") == std::string::npos)
        metadata["nn_module_stack"] = "L__self__,,torch.nn.Module;L__self___" + identifier(node.module_path) + "," +
                                      node.module_path + ",torch.nn.Module";
    return metadata;
}

class Exporter {
  public:
    explicit Exporter(const Graph& graph) : graph_(graph), names_(graph.nodes.size()), read_(users(graph)) {}

    /// `lifted`: what the graph holds comes before its inputs; a nested graph holds nothing.
    Json graph(bool lifted) {
        if (graph_.dialect != "aten")
            throw Error("the graph '" + graph_.name + "' is in the dialect " + graph_.dialect +
                        ", expected the dialect aten");
        for (std::size_t id = 0; id < graph_.nodes.size(); ++id) add(static_cast<NodeId>(id), lifted);
        Json inputs = lifted_;
        inputs.insert(inputs.end(), user_.begin(), user_.end());
        return {{"inputs", std::move(inputs)},       {"outputs", std::move(outputs_)},
                {"nodes", std::move(nodes_)},        {"tensor_values", std::move(values_)},
                {"sym_int_values", Json::object()},  {"sym_bool_values", Json::object()},
                {"is_single_tensor_return", false},  {"custom_obj_values", Json::object()},
                {"sym_float_values", Json::object()}};
    }

    const Json& lifted_specs() const { return lifted_specs_; }
    const Json& user() const { return user_; }

  private:
    void value(const std::string& name, const ValueMeta& meta) { values_[name] = tensor_meta(meta); }

    void add(NodeId id, bool lifted) {
        const Node& node = graph_.nodes[static_cast<std::size_t>(id)];
        std::vector<std::string>& names = names_[static_cast<std::size_t>(id)];
        switch (node.kind) {
            case NodeKind::placeholder:
                names = {node.name};
                value(node.name, node.meta());
                user_.push_back(as_tensor(node.name));
                return;
            case NodeKind::get_attr:
                if (!lifted)
                    throw Error("the nested graph '" + graph_.name + "' holds the tensor '" + node.target +
                                "', expected the tensor as an operand of the nested graph");
                return add_attribute(node, names);
            case NodeKind::output:
                for (const Arg& result : node.args) outputs_.push_back(as_tensor(name_of(*result.node())));
                return;
            case NodeKind::call:
                if (node.target == kGetItem)
                    names = {names_[static_cast<std::size_t>(node.args.at(0).node()->id)].at(
                        static_cast<std::size_t>(std::get<std::int64_t>(node.args.at(1).value)))};
                else
                    add_call(id, node, names);
        }
    }

    void add_attribute(const Node& node, std::vector<std::string>& names) {
        std::string& known = attributes_[node.target];
        if (known.empty()) {
            known = node.name;
            const bool parameter = node.meta().requires_grad;
            value(node.name, node.meta());
            lifted_.push_back(as_tensor(node.name));
            if (parameter)
                lifted_specs_.push_back({{"parameter", {{"arg", named(node.name)}, {"parameter_name", node.target}}}});
            else
                lifted_specs_.push_back(
                    {{"buffer", {{"arg", named(node.name)}, {"buffer_name", node.target}, {"persistent", true}}}});
        }
        names = {known};
    }

    const std::string& name_of(NodeRef ref) const { return names_[static_cast<std::size_t>(ref.id)].at(0); }

    /// Of each result: that of the call which reads it, or one that says that nothing does.
    std::vector<std::string> result_names(NodeId id, const Node& node) const {
        if (node.results.size() == 1 && !reads_by_getitem(id)) return {node.name};
        std::vector<std::string> names(node.results.size());
        for (const NodeId reader : read_[static_cast<std::size_t>(id)]) {
            const Node& item = graph_.nodes[static_cast<std::size_t>(reader)];
            if (item.target != kGetItem) continue;
            std::string& name = names.at(static_cast<std::size_t>(std::get<std::int64_t>(item.args.at(1).value)));
            if (name.empty()) name = item.name;
        }
        for (std::size_t i = 0; i < names.size(); ++i)
            if (names[i].empty()) names[i] = node.name + "_unused_" + std::to_string(i);
        return names;
    }
    bool reads_by_getitem(NodeId id) const {
        const auto& readers = read_[static_cast<std::size_t>(id)];
        return std::ranges::any_of(
            readers, [&](NodeId reader) { return graph_.nodes[static_cast<std::size_t>(reader)].target == kGetItem; });
    }

    /// As torch.export has it, without a result: who reads it reads the value that it is about.
    void add_assertion(const Node& node, std::vector<std::string>& names) {
        const Schema& schema = *Registry::instance().find(node.target);
        const ArgList given = bind_arguments(schema, node);
        Json inputs = Json::array();
        for (std::size_t i = 0; i < given.size(); ++i) {
            if (schema.params[i].name == "dep_token") {
                names = {name_of(*given[i].node())};
                continue;
            }
            const std::string name = schema.params[i].name;
            inputs.push_back({{"name", name}, {"arg", argument(schema.params[i], given[i])}, {"kind", kPositional}});
        }
        nodes_.push_back({{"target", "torch.ops.aten._assert_async.msg"},
                          {"inputs", std::move(inputs)},
                          {"outputs", Json::array()},
                          {"metadata", metadata_of(node)},
                          {"is_hop_single_tensor_return", Json()}});
    }

    void add_call(NodeId id, const Node& node, std::vector<std::string>& names) {
        if (asserts(node)) return add_assertion(node, names);
        names = result_names(id, node);
        Json outputs = Json::array();
        for (std::size_t i = 0; i < names.size(); ++i) {
            value(names[i], node.results[i]);
            outputs.push_back(as_tensor(names[i]));
        }
        const bool higher_order = node.target.starts_with(kHigherOrder);
        const Schema* schema = higher_order ? nullptr : Registry::instance().find(node.target);
        if (!higher_order &&
            (!schema || node.target.find('.') == std::string::npos || node.target.starts_with("whittle.")))
            throw Error("%" + node.name + " calls " + node.target + ", expected an op of ATen");
        if (schema && schema->returns.size() == 1 && schema->returns[0].list) {
            Json list = Json::array();
            for (const std::string& name : names) list.push_back(named(name));
            outputs = Json::array({{{"as_tensors", std::move(list)}}});
        }
        std::string target = "torch.ops." + node.target;
        if (higher_order && node.target.substr(kHigherOrder.size()) == "map") target += "_impl";
        nodes_.push_back({{"target", std::move(target)},
                          {"inputs", higher_order ? operands(node) : arguments(*schema, node)},
                          {"outputs", std::move(outputs)},
                          {"metadata", metadata_of(node)},
                          {"is_hop_single_tensor_return", higher_order ? Json(false) : Json()}});
    }

    /// What is given, by the schema's names: what it leaves out has its default there, too.
    Json arguments(const Schema& schema, const Node& node) const {
        Json inputs = Json::array();
        const auto add = [&](const Param& param, const Arg& arg) {
            inputs.push_back({{"name", param.name},
                              {"arg", argument(param, arg)},
                              {"kind", param.keyword_only ? kKeyword : kPositional}});
        };
        for (std::size_t i = 0; i < node.args.size() && i < schema.params.size(); ++i)
            add(schema.params[i], node.args[i]);
        for (const Param& param : schema.params)
            if (const Arg* arg = node.kwarg(param.name)) {
                add(param, *arg);
                // One that stands behind another that is left out goes by its name.
                if (!param.keyword_only && inputs.size() <= static_cast<std::size_t>(&param - schema.params.data()))
                    inputs.back()["kind"] = kKeyword;
            }
        return inputs;
    }

    Json argument(const Param& param, const Arg& arg) const {
        if (arg.is_none()) return {{"as_none", true}};
        if (param.name == "memory_format") return {{"as_memory_format", code_of_memory_format(text_of(param, arg))}};
        if (param.name == "layout") return {{"as_layout", kStridedLayout}};
        if (param.name == "device") return {{"as_device", {{"type", "cpu"}, {"index", nullptr}}}};
        switch (param.type) {
            case ParamType::number:
                if (const auto* integer = std::get_if<std::int64_t>(&arg.value))
                    return {{"as_float", static_cast<double>(*integer)}};
                break;
            case ParamType::int_list:
                // One number stands for all.
                if (const auto* one = std::get_if<std::int64_t>(&arg.value))
                    return {{"as_ints",
                             std::vector<std::int64_t>(static_cast<std::size_t>(std::max(param.length, 1)), *one)}};
                return {{"as_ints", items<std::int64_t>(param, arg)}};
            case ParamType::bool_list:
                return {{"as_bools", items<bool>(param, arg)}};
            case ParamType::float_list:
                return {{"as_floats", items<double>(param, arg)}};
            case ParamType::text_list:
                return {{"as_strings", items<std::string>(param, arg)}};
            case ParamType::tensor_list:
                return tensors(*arg.list(), param.optional);
            default:
                break;
        }
        return host_or_tensor(arg);
    }

    const std::string& text_of(const Param& param, const Arg& arg) const {
        if (const auto* text = std::get_if<std::string>(&arg.value)) return *text;
        throw Error("the argument '" + param.name + "' is not a string");
    }

    template <class T>
    Json items(const Param& param, const Arg& arg) const {
        Json list = Json::array();
        const ArgList* const values = arg.list();
        if (!values) throw Error("the argument '" + param.name + "' is not a list");
        for (const Arg& item : *values) {
            if (const auto* value = std::get_if<T>(&item.value)) {
                if constexpr (std::is_same_v<T, double>)
                    list.push_back(real_json(*value));
                else
                    list.push_back(*value);
            } else if (const auto* integer = std::get_if<std::int64_t>(&item.value);
                       integer && std::is_same_v<T, double>) {
                list.push_back(static_cast<double>(*integer));
            } else {
                throw Error("the list '" + param.name + "' holds an element that does not have the type of the list");
            }
        }
        return list;
    }

    Json tensors(const ArgList& list, bool optional) const {
        const bool some_none = std::ranges::any_of(list, [](const Arg& item) { return item.is_none(); });
        Json all = Json::array();
        for (const Arg& item : list)
            all.push_back(!some_none && !optional ? named(name_of(*item.node()))
                          : item.is_none()        ? Json{{"as_none", true}}
                                                  : as_tensor(name_of(*item.node())));
        return {{some_none || optional ? "as_optional_tensors" : "as_tensors", std::move(all)}};
    }

    Json host_or_tensor(const Arg& arg) const {
        if (const NodeRef* ref = arg.node()) return as_tensor(name_of(*ref));
        if (const auto* integer = std::get_if<std::int64_t>(&arg.value)) return {{"as_int", *integer}};
        if (const auto* number = std::get_if<double>(&arg.value)) return {{"as_float", real_json(*number)}};
        if (const auto* truth = std::get_if<bool>(&arg.value)) return {{"as_bool", *truth}};
        if (const auto* text = std::get_if<std::string>(&arg.value)) return {{"as_string", *text}};
        if (const auto* dtype = std::get_if<DType>(&arg.value)) return {{"as_scalar_type", code_of(*dtype)}};
        throw Error("found a list as an argument, expected a single value");
    }

    /// Of a higher-order op: no schema says what they are.
    Json operands(const Node& node) const {
        Json inputs = Json::array();
        for (const Arg& arg : node.args) {
            Json written;
            if (const auto* body = std::get_if<GraphRef>(&arg.value))
                written = {
                    {"as_graph",
                     {{"name", body->name}, {"graph", Exporter(*graph_.subgraphs.at(body->name)).graph(false)}}}};
            else if (const ArgList* list = arg.list())
                written = tensors(*list, false);
            else
                written = host_or_tensor(arg);
            inputs.push_back({{"name", ""}, {"arg", std::move(written)}, {"kind", kPositional}});
        }
        return inputs;
    }

    const Graph& graph_;
    std::vector<std::vector<std::string>> names_;  ///< of each node's results
    const std::vector<std::vector<NodeId>> read_;
    std::map<std::string, std::string> attributes_;  ///< the first node of each
    Json lifted_ = Json::array(), lifted_specs_ = Json::array(), user_ = Json::array(), outputs_ = Json::array(),
         nodes_ = Json::array(), values_ = Json::object();
};

// torch.utils._pytree's form: a leaf, and a tuple of others.
Json leaf() { return {{"type", nullptr}, {"context", nullptr}, {"children_spec", Json::array()}}; }
Json tuple(Json children) {
    return {{"type", "builtins.tuple"}, {"context", "null"}, {"children_spec", std::move(children)}};
}
std::string spec(Json tree) { return Json::array({1, std::move(tree)}).dump(); }

/// Called with all inputs by position; returns a tuple, or one tensor.
Json calling(const Graph& graph) {
    Json inputs = Json::array(), results = Json::array(), names = Json::array();
    for (const NodeId id : graph.placeholders()) {
        inputs.push_back(leaf());
        names.push_back(graph.node({id}).name);
    }
    for (std::size_t i = 0; i < graph.outputs().size(); ++i) results.push_back(leaf());
    const Json keywords = {{"type", "builtins.dict"}, {"context", "[]"}, {"children_spec", Json::array()}};
    return {{"fqn", ""},
            {"signature",
             {{"inputs", Json::array()},
              {"outputs", Json::array()},
              {"in_spec", spec(tuple(Json::array({tuple(std::move(inputs)), keywords})))},
              {"out_spec", spec(results.size() == 1 ? leaf() : tuple(std::move(results)))},
              {"forward_arg_names", std::move(names)}}}};
}

}  // namespace

Json tensor_meta(const ValueMeta& meta) {
    const auto list = [](const auto& values) {
        Json all = Json::array();
        for (const std::int64_t value : values) all.push_back({{"as_int", value}});
        return all;
    };
    return {{"dtype", code_of(meta.dtype)},
            {"sizes", list(meta.sizes)},
            {"requires_grad", meta.requires_grad},
            {"device", {{"type", "cpu"}, {"index", nullptr}}},
            {"strides", list(meta.strides)},
            {"storage_offset", {{"as_int", meta.storage_offset}}},
            {"layout", kStridedLayout}};
}

Json program_of(const Graph& graph) {
    Exporter exporter(graph);
    Json written = exporter.graph(true);
    Json inputs = exporter.lifted_specs(), outputs = Json::array();
    for (const Json& input : exporter.user()) inputs.push_back({{"user_input", {{"arg", input}}}});
    for (const Json& output : written.at("outputs")) outputs.push_back({{"user_output", {{"arg", output}}}});
    return {{"graph_module",
             {{"graph", std::move(written)},
              {"signature", {{"input_specs", std::move(inputs)}, {"output_specs", std::move(outputs)}}},
              {"module_call_graph", Json::array({calling(graph)})},
              {"metadata", Json::object()},
              {"treespec_namedtuple_fields", Json::object()}}},
            {"opset_version", {{"aten", 10}}},
            {"range_constraints", Json::object()},
            {"schema_version", {{"major", 8}, {"minor", 14}}},
            {"verifiers", Json::array({"TRAINING"})},
            {"torch_version", "2.9.0"},
            {"guards_code", Json::array()}};
}

}  // namespace whittle::pt2
