#include "printers/formula.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/words.h"
#include "graph/text.h"
#include "graph/value_ref.h"
#include "printers/short_program.h"

namespace whittle {
namespace {

constexpr std::size_t kLongest = 120, kLongestBare = 150;
constexpr std::size_t kLongestTwice = 12;  // of a value that is read more than once
constexpr std::int64_t kMostIntegers = 8, kMostNumbers = 4;
constexpr std::size_t kMostStated = 4, kMostTypes = 3;  // inputs

/// What a formula says beside ops and operands: all that is short, no sizes, or nothing.
enum class Detail { sizes, values, none };

struct Operand {
    std::string text;
    bool named = false;
};

constexpr const char* kElided = "…";  // in the place of operands that do not matter

/// Operands that are missing are kept as gaps, where one without a name follows.
std::string joined(std::vector<Operand> operands) {
    while (!operands.empty() && operands.back().text.empty()) operands.pop_back();
    const auto by_position = std::find_if(operands.rbegin(), operands.rend(), [](const Operand& operand) {
                                 return !operand.named && !operand.text.empty();
                             }).base();
    std::string text;
    bool first = true;
    for (auto operand = operands.begin(); operand != operands.end(); ++operand) {
        if (operand->text.empty() && operand >= by_position) continue;
        if (operand->text == kElided && operand != operands.begin() && std::prev(operand)->text == kElided) continue;
        text += (first ? "" : ", ") + operand->text;
        first = false;
    }
    return text;
}

class Formula {
  public:
    Formula(const Graph& graph, const SchemaSource* schemas, Detail detail, const ShortFormula& how = {})
        : graph_(graph), schemas_(schemas), detail_(detail), how_(how) {
        say_inputs();
        const std::function<void(const Arg&)> count = [&](const Arg& arg) {
            if (const NodeRef* ref = arg.node()) uses_[value_of(graph_, *ref).node]++;
            if (const ArgList* list = arg.list())
                for (const Arg& element : *list) count(element);
        };
        for (const Node& node : graph_.nodes) {
            if (is_getitem(node)) continue;  // who reads it reads what it reads
            for (const Arg& arg : node.args) count(arg);
            for (const auto& [name, arg] : node.kwargs) count(arg);
        }
    }

    std::string write() {
        std::vector<std::pair<std::string, NodeId>> outputs;
        for (const NodeId id : graph_.outputs()) {
            const NodeId computes = value_of(graph_, {id}).node;
            const auto same = [&](const auto& output) { return output.second == computes; };
            if (std::ranges::none_of(outputs, same)) outputs.emplace_back(graph_.node({id}).name, computes);
        }
        if (outputs.size() > 1)
            for (const auto& [name, id] : outputs) names_[id] = name;
        std::vector<std::string> texts;
        for (const auto& [name, id] : outputs) {
            const Node& node = graph_.node({id});
            const std::string text = node.kind == NodeKind::call ? call(node) : value({id});
            texts.push_back(outputs.size() > 1 && text != name ? name + " = " + text : text);
        }
        return join(texts) + (definitions_.empty() ? "" : " with " + join(definitions_));
    }

    /// Without the operands.
    std::string op(const Node& node) const { return op_word(node.target) + attributes(node); }

  private:
    /// Inputs that are said otherwise than by their names.
    void say_inputs() {
        const std::vector<NodeId> inputs = graph_.placeholders();
        const bool elides = how_.elided && !std::ranges::all_of(how_.inputs, &Tensor::is_contiguous);
        for (std::size_t i = 0; i < inputs.size() && i < how_.inputs.size(); i++) {
            const Tensor& given = how_.inputs[i];
            if (elides && given.is_contiguous())
                names_[inputs[i]] = kElided;
            else if (given.rank() == 0 && !is_complex(given.dtype()))
                names_[inputs[i]] = short_number_at(given.contiguous(), 0);
        }
    }

    std::string value(NodeRef ref) {
        const NodeId id = value_of(graph_, ref).node;
        const Node& node = graph_.node({id});
        if (const auto named = names_.find(id); named != names_.end()) return named->second;
        if (node.kind != NodeKind::call) return node.name;
        std::string text = call(node);
        if (uses_[id] < 2 || text.size() <= kLongestTwice) return text;
        definitions_.push_back(node.name + " = " + text);
        return names_[id] = node.name;
    }

    std::string call(const Node& node) {
        const Schema* const schema = schemas_ ? schemas_->find(node.target) : nullptr;
        const auto param = [&](std::size_t i) {
            return schema && i < schema->params.size() ? &schema->params[i] : nullptr;
        };
        std::size_t given = node.args.size();
        while (given > 0 && is_default(param(given - 1), node.args[given - 1])) given--;
        std::vector<Operand> operands;
        for (std::size_t i = 0; i < given; i++) add(node.args[i], schema, param(i), operands);
        if (graph_.dialect != "onnx")
            for (const auto& [name, arg] : node.kwargs)
                if (!is_default(schema ? schema->param(name) : nullptr, arg) && detail_ != Detail::none)
                    operands.push_back({name + "=" + print(graph_, arg), true});
        return op(node) + "(" + joined(std::move(operands)) + ")";
    }

