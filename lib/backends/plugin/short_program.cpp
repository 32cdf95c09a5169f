#include <algorithm>

#include "backends/plugin/repro_code.h"
#include "backends/plugin/whittle_backend.h"
#include "base/program_text.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "formats/json.h"
#include "printers/short_program.h"
#include "printers/title.h"
#include "text/language.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

using language::cpp;

constexpr std::size_t kMostNodes = 12;

/// Why a reader would not take it in.
std::string too_much(const ShortRequest& request) {
    const Failure& failure = *request.graph.failure;
    if (std::string why = not_shown_shortly(failure); !why.empty()) return why;
    if (failure.signature.detail == "sizes")
        return "a short program compares only values, but the results differ in sizes";
    const std::string& detail = failure.signature.detail;
    if (detail.starts_with("threw") || detail.starts_with("returned"))
        return "a short program cannot show that the plug-in violates the interface";
    if (request.graph.nodes.size() > kMostNodes || !request.graph.subgraphs.empty())
        return "the graph is too long for a short program";
    return not_written_shortly(
        request, [](DType dtype) { return !is_reduced(dtype) && !is_complex(dtype); },
        [](const Tensor& tensor) { return tensor.numel() > kMostInPlace || tensor.numel() == 0; });
}

class PluginProgram {
  public:
    PluginProgram(const ShortRequest& request, const fs::path& library, const std::string& backend)
        : request_(request), failure_(*request.graph.failure), library_(library), backend_(backend) {}

