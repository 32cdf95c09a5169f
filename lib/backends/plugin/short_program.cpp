#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "backends/plugin/repro_code.h"
#include "backends/plugin/whittle_backend.h"
#include "base/program_text.h"
#include "base/subprocess.h"
#include "expr/cpp_text.h"
#include "expr/loops.h"
#include "graph/json.h"
#include "graph/value_ref.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kMostInPlace = 16;  // elements that a reader takes in
constexpr std::size_t kMostNodes = 12;

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.7g", value);
    return text;
}

/// Why a reader would not take it in.
std::string too_much(const ShortRequest& request) {
    const Failure& failure = *request.graph.failure;
    const std::string &kind = failure.signature.kind, &detail = failure.signature.detail;
    if (!failure.signature.part.empty()) return "it fails at gradients";
    if (failure.accuracy.mode == Accuracy::Mode::strict) return "it fails with --accuracy=strict only";
    if (kind == "mismatch" && detail != "value" && detail != "nan_or_inf") return "its mismatch is none of values";
    if (kind == "crash" && !detail.starts_with("SIG")) return "the process ends in the middle of its work";
    if (kind != "mismatch" && kind != "exception" && kind != "crash" && kind != "timeout")
        return "a short program does not show " + kind;
    if (detail.starts_with("threw") || detail.starts_with("returned"))
        return "the plug-in breaks the interface's rules";
    if (request.graph.nodes.size() > kMostNodes || !request.graph.subgraphs.empty())
        return "its graph is more than a reader takes in";
    const auto large = [](const Tensor& tensor) {
        return tensor.numel() > kMostInPlace || tensor.numel() == 0 || is_reduced(tensor.dtype());
    };
    const auto any_large = [&](std::span<const Tensor> tensors) { return std::ranges::any_of(tensors, large); };
    if (any_large(failure.inputs) || any_large(request.expected)) return "its data are more than a reader takes in";
    for (const auto& [key, value] : request.graph.attributes)
        if (large(value)) return "its parameters are more than a reader takes in";
    return {};
}

class PluginProgram {
  public:
    PluginProgram(const ShortRequest& request, const fs::path& library, const std::string& backend)
        : request_(request), failure_(*request.graph.failure), library_(library), backend_(backend) {}

    ShortProgram write() {
        std::map<std::string, std::string> values = {{"JSON", json()},
                                                     {"LIBRARY", string_literal("./" + library_.filename().string())},
                                                     {"BACKEND", string_literal(backend_)},
                                                     {"BUILD", build()}};
        values["INPUTS"] = structs("inputs", inputs());
        values["ATTRIBUTES"] = structs("attributes", attributes());
        values["OPTIONS"] = options();
        outputs(values);
        const bool exception = failure_.signature.kind == "exception", compiles = failure_.signature.stage == "compile";
        values["COMPILE_FAILS"] = exception && compiles ? "1" : "2";
        values["RUN_FAILS"] = exception && !compiles ? "1" : "2";
        values["BEFORE"] = before();
        values["COMPARE"] = failure_.signature.kind == "mismatch" ? compare() : "";
        values["DATA"] = data_;
        values["HEADER"] = "// " + library_.filename().string() + ", backend " + backend_ + ": " + what();
        values["INCLUDES"] = includes(values);
        ShortProgram program;
        program.text = fill_template("repro_plugin_short.cpp", values);
        program.summary = what();
        program.compiler = "backend " + backend_ + " in " + library_.filename().string();
        program.compile_flags = {"-ldl"};
        program.companions = {library_};
        program.files = {{"whittle_backend.h", std::string(plugin_header_text())}};
        program.arguments = {fs::absolute(library_).string()};
        return program;
    }

  private:
    struct Leaf {
        std::string name, key;
        Tensor value;
    };