    static bool is_default(const Param* param, const Arg& arg) {
        return arg.is_none() || (param && param->default_value && *param->default_value == arg);
    }

    void add(const Arg& arg, const Schema* schema, const Param* param, std::vector<Operand>& operands) {
        const std::string name = param ? parameter_name(*schema, *param) : "";
        const auto said = [&](const std::string& text) {
            operands.push_back(tells(name) ? Operand{name + "=" + text, true} : Operand{text});
        };
        if (arg.is_none()) return operands.push_back({how_.elided ? kElided : ""});
        if (const NodeRef* ref = arg.node()) {
            const Node& node = graph_.node(*ref);
            if (node.kind != NodeKind::get_attr) return operands.push_back({value(*ref)});
            const Tensor& constant = graph_.attributes.at(node.target);
            const std::string number = short_text(constant, tells(name));
            if (!number.empty()) return said(number);
            const std::string size = detail_ == Detail::sizes ? to_string(constant.sizes()) : "";
            if (how_.elided) return operands.push_back({kElided});
            const bool behind_gap = !operands.empty() && operands.back().text.empty();
            return behind_gap ? said(node.name + size) : operands.push_back({node.name + size});
        }
        const ArgList* const list = arg.list();
        if (list && std::ranges::any_of(*list, [](const Arg& element) { return element.node() != nullptr; })) {
            for (const Arg& element : *list) add(element, nullptr, nullptr, operands);
            return;
        }
        if (!list || detail_ != Detail::none) said(print(graph_, arg));
    }

    /// A number; "[1, 2]". Nothing for what is longer.
    std::string short_text(const Tensor& tensor, bool is_list) const {
        if (is_complex(tensor.dtype()) || tensor.numel() == 0) return {};
        const std::vector<Scalar> values = scalars_of(tensor);
        const bool integers = !is_floating(tensor.dtype());
        if (values.size() == 1 && !(integers && is_list && tensor.rank() == 1)) return short_number(values[0]);
        const auto small = [](const Scalar& one) {
            const double value = one.to_double();
            return value == std::trunc(value) && std::fabs(value) < 100;
        };
        const bool few =
            integers ? tensor.numel() <= kMostIntegers && detail_ != Detail::none
                     : tensor.numel() <= kMostNumbers && detail_ == Detail::sizes && std::ranges::all_of(values, small);
        if (!few || tensor.rank() != 1) return {};
        return "[" + join(values, [](const Scalar& value) { return short_number(value); }) + "]";
    }

    /// "<axis=0>": what a node of a model file has beside its operands, almost as ONNX writes it.
    std::string attributes(const Node& node) const {
        const bool keeps = how_.node >= 0 && &node == &graph_.node({how_.node});
        const bool elides = detail_ == Detail::none || how_.elided;
        if (graph_.dialect != "onnx" || (elides && !how_.elided)) return {};
        std::string text;
        bool left_out = false;
        for (const auto& [name, value] : node.kwargs) {
            if (value.is_none() || name == "num_outputs" || name == "captured") continue;  // the file has no such
            if (elides && !(keeps && name == how_.attribute)) {
                left_out = true;
                continue;
            }
            const auto* const graph = std::get_if<GraphRef>(&value.value);
            text += (text.empty() ? "" : ", ") + name + "=" + (graph ? nested(*graph) : attribute_text(name, value));
        }
        if (left_out && how_.elided && text.empty()) text = kElided;
        return text.empty() ? "" : "<" + text + ">";
    }

    /// An element type is a code in the file, and has a name in ONNX's documentation: "BOOL" for 9.
    std::string attribute_text(const std::string& name, const Arg& value) const {
        constexpr std::string_view kOfTypes[] = {"to", "dtype", "output_dtype", "stash_type", "softmax_precision"};
        const auto* const code = std::get_if<std::int64_t>(&value.value);
        const bool is_type = code && std::ranges::find(kOfTypes, name) != std::end(kOfTypes);
        const std::optional<DType> dtype = is_type ? dtype_from_onnx(*code) : std::nullopt;
        return dtype ? std::string(info_of(*dtype).onnx_name) : print(graph_, value);
    }

    /// "(x0, x1) -> (x0, Add(x1, x0))".
    std::string nested(const GraphRef& ref) const {
        const Graph& body = *graph_.subgraphs.at(ref.name);
        std::vector<std::string> inputs, outputs;
        for (const NodeId id : body.placeholders()) inputs.push_back(body.node({id}).name);
        Formula formula(body, schemas_, detail_);
        for (const NodeId id : body.outputs()) outputs.push_back(formula.value({id}));
        if (!formula.definitions_.empty()) return "(" + join(inputs) + ") -> …";
        return "(" + join(inputs) + ") -> (" + join(outputs) + ")";
    }

