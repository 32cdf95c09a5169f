#include "frontends/pt2/importer.h"

#include <algorithm>
#include <limits>
#include <sstream>

#include "base/error.h"
#include "frontends/pt2/codes.h"
#include "frontends/pt2/numbers.h"
#include "graph/placement.h"
#include "graph/text.h"
#include "graph/value_ref.h"
#include "ops/aten/hidden_writes.h"
#include "ops/core/assertions.h"
#include "ops/core/known.h"
#include "ops/core/registry.h"
#include "tensor/opaque_types.h"

namespace whittle::pt2 {
namespace {

constexpr std::string_view kOps = "torch.ops.";

/// Python writes what JSON has no number for as text.
double real_of(const Json& value) {
    if (!value.is_string()) return value.get<double>();
    const auto text = value.get<std::string>();
    if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    if (text == "Infinity" || text == "-Infinity") return text[0] == '-' ? -infinity : infinity;
    throw Error("found '" + text + "', expected a number, NaN, Infinity or -Infinity");
}

/// JSON's numbers are converted by whoever asks: 2.5 and 2^64 are no integers.
std::int64_t integer(const Json& value) {
    if (value.is_number_integer() &&
        (!value.is_number_unsigned() || value.get<std::uint64_t>() <= std::uint64_t{INT64_MAX}))
        return value.get<std::int64_t>();
    throw Error("found " + value.dump() + ", expected an integer that fits in 64 bits");
}

/// `File "train.py", line 12, in forward` and the line's text below it, outermost first, as Python prints it.
std::vector<StackFrame> stack_of(const std::string& trace) {
    std::vector<StackFrame> frames;
    std::istringstream lines(trace);
    for (std::string line; std::getline(lines, line);) {
        line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
        const std::size_t end = line.find("\", line "), in = line.find(", in ", end == line.npos ? 0 : end);
        if (line.starts_with("File \"") && end != line.npos && in != line.npos)
            frames.push_back({.file = line.substr(6, end - 6),
                              .line = std::atoi(line.c_str() + end + 8),
                              .function = line.substr(in + 5),
                              .text = {}});
        else if (!frames.empty() && frames.back().text.empty())
            frames.back().text = line;
    }
    std::ranges::reverse(frames);
    return frames;
}

/// Of "key,path,type;key,path,type" the innermost path, as parameters have it: "layers.0" of "L['self'].layers.0".
std::string module_of(const std::string& stack) {
    const std::size_t begin = stack.rfind(';') == stack.npos ? 0 : stack.rfind(';') + 1;
    const std::size_t path = stack.find(',', begin), end = path == stack.npos ? path : stack.find(',', path + 1);
    if (end == stack.npos) return {};
    std::string text = stack.substr(path + 1, end - path - 1);
    constexpr std::string_view kSelf = "L['self']";
    if (text.starts_with(kSelf)) text.erase(0, kSelf.size() + (text.size() > kSelf.size()));
    return text;
}

/// "aten.conv2d.default" of "torch.ops.aten.conv2d.default".
std::string target_of(const Json& node) {
    const auto target = node.at("target").get<std::string>();
    return target.starts_with(kOps) ? target.substr(kOps.size()) : target;
}

/// The names of an output entry, which is a tensor or a list of them; what nobody can name stands for nothing.
void add_names(const Json& output, std::vector<std::string>& names) {
    const auto [kind, value] = chosen(output);
    if (kind == "as_tensor")
        names.push_back(value->at("name").get<std::string>());
    else if (kind == "as_tensors")
        for (const Json& tensor : *value) names.push_back(tensor.at("name").get<std::string>());
    else if (kind == "as_optional_tensor" || kind == "as_none")
        names.push_back(value->is_object() && value->contains("as_tensor") ? value->at("as_tensor").at("name") : "");
    else if (kind == "as_optional_tensors")
        for (const Json& tensor : *value) add_names(tensor, names);
    else
        throw Error("found a result of kind " + kind + ", expected a tensor or a list of tensors");
}

}  // namespace

void set_place(Node& call, const Json& node) {
    const Json metadata = node.value("metadata", Json::object());
    call.stack = stack_of(metadata.value("stack_trace", ""));
    call.module_path = module_of(metadata.value("nn_module_stack", ""));
}

std::vector<std::string> result_names(const Json& node) {
    std::vector<std::string> names;
    for (const Json& output : node.at("outputs")) add_names(output, names);
    return names;
}

std::pair<std::string, const Json*> chosen(const Json& value) {
    for (const auto& [key, member] : value.items())
        if (!member.is_null()) return {key, &member};
    throw Error("found " + value.dump() +
                ", expected an object with one member, whose name is the kind of the value, for example as_tensor");
}

std::int64_t size_of(const Json& size, const std::map<std::string, std::int64_t>& symbols) {
    const auto [kind, value] = chosen(size);
    if (kind == "as_int") return integer(*value);
    if (kind != "as_expr") throw Error("found a size of kind '" + kind + "', expected 'as_int' or 'as_expr'");
    if (const auto known = evaluate(value->at("expr_str").get<std::string>(), symbols)) return *known;
    const Json& hint = value->value("hint", Json());
    if (!hint.is_object())
        throw Error(
            "found a size that depends on data or is not an expression of sizes: " + value->at("expr_str").dump(),
            "set the size with --dim NAME=SIZE, where NAME is the symbol of the size");
    return hint.at("as_int").get<std::int64_t>();
}

ValueMeta meta_of(const Json& tensor, const std::map<std::string, std::int64_t>& symbols) {
    const auto layout = tensor.at("layout").get<std::int64_t>();
    const auto code = tensor.at("dtype").get<std::int64_t>();
    const auto opaque = opaque_type_from_pt2(code);
    ValueMeta meta = opaque ? opaque_meta(opaque->name, {}) : ValueMeta{.dtype = dtype_of_code(code)};
    for (const Json& size : tensor.at("sizes")) {
        meta.sizes.push_back(size_of(size, symbols));
        if (meta.sizes.back() < 0)
            throw Error("found size " + std::to_string(meta.sizes.back()) + ", expected 0 or more");
    }
    for (const Json& stride : tensor.at("strides")) meta.strides.push_back(size_of(stride, symbols));
    if (layout != kStridedLayout) {
        meta = ValueMeta::contiguous(meta.dtype, meta.sizes);
        meta.placement = placed({.layout = std::string(layout_of_code(layout).libtorch),
                                 .elements = opaque ? std::string(opaque->name) : std::string()});
    }
    if (meta.sizes.size() != meta.strides.size())
        throw Error("found different numbers of sizes and strides in " + tensor.dump() + ", expected equal numbers");
    return meta;
}

Importer::Importer(Graph& graph, const Symbols& symbols, DataSizes* data, int depth)
    : graph_(graph), symbols_(symbols), data_(data), regions_(std::make_shared<Regions>(graph)), depth_(depth) {
    constexpr int kDeepest = 64;
    if (depth > kDeepest)
        throw Error("found more than " + std::to_string(kDeepest) + " levels of nested graphs, expected at most " +
                    std::to_string(kDeepest));
}

Arg Importer::named(const std::string& name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) throw Error("the node reads '" + name + "', which no earlier node defines");
    return found->second;
}

