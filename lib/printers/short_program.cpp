#include "printers/short_program.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "base/subprocess.h"
#include "base/words.h"
#include "graph/value_ref.h"

namespace whittle {
namespace {

std::string counted(const std::string& stem, std::size_t count, std::size_t next) {
    return count == 1 ? stem : stem + std::to_string(next);
}

/// For a title.
std::string one_line(std::string text) {
    constexpr std::size_t kLongest = 120;
    return first_words(message_in_line(std::move(text)), kLongest);
}

/// What the only call's op calls the inputs, each by its first place; nothing where one has no name of its own.
std::map<NodeId, std::string> operand_names(const Graph& graph, const SchemaSource& schemas) {
    const std::vector<NodeId> calls = graph.calls(), inputs = graph.placeholders();
    const auto is_op = [&](NodeId id) { return is_op_call(graph.node({id})); };
    if (inputs.size() < 2 || std::ranges::count_if(calls, is_op) != 1) return {};
    const Node& call = graph.node({*std::ranges::find_if(calls, is_op)});
    const Schema* const schema = schemas.find(call.target);
    if (!schema) return {};
    std::map<NodeId, std::string> names;
    for (std::size_t i = 0; i < call.args.size() && i < schema->params.size(); i++)
        if (const NodeRef* const ref = call.args[i].node()) names.try_emplace(ref->id, schema->params[i].name);
    const auto named = [&](NodeId id) { return names.contains(id) && names.at(id).size() > 1; };
    const auto telling = [&](NodeId id) { return named(id) && tells(names.at(id)); };
    if (!std::ranges::all_of(inputs, named) || std::ranges::none_of(inputs, telling)) return {};
    return names;
}

}  // namespace

Graph without_defaults(Graph graph, const SchemaSource& schemas) {
    for (Node& node : graph.nodes) {
        const Schema* const schema = node.kind == NodeKind::call ? schemas.find(node.target) : nullptr;
        if (!schema) continue;
        const auto is_default = [&](const Param* param, const Arg& arg) {
            return param && param->default_value && *param->default_value == arg;
        };
        std::erase_if(node.kwargs,
                      [&](const auto& entry) { return is_default(schema->param(entry.first), entry.second); });
        while (!node.args.empty() && node.args.size() <= schema->params.size() &&
               is_default(&schema->params[node.args.size() - 1], node.args.back()))
            node.args.pop_back();
    }
    return graph;
}

bool tells(const std::string& parameter) {
    return parameter.size() > 1 && parameter != "self" && parameter != "other" && parameter != "input";
}

std::string op_word(const std::string& target) {
    const std::string word = target.substr(target.find('.') + 1);
    return target.starts_with("aten.") ? word.substr(0, word.find('.')) : word.substr(word.rfind('.') + 1);
}

Graph with_short_names(const Graph& original, OutputNames outputs, const SchemaSource* schemas) {
    Graph graph = original;
    const std::map<NodeId, std::string> given =
        schemas ? operand_names(graph, *schemas) : std::map<NodeId, std::string>();
    graph.failure.reset();
    graph.name = "graph";
    const std::size_t inputs = graph.placeholders().size();
    std::map<std::string, int> used;
    std::map<std::string, Tensor> attributes;
    std::size_t input = 0;
    for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); id++) {
        Node& node = graph.nodes[static_cast<std::size_t>(id)];
        node.stack = {}, node.module_path = {};
        if (node.kind == NodeKind::placeholder)
            node.name = node.target = given.empty() ? counted("x", inputs, input++) : given.at(id);
        if (node.kind == NodeKind::get_attr) {
            const auto place = std::distance(graph.attributes.begin(), graph.attributes.find(node.target));
            const std::string key = "w" + std::to_string(place);
            attributes.emplace(key, graph.attributes.at(node.target));
            node.name = node.target = key;
        }
        if (node.kind != NodeKind::call) continue;
        const std::string word = lower_case(identifier(op_word(node.target)));
        const int nth = used[word]++;
        node.name = nth ? word + "_" + std::to_string(nth) : word;
    }
    graph.attributes = std::move(attributes);
    for (auto& [key, nested] : graph.subgraphs) {
        Graph body = with_short_names(*nested);
        body.name = "body";
        nested = std::make_shared<const Graph>(std::move(body));
    }
    if (outputs == OutputNames::op) return graph;
    const std::vector<NodeId> returned = graph.outputs();
    for (std::size_t i = 0; i < returned.size(); i++)
        if (Node& node = graph.nodes.at(static_cast<std::size_t>(returned[i])); node.kind == NodeKind::call)
            node.name = counted("y", returned.size(), i);
    return graph;
}

