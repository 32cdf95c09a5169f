#include "printers/cpp_source.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/words.h"
#include "expr/group.h"
#include "graph/text.h"
#include "graph/value_ref.h"
#include "ops/core/registry.h"
#include "printers/api_spelling.h"
#include "text/language.h"

namespace whittle::printers {
namespace {

using language::api_cpp, language::cpp;

bool in_api(const RegisteredOp* op) { return op && op->name.starts_with("aten."); }

bool has_code(const std::string& target) {
    const RegisteredOp* op = Registry::instance().op(target);
    return in_api(op) || (op && op->def->higher_order);
}

std::string unsupported(const Node& call) { return "__unsupported(" + cpp.quoted(call.target) + ")"; }

class Writer {
  public:
    /// `name`: of the function being written; those of nested graphs follow from it.
    Writer(const Graph& graph, std::string name) : graph_(graph), name_(std::move(name)) {}

    std::string call(const Node& node) const {
        const RegisteredOp* op = Registry::instance().op(node.target);
        if (op && op->def->higher_order) return higher_order(node, *op);
        if (!in_api(op)) return unsupported(node);
        const ArgList bound = bind_arguments(op->schema, node);
        std::vector<std::string> words;
        for (std::size_t i = 0; i < bound.size(); ++i)
            if (const Param& param = op->schema.params[i]; !api_leaves_out(param))
                words.push_back(argument(param, bound[i]));
        return "whittle::" + node.target.substr(5, node.target.find('.', 5) - 5) + '(' + join(words) + ')';
    }

    /// The function of a nested graph.
    std::string nested(const std::string& graph) const { return name_ + "_" + identifier(graph); }

  private:
    /// cond(), while_loop(), map(), scan(): each nested graph is a function of a list of tensors, what it captured
    /// included.
    std::string higher_order(const Node& node, const RegisteredOp& op) const {
        const ArgList bound = bind_arguments(op.schema, node);
        std::string text, captured;
        std::size_t given = 0;
        for (std::size_t i = 0; i < bound.size(); ++i) {
            const ArgList* list = bound[i].list();
            if (!list) continue;
            const bool around = op.schema.params[i].name == "captured";
            for (const Arg& element : *list)
                if (around) captured += ", " + of_node(element);
            if (!around) given += list->size();
        }
        for (std::size_t i = 0; i < bound.size(); ++i) {
            if (op.schema.params[i].name == "captured") continue;
            text += text.empty() ? "" : ", ";
            if (const auto* graph = std::get_if<GraphRef>(&bound[i].value)) {
                std::string arguments;
                for (std::size_t k = 0; k < given; ++k)
                    arguments += (k > 0 ? ", __of.at(" : "__of.at(") + std::to_string(k) + ')';
                if (given == 0 && !captured.empty()) captured.erase(0, 2);
                const bool one =
                    graph_.subgraphs.at(graph->name)->outputs().size() == 1 && op.schema.params[i].name == "cond_graph";
                text += "[&]([[maybe_unused]] const Values& __of) { return " + nested(graph->name) + '(' + arguments +
                        captured + ')' + (one ? ".at(0)" : "") + "; }";
            } else {
                text += argument(op.schema.params[i], bound[i]);
            }
        }
        if (op.schema.param("init"))  // scan() itself takes a function of two lists
            return "whittle::api::detail::run_" + op.schema.name + '(' + text + ", nullptr)";
        return "whittle::" + op.schema.name + '(' + text + ')';
    }

    std::string of_node(const Arg& arg) const { return variable(graph_.node(*arg.node()).name); }

    /// Typed as the parameter is, so that the overload is the one that was recorded.
    std::string argument(const Param& param, const Arg& arg) const {
        if (arg.node()) return of_node(arg);
        if (arg.is_none()) return none(param);
        switch (param.type) {
            case ParamType::tensor:  // a wrapped number
            case ParamType::scalar:
                return "whittle::Scalar(" + literal(arg) + ')';
            case ParamType::integer:
                return "std::int64_t{" + literal(arg) + '}';
            case ParamType::number:
                return std::holds_alternative<std::int64_t>(arg.value) ? literal(arg) + ".0" : literal(arg);
            case ParamType::int_list:
                return "whittle::IntList" + braces(arg);
            case ParamType::float_list:
                return "whittle::FloatList" + braces(arg);
            case ParamType::bool_list:
                return "std::vector<bool>" + braces(arg);
            case ParamType::tensor_list:
                return (param.optional ? "std::vector<whittle::OptionalTensor>" : "whittle::TensorList") + braces(arg);
            case ParamType::text:
                return "std::string(" + literal(arg) + ')';
            default:
                return literal(arg);
        }
    }