Arg Importer::list(const Json& items) const {
    ArgList list;
    for (const Json& item : items) list.push_back(item.is_object() ? argument(item) : Arg());
    return list;
}

Arg Importer::argument(const Json& argument) const {
    if (argument.contains("name")) return named(argument.at("name").get<std::string>());  // of a list of tensors
    if (argument.contains("as_name")) return named(argument.at("as_name").get<std::string>());
    const auto [kind, value] = chosen(argument);
    if (kind == "as_none") return {};
    if (kind == "as_tensor" || kind.starts_with("as_sym_")) {
        if (value->is_array()) return list(*value);
        return this->argument(*value);
    }
    if (kind == "as_tensors" || kind == "as_optional_tensors") return list(*value);
    if (kind == "as_optional_tensor") return this->argument(*value);
    if (kind == "as_int") return integer(*value);
    if (kind == "as_float") return real_of(*value);
    if (kind == "as_bool") return value->get<bool>();
    if (kind == "as_string") return value->get<std::string>();
    if (kind == "as_graph") return stated_graph(*value);
    if (kind == "as_operator") return value->get<std::string>();
    if (kind == "as_custom_obj") {
        const auto known = values_.find(value->at("name").get<std::string>());
        return known == values_.end() ? Arg(value->at("class_fqn").get<std::string>()) : known->second;
    }
    if (kind == "as_scalar_type") {
        if (const auto opaque = opaque_type_from_pt2(value->get<std::int64_t>())) return std::string(opaque->name);
        return dtype_of_code(value->get<std::int64_t>());
    }
    if (kind == "as_memory_format") return memory_format_of_code(value->get<std::int64_t>());
    if (kind == "as_layout") return std::string(layout_of_code(value->get<std::int64_t>()).torch);
    if (kind == "as_device") return value->at("type").get<std::string>();
    ArgList items;
    if (kind == "as_ints" || kind == "as_floats" || kind == "as_bools" || kind == "as_strings") {
        for (const Json& item : *value)
            items.push_back(kind == "as_floats"    ? Arg(real_of(item))
                            : kind == "as_bools"   ? Arg(item.get<bool>())
                            : kind == "as_strings" ? Arg(item.get<std::string>())
                                                   : Arg(integer(item)));
        return items;
    }
    if (kind == "as_int_lists" || kind == "as_float_lists") {
        for (const Json& item : *value)
            items.push_back(this->argument({{kind == "as_int_lists" ? "as_ints" : "as_floats", item}}));
        return items;
    }
    if (kind == "as_nested_tensors") {
        for (const Json& item : *value) items.push_back(list(item));
        return items;
    }
    if (kind == "as_string_to_argument") {  // a dictionary: pairs of a key and its value
        for (const auto& [key, item] : value->items()) items.push_back(ArgList{Arg(key), this->argument(item)});
        return items;
    }
    throw Error("found an argument of kind " + kind + ", which Whittle does not support");
}