ShortGraph short_graph(const ShortRequest& request, OutputNames outputs) {
    if (!request.gradients) return {with_short_names(request.graph, outputs)};
    const Graph forward = forward_of(request.graph, *request.gradients);
    ShortGraph result{with_short_names(forward, outputs)};
    for (const std::string& gradient : request.gradients->gradients)
        for (std::size_t i = 0; i < forward.nodes.size(); i++) {
            const Node& node = forward.nodes[i];
            const bool is_leaf = node.kind == NodeKind::placeholder
                                     ? node.name == gradient
                                     : node.kind == NodeKind::get_attr && node.target == gradient;
            if (is_leaf) {
                result.gradients.push_back(result.graph.nodes[i].name);
                break;
            }
        }
    return result;
}

std::optional<std::size_t> wrong_gradient(const ShortRequest& request) {
    if (!request.gradients || request.graph.failure->signature.kind != "mismatch") return std::nullopt;
    std::optional<std::size_t> output = wrong_sizes(request);
    if (!output) output = wrong_dtype(request);
    if (const auto wrong = output ? std::nullopt : first_wrong(request)) output = wrong->output;
    if (!output || *output < request.gradients->outputs) return std::nullopt;
    return *output - request.gradients->outputs;
}

std::string gradient_words(const ShortRequest& request, const ShortGraph& graph) {
    if (!request.gradients) return "";
    const auto wrong = wrong_gradient(request);
    return wrong ? ", in the gradient of " + graph.gradients.at(*wrong) + "," : " in training";
}

std::string ops_of(const Graph& graph) {
    std::vector<std::string> ops;
    for (const NodeId id : graph.calls()) {
        const Node& node = graph.node({id});
        if (!is_getitem(node) && std::ranges::count(ops, node.target) == 0) ops.push_back(node.target);
    }
    return join(ops);
}

std::string not_written_shortly(const ShortRequest& request, const std::function<bool(DType)>& can_write,
                                const std::function<bool(const Tensor&)>& is_large) {
    std::vector<Tensor> data = request.graph.failure->inputs, parameters;
    append(data, request.expected);
    for (const auto& [key, value] : request.graph.attributes) parameters.push_back(value);
    for (const auto* const tensors : {&data, &parameters})
        for (const Tensor& tensor : *tensors)
            if (!can_write(tensor.dtype())) return "a short program cannot write " + std::string(name(tensor.dtype()));
    if (std::ranges::any_of(data, is_large)) return "the inputs and outputs are too long for a short program";
    return std::ranges::any_of(parameters, is_large) ? "the parameters are too long for a short program" : "";
}

std::string ends_by_failure(const Signature& signature, std::int64_t alarm) {
    const std::string& name = signature.detail;
    const std::string number = name.starts_with("signal ") ? name.substr(7) : name;
    if (signature.kind == "crash") return "    signal(" + number + ", [](int) { _exit(1); });\n";
    if (signature.kind == "timeout")
        return "    signal(SIGALRM, [](int) { _exit(1); });\n    alarm(" + std::to_string(alarm) + ");\n";
    return {};
}

std::string differs_in_cpp(std::span<const double> expected, double tolerance, const std::string& got,
                           const std::string& right) {
    const auto is_nan = [](double value) { return std::isnan(value); };
    const auto is_infinite = [](double value) { return std::isinf(value); };
    if (std::ranges::all_of(expected, is_nan)) return "!std::isnan(" + got + ")";
    std::string text = got + " != " + right;
    if (tolerance > 0 && !std::ranges::all_of(expected, is_infinite)) {
        const std::string far = "!(std::fabs(" + got + " - " + right + ") <= " + short_number(tolerance) + ")";
        text = std::ranges::any_of(expected, is_infinite) ? text + " && " + far : far;
    }
    if (std::ranges::any_of(expected, is_nan)) text += " && !(std::isnan(" + got + ") && std::isnan(" + right + "))";
    return text;
}

std::string standard_includes(const std::string& code) {
    const auto has = [&](std::initializer_list<std::string_view> words) {
        return std::ranges::any_of(words, [&](std::string_view word) { return code.find(word) != code.npos; });
    };
    std::string text;
    if (has({"std::fabs", "std::isnan", "INFINITY", "NAN"})) text += "#include <cmath>\n";
    if (has({"signal("})) text += "#include <csignal>\n";
    text += "#include <cstdio>";
    if (has({"strcmp(", "memcpy("})) text += "\n#include <cstring>";
    if (has({"std::string"})) text += "\n#include <string>";
    if (has({"_exit("})) text += "\n#include <unistd.h>";
    return text;
}

std::vector<std::string> build_words(const std::filesystem::path& file, const std::vector<std::string>& flags) {
    std::vector<std::string> words = {"g++", "-std=c++17", "-O1", file.filename().string(), "-o", file.stem().string()};
    for (const std::string& flag : flags)
        if (flag.starts_with("-std="))
            words[1] = flag;
        else
            words.push_back(flag);
    return words;
}

std::string build_line(const std::filesystem::path& file, const std::vector<std::string>& flags,
                       const std::vector<std::string>& arguments) {
    std::vector<std::string> run = {"./" + file.stem().string()};
    append(run, arguments);
    return shell_quote(build_words(file, flags)) + " && " + shell_quote(run);
}