    const Graph& graph_;
    const SchemaSource* schemas_;
    const Detail detail_;
    const ShortFormula how_;
    std::map<NodeId, int> uses_;
    std::map<NodeId, std::string> names_;  ///< of values that are not written where they are read
    std::vector<std::string> definitions_;
};

std::string type_of(const ValueMeta& meta) {
    return lower_case(std::string(info_of(meta.dtype).onnx_name)) + (meta.sizes.empty() ? "" : to_string(meta.sizes));
}

bool is_one(const ValueMeta& meta) {
    return !is_complex(meta.dtype) && std::ranges::all_of(meta.sizes, [](std::int64_t size) { return size == 1; });
}

/// Inputs that are given by value.
std::set<NodeId> stated(const Graph& graph) {
    std::set<NodeId> ids;
    for (const NodeId id : graph.placeholders())
        if (is_one(graph.node({id}).meta())) ids.insert(id);
    return ids.size() <= kMostStated ? ids : std::set<NodeId>();
}

}  // namespace

std::string parameter_name(const Schema& schema, const Param& param) {
    constexpr std::string_view kSuffix = "_value";
    if (!param.name.ends_with(kSuffix)) return param.name;
    const std::string stem = param.name.substr(0, param.name.size() - kSuffix.size());
    return schema.param(stem) ? stem : param.name;
}

std::string formula_of(const Graph& graph, const SchemaSource* schemas) {
    if (op_count(graph) > kMostCallsOfFormula) return ops_of_formula(graph, false);
    for (const Detail detail : {Detail::sizes, Detail::values, Detail::none}) {
        std::string text = Formula(graph, schemas, detail).write();
        if (text.size() <= (detail == Detail::none ? kLongestBare : kLongest)) return text;
    }
    return ops_of_formula(graph, false);
}

std::string short_formula_of(const Graph& graph, const SchemaSource* schemas, const ShortFormula& how) {
    return Formula(graph, schemas, how.outlined ? Detail::none : Detail::values, how).write();
}

std::string ops_of_formula(const Graph& graph, bool attributes) {
    const Formula formula(graph, nullptr, attributes ? Detail::values : Detail::none);
    std::vector<std::string> words;
    for (const NodeId id : graph.calls()) {
        const std::string word = formula.op(graph.node({id}));
        if (is_op_call(graph.node({id}))) add_once(words, word);
    }
    return join(words);
}

std::string types_without_names(const Graph& graph) {
    std::vector<std::string> types;
    for (const NodeId id : graph.placeholders()) {
        const std::string type = type_of(graph.node({id}).meta());
        add_once(types, type);
    }
    return types.empty() || types.size() > kMostTypes ? "" : " of " + join(types);
}

std::string types_of(const Graph& graph, bool values) {
    const std::vector<NodeId> inputs = graph.placeholders();
    if (inputs.size() == 1) return " of " + type_of(graph.node({inputs[0]}).meta());
    const auto alike = [&](NodeId id) {
        return type_of(graph.node({id}).meta()) == type_of(graph.node({inputs[0]}).meta());
    };
    const std::set<NodeId> by_value = values ? stated(graph) : std::set<NodeId>();
    if (!inputs.empty() && by_value.empty() && std::ranges::all_of(inputs, alike))
        return " of " + type_of(graph.node({inputs[0]}).meta());
    std::vector<std::string> types, unusual;
    for (const NodeId id : inputs) {
        const ValueMeta& meta = graph.node({id}).meta();
        if (!by_value.contains(id)) types.push_back(type_of(meta) + " " + graph.node({id}).name);
        const std::string name = type_of({.dtype = meta.dtype});
        if (meta.dtype != DType::f32) add_once(unusual, name);
    }
    const std::vector<std::string>& told = types.empty() || types.size() > kMostTypes ? unusual : types;
    return told.empty() ? "" : " of " + join(told);
}

std::string not_contiguous(const Graph& graph, std::span<const Tensor> inputs) {
    std::vector<std::string> names;
    const std::vector<NodeId> placeholders = graph.placeholders();
    for (std::size_t i = 0; i < placeholders.size() && i < inputs.size(); i++)
        if (!inputs[i].is_contiguous()) names.push_back(graph.node({placeholders[i]}).name);
    if (names.empty()) return "";
    return ", where " + join(names) + (names.size() == 1 ? " is" : " are") + " not contiguous";
}

std::string where_of(const Graph& graph, std::span<const Tensor> inputs, bool values) {
    const std::vector<NodeId> placeholders = graph.placeholders();
    const std::set<NodeId> by_value = values ? stated(graph) : std::set<NodeId>();
    std::vector<std::string> facts;
    for (std::size_t i = 0; i < placeholders.size() && i < inputs.size(); i++) {
        const std::string& name = graph.node({placeholders[i]}).name;
        if (by_value.contains(placeholders[i]))
            facts.push_back(name + " = " + short_number_at(inputs[i].contiguous(), 0));
        if (!inputs[i].is_contiguous())
            facts.push_back(name + to_string(inputs[i].sizes()) + " has strides " + to_string(inputs[i].strides()));
    }
    return facts.empty() ? "" : ", where " + join(facts);
}

}  // namespace whittle