void Importer::add_nodes(const Json& graph) {
    int number = 0;
    for (const Json& node : graph.at("nodes")) {
        const std::string place = "node " + std::to_string(number++);
        const std::string target = node.is_object() ? node.value("target", "") : "";
        try {
            add_node(graph, node);
        } catch (Error& error) {
            if (error.where().position.empty()) error.locate({{}, place + " (" + target + ")"});  // else a nested graph
            throw;
        } catch (const Json::exception& error) {
            throw Error({{}, place + " (" + target + ")"}, error.what());
        }
    }
}

void Importer::add_node(const Json& graph, const Json& node) {
    const std::string target = target_of(node);
    if (stated_) return add_as_stated(graph, node, target);
    if (add_number(node, target) || add_item(graph, node, target) || add_marker(node, target)) return;
    constexpr std::string_view kHigherOrder = "higher_order.";
    if (target.starts_with(kHigherOrder)) return add_higher_order(graph, node, target.substr(kHigherOrder.size()));
    if (!add_foreach(graph, node, target)) add_call(graph, node, target);
}

bool Importer::add_number(const Json& node, const std::string& target) {
    const Json& outputs = node.at("outputs");
    if (outputs.empty() && is_check(target)) {
        check_assertion(node, target);
        return true;
    }
    ArgList operands;
    if (is_size_query(target)) {
        for (const Json& input : node.at("inputs")) operands.push_back(argument(input.at("arg")));
        const NodeRef* read = operands.at(0).node();
        if (!read) throw Error("found a query for the size of a value that is not a tensor, expected a tensor");
        const std::optional<Arg> dim = operands.size() > 1 ? std::optional(operands[1]) : std::nullopt;
        bind(chosen(outputs.at(0)).second->at("as_name"), size_query(target, regions_->batches.seen(*read), dim));
        return true;
    }
    if (!is_number_function(target)) return false;
    for (const Json& input : node.at("inputs")) operands.push_back(argument(input.at("arg")));
    bind(chosen(outputs.at(0)).second->at("as_name"), number_of(target, operands));
    return true;
}

/// What the program asserts of sizes is known here; what it asserts of values is asked when the graph runs.
void Importer::check_assertion(const Json& node, const std::string& target) {
    if (target.starts_with("aten._assert_async.")) return add_assertion(node);
    if (target != "aten._assert_scalar.default") return;
    const Arg truth = argument(node.at("inputs").at(0).at("arg"));
    if (truth == Arg(false) || truth == Arg(0))
        throw Error("an assertion of the program fails for the sizes of the inputs: " +
                    (node.at("inputs").size() > 1 ? node.at("inputs")[1].at("arg").dump() : target));
}

void Importer::add_assertion(const Json& node) {
    const Json& inputs = node.at("inputs");
    const Arg condition = argument(inputs.at(0).at("arg"));
    if (!condition.node())
        throw Error("found an assertion without a tensor, expected a tensor as the condition of the assertion");
    const Arg message = inputs.size() > 1 ? argument(inputs[1].at("arg")) : Arg("an assertion of the program failed");
    Node call{.name = "assertion", .target = std::string(kAssertion), .args = {condition, message, condition}};
    set_place(call, node);
    call.results = infer(graph_, call);
    graph_.add(std::move(call));
}

void Importer::set_arguments(Node& call, const Json& inputs) const {
    constexpr int kPositional = 1, kKeyword = 2;
    const Schema* schema = Registry::instance().find(call.target);
    for (const Json& input : inputs) {
        const auto name = input.value("name", "");
        const std::size_t next = call.args.size();
        const Param* param = schema && next < schema->params.size() ? &schema->params[next] : nullptr;
        // Parameters may have had another name, and older files do not say which arguments go by position.
        const bool renamed = schema && input.contains("kind") && !schema->param(name);
        const bool in_place = param && (param->name == name || renamed) && !param->keyword_only;
        const int kind = input.value("kind", in_place ? kPositional : kKeyword);
        Arg value = argument(input.at("arg"));
        const bool nameless = name.empty();  // of a higher-order op
        if ((kind == kPositional || nameless) && (in_place || !schema) && call.kwargs.empty())
            call.args.push_back(std::move(value));
        else
            call.kwargs.emplace_back(name, std::move(value));
    }
}