PrintedElement printed_element(DType dtype, const std::string& value) {
    if (is_reduced(dtype)) return {"%g", "float(" + value + ")"};
    if (is_floating(dtype)) return {"%g", value};
    if (dtype == DType::boolean) return {"%s", value + " ? \"true\" : \"false\""};
    if (size_of(dtype) < 8) return {dtype == DType::u32 ? "%u" : "%d", value};
    return is_unsigned(dtype) ? PrintedElement{"%llu", "(unsigned long long)" + value}
                              : PrintedElement{"%lld", "(long long)" + value};
}

double absolute_tolerance(const Failure& failure, const Tensor& expected) {
    if (!is_inexact(expected.dtype())) return 0;
    double largest = 0;
    for (const Complex128 value : expected.values<Complex128>())
        if (std::isfinite(std::abs(value))) largest = std::max(largest, std::abs(value));
    const Tolerance tolerance = failure.accuracy.tolerance(expected.dtype());
    const double exact = tolerance.atol + tolerance.rtol * largest;
    if (exact == 0 || !std::isfinite(exact)) return exact;
    const double unit = std::pow(10, std::floor(std::log10(exact)) - 1);  // of the second digit
    return unit == 0 ? exact : std::ceil(exact / unit * (1 - 1e-9)) * unit;
}

std::optional<WrongElement> first_wrong(const ShortRequest& request) {
    for (std::size_t i = 0; i < request.got.size() && i < request.expected.size(); i++) {
        const Tensor& right = request.expected[i];
        const Tensor got = request.got[i].contiguous(), expected = right.contiguous();
        for (std::int64_t k = 0; k < got.numel() && k < expected.numel(); k++) {
            const Tensor one = element_of(got, k).to(right.dtype());
            if (compare(one, element_of(expected, k), request.graph.failure->accuracy))
                return WrongElement{i, k, short_number_at(got, k), short_number_at(expected, k)};
        }
    }
    return std::nullopt;
}

std::string sizes_of(const Tensor& tensor) { return join(tensor.sizes(), "x"); }

std::optional<std::size_t> wrong_sizes(const ShortRequest& request) {
    if (request.graph.failure->signature.detail != "sizes") return std::nullopt;
    for (std::size_t i = 0; i < request.got.size() && i < request.expected.size(); i++)
        if (request.got[i].sizes() != request.expected[i].sizes()) return i;
    return 0;
}

std::optional<std::size_t> wrong_dtype(const ShortRequest& request) {
    if (request.graph.failure->signature.detail != "dtype") return std::nullopt;
    for (std::size_t i = 0; i < request.got.size() && i < request.expected.size(); i++)
        if (request.got[i].dtype() != request.expected[i].dtype()) return i;
    return std::nullopt;
}

std::string dtype_word(DType dtype) { return lower_case(std::string(info_of(dtype).onnx_name)); }

std::string what_is_wrong(const ShortRequest& request, const std::string& who, const std::string& message) {
    const Failure& failure = *request.graph.failure;
    const std::string &kind = failure.signature.kind, &stage = failure.signature.stage;
    if (kind == "exception")  // of a model's file it is all one
        return who + " fails to " + (stage == "compile" && request.graph.dialect == "onnx" ? "load" : stage) + ": " +
               one_line(message.empty() ? failure.message : message);
    if (kind == "crash") return failure.signature.detail + " at " + stage + " of " + who;
    if (kind == "timeout") return stage + " of " + who + " takes more than " + std::to_string(request.alarm) + " s";
    if (const auto wrong = wrong_sizes(request); wrong && *wrong < request.got.size())
        return who + " gives shape " + to_string(request.got[*wrong].sizes()) + ", expected " +
               to_string(request.expected[*wrong].sizes());
    if (const auto wrong = wrong_dtype(request))
        return who + " gives " + dtype_word(request.got[*wrong].dtype()) + ", expected " +
               dtype_word(request.expected[*wrong].dtype());
    if (const auto wrong = first_wrong(request))
        return who + " gives " + (request.varies ? "other values in each run" : wrong->got) + ", expected " +
               wrong->expected;
    return who + " gives wrong values";
}

std::string not_shown_shortly(const Failure& failure, bool dtypes) {
    const std::string &kind = failure.signature.kind, &detail = failure.signature.detail;
    if (failure.signature.at_gradients()) return "the failure is in the gradients";
    if (failure.accuracy.wants_bits())
        return "the model fails only with --accuracy=" + std::string(name(failure.accuracy.mode));
    const bool values = detail == "value" || detail == "nan_or_inf" || detail == "sizes";
    if (kind == "mismatch" && !values && !(dtypes && detail == "dtype"))
        return "a short program compares values and sizes, which do not differ";
    if (kind == "crash" && !detail.starts_with("SIG"))
        return "a short program cannot detect that the process exits before the end of the run";
    if (kind != "mismatch" && kind != "exception" && kind != "crash" && kind != "timeout")
        return "a short program cannot reproduce the outcome " + kind;
    return {};
}

}  // namespace whittle