    static std::string none(const Param& param) {
        switch (param.type) {
            case ParamType::tensor:
                return "whittle::OptionalTensor()";
            case ParamType::int_list:
                return "whittle::IntList(std::nullopt)";
            case ParamType::float_list:
                return "whittle::FloatList(std::nullopt)";
            case ParamType::scalar:
                return "std::optional<whittle::Scalar>()";
            case ParamType::dtype:
                return "std::optional<whittle::ScalarType>()";
            case ParamType::integer:
                return "std::optional<std::int64_t>()";
            case ParamType::number:
                return "std::optional<double>()";
            case ParamType::text:
                return "std::optional<std::string>()";
            default:
                return "std::nullopt";
        }
    }

    std::string literal(const Arg& arg) const {
        if (arg.node()) return of_node(arg);
        if (arg.is_none()) return "whittle::OptionalTensor()";
        if (const auto* i = std::get_if<std::int64_t>(&arg.value)) return cpp.integer(*i);
        if (const auto* d = std::get_if<double>(&arg.value)) return api_cpp.number(*d);
        if (const auto* b = std::get_if<bool>(&arg.value)) return cpp.boolean(*b);
        if (const auto* s = std::get_if<std::string>(&arg.value)) return cpp.quoted(*s);
        if (const auto* t = std::get_if<DType>(&arg.value)) return "whittle::" + api_cpp.type(*t);
        throw Error({"", "graph " + graph_.name},
                    "found a nested graph as an argument, expected only calls without nested graphs");
    }

    std::string braces(const Arg& arg) const {
        const ArgList* list = arg.list();
        const auto of = [&](const Arg& element) { return literal(element); };
        return '{' + (list ? join(*list, of) : literal(arg)) + '}';
    }