void Importer::add_call(const Json& graph, const Json& node, const std::string& target) {
    Node call{.name = target, .target = target};
    set_place(call, node);
    set_arguments(call, node.at("inputs"));
    const Registry& registry = Registry::instance();
    const bool known = registry.find(target) && !has_opaque_data(graph, node, call);
    const bool batched = regions_->batches.any(call);
    if (!batched && add_by_positions(graph, node, call)) return;
    if (!known && !batched && !out_variant(call)) return add_opaque(graph, node, std::move(call));
    const std::vector<std::string> names = result_names(node);
    if (!names.empty()) call.name = names.front();
    if (batched) return bind_results(node.at("outputs"), regions_->batches.call(std::move(call)));
    if (!regions_->autocast.empty() && regions_->autocast.back()) cast_operands(graph, call, names);
    if (const RegisteredOp* op = registry.op(target); op && op->replaces_operand()) return replace_operand(node, call);
    if (!known) return write_results(names, *out_variant(call));
    name_positions(call);
    if (registry.in_place(target))
        call.results = {graph_.node(*call.args.at(0).node()).meta()};
    else if (hides_writes(call))  // to running statistics, which become further outputs
        for (const std::string& name : names)
            call.results.push_back(meta_of(graph.at("tensor_values").at(name), symbols_.sizes));
    else
        try {
            call.results = infer(graph_, call);
        } catch (const NeedsConstant&) {
            call.results = observed_results(graph, call, names);
        }
    if (call.results.empty()) throw Error("found a call without results, which Whittle does not support");
    check_stated(graph, names, call.results);
    bind_results(node.at("outputs"), graph_.add(std::move(call)));
}

/// The call takes or gives tensors that Whittle only keeps, for their elements or their layout: then it knows the call
/// as the file states it.
bool Importer::has_opaque_data(const Json& graph, const Json& node, const Node& call) const {
    bool found = false;
    for_each_input(call, [&](NodeRef ref) { found = found || graph_.node(ref).meta().placement; });
    const Json values = graph.value("tensor_values", Json::object());
    for (const Json& output : node.at("outputs"))
        if (const auto [kind, value] = chosen(output); kind == "as_tensor")
            if (const auto stated = values.find(value->at("name").get<std::string>()); stated != values.end())
                found = found || opaque_type_from_pt2(stated->at("dtype").get<std::int64_t>()) ||
                        stated->value("layout", kStridedLayout) != kStridedLayout;
    return found;
}

void Importer::check_stated(const Json& graph, const std::vector<std::string>& names,
                            const std::vector<ValueMeta>& results) const {
    const auto values = graph.find("tensor_values");
    if (values == graph.end()) return;
    for (std::size_t i = 0; i < std::min(names.size(), results.size()); ++i) {
        const auto stated = values->find(names[i]);
        if (stated == values->end()) continue;
        ValueMeta meta{.dtype = dtype_of_code(stated->at("dtype").get<std::int64_t>())};
        const ValueMeta& result = results[i];
        bool decided = true;  // by the sizes that are known
        for (const Json& size : stated->at("sizes")) {
            const auto [kind, value] = chosen(size);
            const std::string expression = kind == "as_int" ? "" : value->at("expr_str").get<std::string>();
            const auto known = kind == "as_int" ? std::optional(integer(*value)) : evaluate(expression, symbols_.sizes);
            if (!known && data_ && meta.sizes.size() < result.sizes.size())
                data_->decide(expression, result.sizes[meta.sizes.size()]);
            decided = decided && known;
            meta.sizes.push_back(known.value_or(0));
        }
        if (decided && (meta.dtype != result.dtype || meta.sizes != result.sizes))
            throw Error("the call computes the result '" + names[i] + "' as " +
                        print(ValueMeta::contiguous(result.dtype, result.sizes)) +
                        " from its operands, but the file declares the result as " +
                        print(ValueMeta::contiguous(meta.dtype, meta.sizes)));
    }
}

void Importer::bind_results(const Json& outputs, NodeRef call) {
    std::vector<std::string> names;
    for (const Json& output : outputs) add_names(output, names);
    const std::vector<NodeRef> results = add_results(graph_, call);
    if (names.size() > results.size())
        throw Error("found names for " + std::to_string(names.size()) + " results, expected at most " +
                    std::to_string(results.size()) + ", the number of results of the call");
    for (std::size_t i = 0; i < names.size(); ++i)
        if (!names[i].empty()) bind(names[i], results[i]);
}

}  // namespace whittle::pt2