    ReproProgram write() {
        std::map<std::string, std::string> values = {
            {"JSON", json()},
            {"LIBRARY", cpp.quoted_lines("./" + library_.filename().string())},
            {"BACKEND", cpp.quoted_lines(backend_)},
            {"BUILD", build_line(request_.file, {"-ldl"}, {"./" + library_.filename().string()})}};
        const std::string inputs = structs("inputs", this->inputs());
        values["ATTRIBUTES"] = structs("attributes", attributes());
        values["OPTIONS"] = options();
        values["OUTPUT"] = outputs();
        values["RUN"] = run(inputs);
        values["BEFORE"] = ends_by_failure(failure_.signature, request_.alarm);
        values["COMPARE"] = failure_.signature.kind == "mismatch" ? compare() : "";
        values["DATA"] = data_;
        values["HEADER"] =
            chomped(cpp.comment(library_.filename().string() + ", backend " + backend_ + ": " +
                                whole_statement(request_, with_short_names(request_.graph), nullptr, {})));
        values["INCLUDES"] = standard_includes("strcmp(" + values["BEFORE"] + data_ + values["COMPARE"]);
        ReproProgram program;
        program.text = fill_template("repro_plugin_short.cpp", values);
        program.summary = report_title(request_, with_short_names(request_.graph), nullptr, {});
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

    /// The head on one line, then a line for each node.
    std::string json() const {
        std::map<std::string, Tensor> beside;
        std::string text = graph_to_json(with_short_names(request_.graph), beside);
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

    /// "x[] = {1, 2}".
    static std::string array(const std::string& name, const Tensor& tensor) {
        return name + "[] = {" + language::short_cpp.elements(tensor) + "}";
    }

    static std::string dtype_name(DType dtype) {
        std::string text(name(dtype));
        std::ranges::transform(text, text.begin(), [](char c) { return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c; });
        return "WHITTLE_" + text;
    }

    /// An array of them, of which tensors of one shape share one.
    std::string sizes(const Tensor& tensor) {
        if (tensor.rank() == 0) return "nullptr";
        const std::string definition =
            "static const int64_t sizes_" + sizes_of(tensor) + "[] = " + cpp.sizes(tensor.sizes()) + ";\n";
        if (data_.find(definition) == std::string::npos) data_ += definition;
        return "sizes_" + sizes_of(tensor);
    }

    /// Defines them; "inputs, 2": what a function is given.
    std::string structs(const std::string& name, const std::vector<Leaf>& leaves) {
        if (leaves.empty()) return "nullptr, 0";
        const std::string list = join(leaves, [&](const Leaf& leaf) {
            data_ += "static const " + cpp.type(leaf.value.dtype()) + " " + array(leaf.name, leaf.value) + ";\n";
            return "{" + dtype_name(leaf.value.dtype()) + ", " + std::to_string(leaf.value.rank()) + ", " +
                   sizes(leaf.value) + ", nullptr, " + leaf.name + ", " + cpp.quoted_lines(leaf.key) + ", nullptr}";
        });
        data_ += "static const whittle_tensor " + name + "[] = {" + list + "};\n";
        return name + ", " + std::to_string(leaves.size());
    }

    std::string options() {
        if (failure_.options.empty()) return "nullptr, 0";
        const std::string list = join(failure_.options, [](const auto& option) {
            return "{" + cpp.quoted_lines(option.first) + ", " + cpp.quoted_lines(option.second) + "}";
        });
        data_ += "static const whittle_option options[] = {" + list + "};\n";
        return "options, " + std::to_string(failure_.options.size());
    }

    std::string output_name(std::size_t i) const {
        return request_.expected.size() == 1 ? "y" : "out" + std::to_string(i);  // y0 and y1 are the C library's
    }

    /// Where results go: a function that the library calls with each. What it gives may have strides.
    std::string outputs() {
        std::string counts, sizes, places, type;
        for (std::size_t i = 0; i < request_.expected.size(); i++) {
            const Tensor& expected = request_.expected[i];
            const std::string name = output_name(i), count = std::to_string(expected.numel()), comma = i ? ", " : "";
            type = cpp.type(expected.dtype());
            data_ += "static " + type + " " + name + "[" + count + "]" +
                     (failure_.signature.kind == "mismatch" ? ", " + array("expected_" + name, expected) : "") + ";\n";
            counts += comma + count;
            sizes += comma + "sizeof *" + name;
            places += comma + "(char *)" + name;
        }
        const bool one = request_.expected.size() == 1;
        return std::string("static void output(void *, size_t") + (one ? "" : " index") +
               ", const whittle_tensor *t) {\n" +
               (one ? ""
                    : "    const size_t count[] = {" + counts + "}, size[] = {" + sizes + "};\n" +
                          "    char *const to[] = {" + places + "};\n") +
               "    for (size_t i = 0; i < " + (one ? counts : "count[index]") + "; i++) {\n" +
               "        int64_t from = t->strides ? 0 : i, rest = i;\n"
               "        for (int d = t->rank; t->strides && d-- > 0; rest /= t->sizes[d])\n"
               "            from += rest % t->sizes[d] * t->strides[d];\n" +
               (one ? "        y[i] = ((const " + type + " *)t->data)[from];\n"
                    : "        memcpy(to[index] + i * size[index], (const char *)t->data + from * size[index], "
                      "size[index]);\n") +
               "    }\n}\n";
    }

    std::string run(const std::string& inputs) const {
        const bool exception = failure_.signature.kind == "exception", compiles = failure_.signature.stage == "compile";
        const std::string compile = "(*backend)->compile(&graph, &host, &handle)",
                          run = "(*backend)->run(handle, " + inputs + ", &host)";
        if (!exception) return "    if (" + compile + " || " + run + ") return 2;\n";
        return "    if (" + compile + ") return " + (compiles ? "1" : "2") + ";\n    if (" + run + ") return " +
               (compiles ? "2" : "1") + ";\n";
    }

    std::string compare() const {
        std::string text;
        for (std::size_t i = 0; i < request_.expected.size(); i++) {
            const std::string name = output_name(i), expected = "expected_" + name + "[i]", got = name + "[i]";
            const DType dtype = request_.expected[i].dtype();
            if (request_.given_expected)
                text += "    memcpy(" + name + ", expected_" + name + ", sizeof " + name + ");\n";
            const PrintedElement seen = printed_element(dtype, got), right = printed_element(dtype, expected);
            text += "    for (size_t i = 0; i < " + std::to_string(request_.expected[i].numel()) +
                    "; i++)\n        if (" + wrong(request_.expected[i], got, expected) +
                    ")\n            return printf(\"" + name + "[%zu] = " + seen.format + ", expected " + right.format +
                    "\\n\", i, " + seen.argument + ", " + right.argument + "), 1;\n";
        }
        return text;
    }

    std::string wrong(const Tensor& expected, const std::string& got, const std::string& right) const {
        return differs_in_cpp(expected.values<double>(), absolute_tolerance(failure_, expected), got, right);
    }

    const ShortRequest& request_;
    const Failure& failure_;
    const fs::path& library_;
    const std::string& backend_;
    std::string data_;
};

}  // namespace

std::optional<ReproProgram> plugin_program(const ShortRequest& request, const fs::path& library,
                                           const std::string& name, std::string& why_not) {
    why_not = too_much(request);
    if (!why_not.empty()) return std::nullopt;
    return PluginProgram(request, library, name).write();
}

}  // namespace whittle