    const Graph& graph_;
    const std::string name_;
};

/// What the values are, and the user's line that asked for them.
std::string remark(const Node& node) {
    std::string text;
    for (const ValueMeta& meta : node.results) text += (text.empty() ? "  // " : ", ") + print(meta);
    if (node.stack.empty()) return text;
    const StackFrame& top = node.stack.front();
    const std::string file = std::filesystem::path(top.file).filename().string();
    return text + (text.empty() ? "  // " : "; ") + file + ':' + std::to_string(top.line) +
           (top.text.empty() ? "" : ": " + Language::remark(top.text));
}

/// Whether the API returns a list where the graph has one value: of one chunk, or of an operation with nested graphs.
bool is_list_of_one(const Graph& graph, const std::vector<NodeId>& readers, const Node& node) {
    const RegisteredOp* op = Registry::instance().op(node.target);
    const bool list = op && op->schema.returns.size() == 1 && op->schema.returns[0].list;
    const auto takes_item = [&](NodeId id) { return is_getitem(graph.node({id})); };
    return list && node.results.size() == 1 && std::ranges::none_of(readers, takes_item);
}

bool has_several(const Node& node) {
    const RegisteredOp* op = Registry::instance().op(node.target);
    return node.results.size() != 1 || (op && op->schema.returns.size() == 1 && op->schema.returns[0].list);
}

/// How result `i` of a call is read: of a list, or of a tuple.
std::string item(const Graph& graph, ValueRef value) {
    const Node& producer = graph.node({value.node});
    const std::string position = std::to_string(value.index);
    const RegisteredOp* op = Registry::instance().op(producer.target);
    if (producer.kind == NodeKind::call && !has_code(producer.target)) return unsupported(producer);
    const bool list = op && op->schema.returns.size() == 1;
    return list ? variable(producer.name) + ".at(" + position + ')'
                : "std::get<" + position + ">(" + variable(producer.name) + ')';
}

}  // namespace

std::string variable(const std::string& node_name) {
    return expr::is_identifier(node_name) ? node_name : identifier(node_name) + '_';
}

std::string to_cpp(const Graph& graph, const std::string& name) {
    if (graph.dialect != "aten")
        throw Error({"", "graph " + graph.name}, "found the dialect " + graph.dialect + ", expected aten");
    const Writer writer(graph, name);
    const auto readers = users(graph);
    std::string functions, parameters, body;
    for (const auto& [key, nested] : graph.subgraphs) functions += to_cpp(*nested, writer.nested(key)) + '\n';
    for (const NodeId id : graph.placeholders()) {
        const Node& node = graph.node({id});
        parameters += (parameters.empty() ? "" : ", ") +
                      ((readers.at(static_cast<std::size_t>(id)).empty() ? "[[maybe_unused]] " : "") +
                       ("const Tensor& " + variable(node.name)));
        body += "    // " + variable(node.name) + ": " + print(node.meta()) +
                (node.target.empty() || node.target == node.name ? "" : ", " + Language::remark(node.target)) + '\n';
    }
    if (!graph.attributes.empty())
        parameters += (parameters.empty() ? "" : ", ") + std::string("const Parameters& parameters");
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const Node& node = graph.nodes[i];
        if (node.kind == NodeKind::get_attr)
            body += "    const Tensor& " + variable(node.name) + " = parameters.at(" + cpp.quoted(node.target) + ");" +
                    remark(node) + '\n';
        if (node.kind != NodeKind::call) continue;
        const std::optional<ValueRef> read = item_read(node);
        const std::string value = read ? item(graph, *read) : writer.call(node);
        const bool one = !read && is_list_of_one(graph, readers.at(i), node);
        const char* type = !read && !one && has_several(node) ? "const auto " : "const Tensor ";
        body += "    " + (type + variable(node.name)) + " = " + value + (one ? ".at(0);" : ";") + remark(node) + '\n';
    }
    const std::string results = join(graph.outputs(), [&](NodeId id) { return variable(graph.node({id}).name); });
    return functions + "Values " + name + '(' + parameters + ") {\n" + body + "    return {" + results + "};\n}\n";
}

std::vector<std::string> ops_without_code(const Graph& graph) {
    std::vector<std::string> ops;
    for (const NodeId id : graph.calls())
        if (const Node& call = graph.node({id}); !is_getitem(call) && !has_code(call.target))
            add_once(ops, call.target);
    for (const auto& [name, nested] : graph.subgraphs)
        for (const std::string& op : ops_without_code(*nested)) add_once(ops, op);
    return ops;
}

std::string unsupported_ops_code() {
    return "[[maybe_unused]] Tensor __unsupported(const char* op) {\n"
           "    throw std::logic_error(std::string(op) + \" is not in the API: call the program's function here\");\n"
           "}\n";
}

std::string cpp_file(const Graph& graph, const std::string& about) {
    const std::string name = variable(graph.name);
    std::string arguments;
    for (std::size_t i = 0; i < graph.placeholders().size(); ++i)
        arguments += (i > 0 ? ", inputs.at(" : "inputs.at(") + std::to_string(i) + ')';
    if (!graph.attributes.empty()) arguments += arguments.empty() ? "parameters" : ", parameters";
    return "// " + Language::remark(about) +
           "\n"
           "// Build this file against Whittle: find_package(Whittle), target_link_libraries(… Whittle::api)\n"
           "#include <whittle/whittle.h>\n\n"
           "#include <cmath>\n#include <map>\n#include <stdexcept>\n#include <string>\n#include <vector>\n\n"
           "using whittle::Tensor;\n"
           "using Values = std::vector<Tensor>;\n"
           "using Parameters = std::map<std::string, Tensor>;\n\n"
           "namespace {\n\n" +
           unsupported_ops_code() + '\n' + to_cpp(graph, name) +
           "\n}  // namespace\n\n"
           "/// The entry point for stepping through this file: takes one tensor per input, gives one per output.\n"
           "extern \"C\" void " +
           std::string(kStepSymbol) +
           "([[maybe_unused]] const Values& inputs, [[maybe_unused]] const Parameters& parameters, Values& outputs) {\n"
           "    outputs = " +
           name + '(' + arguments + ");\n}\n";
}

}  // namespace whittle::printers