    /// x, x0 … for inputs, w0 … for parameters, the op's own word for a call: the user's names say nothing here.
    static void rename(Graph& graph) {
        const std::size_t inputs = graph.placeholders().size();
        std::map<std::string, int> used;
        std::map<std::string, Tensor> attributes;
        std::size_t input = 0;
        for (Node& node : graph.nodes) {
            node.stack = {}, node.module_path = {};
            if (node.kind == NodeKind::placeholder)
                node.name = node.target = inputs == 1 ? "x" : "x" + std::to_string(input++);
            if (node.kind == NodeKind::get_attr) {
                const auto place = std::distance(graph.attributes.begin(), graph.attributes.find(node.target));
                const std::string key = "w" + std::to_string(place);
                attributes.emplace(key, graph.attributes.at(node.target));
                node.name = node.target = key;
            }
            if (node.kind != NodeKind::call) continue;
            std::string word = node.target.substr(node.target.find('.') + 1);
            word = word.substr(0, word.find('.'));
            std::ranges::transform(word, word.begin(),
                                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
            const int nth = used[word]++;
            node.name = nth ? word + "_" + std::to_string(nth) : word;
        }
        graph.name = "graph";
        graph.attributes = std::move(attributes);
    }

    /// The head on one line, then a line for each node.
    std::string json() const {
        Graph graph = request_.graph;
        graph.failure.reset();
        rename(graph);
        std::map<std::string, Tensor> beside;
        std::string text = graph_to_json(graph, beside);
        while (text.ends_with('\n')) text.pop_back();
        const std::size_t nodes = text.find("\n  \"nodes\"");
        for (std::size_t at = 1; (at = text.find("\n", at + 1)) < nodes;) text.replace(at, 3, " ");
        return text;
    }

    std::vector<Leaf> inputs() const {
        std::vector<Leaf> leaves;
        for (const Tensor& input : failure_.inputs) {
            const std::string name = failure_.inputs.size() == 1 ? "x" : "x" + std::to_string(leaves.size());
            leaves.push_back({name, name, input});
        }
        return leaves;
    }

    std::vector<Leaf> attributes() const {
        std::vector<Leaf> leaves;
        for (const auto& attribute : request_.graph.attributes) {
            const std::string name = "w" + std::to_string(leaves.size());
            leaves.push_back({name, name, attribute.second});
        }
        return leaves;
    }

    static std::string array(const std::string& name, const Tensor& tensor) {
        std::string text;
        for (const double value : tensor.contiguous().values<double>())
            text += (text.empty() ? "" : ", ") + literal(tensor.dtype(), value);
        return "static const " + expr::cpp_type(tensor.dtype()) + " " + name + "[] = {" + text + "};\n";
    }

    static std::string literal(DType dtype, double value) {
        if (dtype == DType::boolean) return value != 0 ? "true" : "false";
        if (!is_floating(dtype)) return expr::integer_literal(dtype, Scalar(static_cast<std::int64_t>(value))).text;
        const bool plain = value == std::trunc(value) && std::fabs(value) < 1e6 && !(value == 0 && std::signbit(value));
        return plain ? std::to_string(static_cast<long>(value)) : expr::float_literal(dtype, value).text;
    }

    static std::string dtype_name(DType dtype) {
        std::string text(name(dtype));
        std::ranges::transform(text, text.begin(), [](char c) { return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c; });
        return "WHITTLE_" + text;
    }

    /// Defines them; "inputs, 2": what a function is given.
    std::string structs(const std::string& name, const std::vector<Leaf>& leaves) {
        if (leaves.empty()) return "nullptr, 0";
        std::string list;
        for (const Leaf& leaf : leaves) {
            const std::string sizes = to_string(leaf.value.sizes());
            const bool scalar = leaf.value.rank() == 0;
            data_ += array(leaf.name, leaf.value);
            if (!scalar)
                data_ +=
                    "static const int64_t " + leaf.name + "_sizes[] = {" + sizes.substr(1, sizes.size() - 2) + "};\n";
            list += std::string(list.empty() ? "" : ", ") + "{" + dtype_name(leaf.value.dtype()) + ", " +
                    std::to_string(leaf.value.rank()) + ", " + (scalar ? "nullptr" : leaf.name + "_sizes") +
                    ", nullptr, " + leaf.name + ", " + string_literal(leaf.key) + ", nullptr}";
        }
        data_ += "static const whittle_tensor " + name + "[] = {" + list + "};\n";
        return name + ", " + std::to_string(leaves.size());
    }

    std::string options() {
        if (failure_.options.empty()) return "nullptr, 0";
        std::string list;
        for (const auto& [key, value] : failure_.options)
            list += (list.empty() ? "{" : ", {") + string_literal(key) + ", " + string_literal(value) + "}";
        data_ += "static const whittle_option options[] = {" + list + "};\n";
        return "options, " + std::to_string(failure_.options.size());
    }

    std::string output_name(std::size_t i) const {
        return request_.expected.size() == 1 ? "y" : "y" + std::to_string(i);
    }

    void outputs(std::map<std::string, std::string>& values) {
        std::string counts, sizes, places;
        for (std::size_t i = 0; i < request_.expected.size(); i++) {
            const Tensor& expected = request_.expected[i];
            const std::string name = output_name(i), count = std::to_string(expected.numel()), comma = i ? ", " : "";
            data_ += "static " + expr::cpp_type(expected.dtype()) + " " + name + "[" + count + "];\n";
            if (failure_.signature.kind == "mismatch") data_ += array("expected_" + name, expected);
            counts += comma + count;
            sizes += comma + "sizeof *" + name;
            places += comma + "(char *)" + name;
        }
        values["COUNTS"] = counts;
        values["SIZES"] = sizes;
        values["PLACES"] = places;
    }

    std::string before() const {
        if (failure_.signature.kind == "crash")
            return "    signal(" + failure_.signature.detail + ", [](int) { _exit(1); });\n";
        if (failure_.signature.kind == "timeout")
            return "    signal(SIGALRM, [](int) { _exit(1); });\n    alarm(" + std::to_string(request_.alarm) + ");\n";
        return {};
    }

    std::string compare() const {
        std::string text;
        for (std::size_t i = 0; i < request_.expected.size(); i++) {
            const std::string name = output_name(i), expected = "expected_" + name + "[i]", got = name + "[i]";
            text += "    for (size_t i = 0; i < " + std::to_string(request_.expected[i].numel()) +
                    "; i++)\n        if (" + wrong(request_.expected[i], got, expected) + ") {\n            printf(\"" +
                    name + "[%zu] = %g, expected %g\\n\", i, double(" + got + "), double(" + expected +
                    "));\n            return 1;\n        }\n";
        }
        return text;
    }

    std::string wrong(const Tensor& expected, const std::string& got, const std::string& right) const {
        if (!is_floating(expected.dtype())) return got + " != " + right;
        double largest = 0;
        bool nan = false;
        for (const double value : expected.values<double>()) {
            nan = nan || std::isnan(value);
            if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
        }
        const Tolerance tolerance = failure_.accuracy.tolerance(expected.dtype());
        const bool finite = std::ranges::all_of(expected.values<double>(), [](double v) { return std::isfinite(v); });
        return (finite ? "" : got + " != " + right + " && ") + "!(std::fabs(" + got + " - " + right +
               ") <= " + number(tolerance.atol + tolerance.rtol * largest) + ")" +
               (nan ? " && !(std::isnan(" + got + ") && std::isnan(" + right + "))" : "");
    }

    static std::string includes(const std::map<std::string, std::string>& values) {
        std::string text;
        if (values.at("COMPARE").find("std::") != std::string::npos ||
            values.at("DATA").find("NAN") != std::string::npos ||
            values.at("DATA").find("INFINITY") != std::string::npos)
            text += "#include <cmath>\n";
        if (!values.at("BEFORE").empty()) text += "#include <csignal>\n";
        text += "#include <cstdio>\n#include <cstring>";
        return values.at("BEFORE").empty() ? text : text + "\n#include <unistd.h>";
    }

    std::string ops() const {
        std::string text;
        std::set<std::string> seen;
        for (const NodeId id : request_.graph.calls()) {
            const Node& node = request_.graph.node({id});
            if (!is_getitem(node) && seen.insert(node.target).second) text += (text.empty() ? "" : ", ") + node.target;
        }
        return text;
    }

    std::string what() const {
        const std::string& kind = failure_.signature.kind;
        if (kind == "exception")
            return ops() + " fails to " + failure_.signature.stage + ": " + one_line(failure_.message);
        if (kind == "crash") return failure_.signature.detail + " at " + failure_.signature.stage + " of " + ops();
        if (kind == "timeout")
            return failure_.signature.stage + " of " + ops() + " is not done after " + std::to_string(request_.alarm) +
                   " s";
        for (std::size_t i = 0; i < request_.got.size() && i < request_.expected.size(); i++) {
            const std::vector<double> got = request_.got[i].contiguous().values<double>(),
                                      expected = request_.expected[i].contiguous().values<double>();
            for (std::size_t k = 0; k < got.size() && k < expected.size(); k++)
                if (compare_at(request_.expected[i], got[k], expected[k]))
                    return ops() + " gives " + number(got[k]) + ", expected " + number(expected[k]);
        }
        return ops() + " gives wrong values";
    }

    bool compare_at(const Tensor& like, double got, double expected) const {
        const auto one = [&](double value) { return Tensor::of(std::vector<double>{value}, {1}).to(like.dtype()); };
        return compare_values(one(got), one(expected));
    }
    bool compare_values(const Tensor& got, const Tensor& expected) const {
        return whittle::compare(got, expected, failure_.accuracy).has_value();
    }

    static std::string one_line(std::string text) {
        std::ranges::replace(text, '\n', ' ');
        return text;
    }

    std::string build() const {
        const std::string program = request_.file.stem().string();
        return shell_quote({"g++", "-std=c++17", "-O1", request_.file.filename().string(), "-o", program, "-ldl"}) +
               " && " + shell_quote({"./" + program, "./" + library_.filename().string()});
    }

    const ShortRequest& request_;
    const Failure& failure_;
    const fs::path& library_;
    const std::string& backend_;
    std::string data_;
};

}  // namespace

std::optional<ShortProgram> plugin_program(const ShortRequest& request, const fs::path& library,
                                           const std::string& name, std::string& why_not) {
    why_not = too_much(request);
    if (!why_not.empty()) return std::nullopt;
    return PluginProgram(request, library, name).write();
}

}  // namespace whittle
