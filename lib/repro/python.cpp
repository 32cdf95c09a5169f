#include "repro/python.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

#include "base/error.h"
#include "base/program_text.h"
#include "base/words.h"
#include "ops/aten/earlier.h"
#include "tensor/expanded.h"

namespace whittle::repro {

namespace {

constexpr std::int64_t kLargestList = 64;  ///< elements that are written one by one
constexpr std::size_t kLargestHex = 2048;  ///< bytes that are written as hexadecimal digits
constexpr std::size_t kLine = 100;

std::string python_dtype(DType dtype) {
    constexpr std::pair<DType, const char*> kNames[] = {
        {DType::f64, "float64"}, {DType::f32, "float32"}, {DType::f16, "float16"}, {DType::bf16, "bfloat16"},
        {DType::i64, "int64"},   {DType::i32, "int32"},   {DType::i16, "int16"},   {DType::i8, "int8"},
        {DType::u8, "uint8"},    {DType::boolean, "bool"}};
    for (const auto& [known, name] : kNames)
        if (known == dtype) return std::string("torch.") + name;
    throw Error("found dtype " + std::string(name(dtype)) + ", expected one that PyTorch computes with");
}

std::string in_quotes(const std::string& text) {
    std::string result = "'";
    for (const char c : text) {
        if (c == '\'' || c == '\\') result += '\\';
        result += c == '\n' ? std::string("\\n") : std::string(1, c);
    }
    return result + "'";
}

/// "[1, 2]", "(3,)".
std::string joined(const std::vector<std::string>& words, char open, char close) {
    std::string text(1, open);
    for (const std::string& word : words) text += (text.size() > 1 ? ", " : "") + word;
    if (open == '(' && words.size() == 1) text += ',';
    return text + close;
}

std::string sizes_text(const std::vector<std::int64_t>& sizes) {
    std::vector<std::string> words;
    for (const std::int64_t size : sizes) words.push_back(std::to_string(size));
    return joined(words, '(', ')');
}

/// Breaks the line behind commas where it is too long.
std::string wrapped(const std::string& line) {
    std::string text;
    std::size_t begin = 0, column = 0;
    for (std::size_t at = line.find(", "); at != std::string::npos; at = line.find(", ", at + 2)) {
        if (at + 1 - begin + column > kLine && begin < at) {
            const std::size_t last = line.rfind(", ", at - 1);
            if (last != std::string::npos && last > begin) {
                text += line.substr(begin, last + 1 - begin) + "\n    ";
                begin = last + 2;
                column = 4;
            }
        }
    }
    return text + line.substr(begin);
}

class Script {
  public:
    Script(const Graph& graph, std::string stem) : graph_(graph), stem_(std::move(stem)) {}

    PythonScript write(std::span<const Tensor> inputs, std::span<const Tensor> expected,
                       const std::vector<std::string>& about) {
        std::string text;
        for (const std::string& line : about) text += "# " + line + "\n";
        const std::string body = function();
        std::string values;
        for (std::size_t i = 0; i < inputs.size(); ++i)
            values += wrapped(names_.at(graph_.placeholders().at(i)) + " = " + tensor(inputs[i])) + "\n";
        for (const auto& [name, attribute] : attributes_)
            values += wrapped(name + " = " + tensor(graph_.attributes.at(attribute))) + "\n";
        std::vector<std::string> results;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const std::string name = "expected" + std::to_string(i);
            values += wrapped(name + " = " + tensor(expected[i])) + "\n";
            std::array<char, 80> tolerances{};
            std::snprintf(tolerances.data(), tolerances.size(), "%g, %g", info_of(expected[i].dtype()).rtol,
                          info_of(expected[i].dtype()).atol);
            results.push_back("(" + name + ", " + tolerances.data() + ")");
        }
        text += "import sys\n";
        if (!sidecars_.empty()) text += "from pathlib import Path\n";
        text += "\nimport torch\n\n\n" + body + "\n\n" + values + "\n";
        // TorchScript optimizes once it has seen two runs.
        text += wrapped("if sys.argv[1:] == [\"ts\"]:\n    graph = torch.jit.trace(graph, " +
                        joined(arguments_, '(', ')') + ")") +
                "\n    graph" + parameters() + ", graph" + parameters() + "\n";
        text += "elif len(sys.argv) > 1:\n    graph = torch.compile(graph, backend=sys.argv[1])\n";
        text += wrapped("results = graph" + parameters()) + "\n";
        text += wrapped("expected = " + joined(results, '[', ']')) + "\n";
        text +=
            "try:\n"
            "    for result, (value, rtol, atol) in zip(results, expected):\n"
            "        torch.testing.assert_close(result, value, rtol=rtol, atol=atol, equal_nan=True, "
            "check_stride=False)\n"
            "except AssertionError as error:\n"
            "    sys.exit(f\"BUG: {error}\")\n"
            "print(\"as expected\")\n";
        return {std::move(text), std::move(sidecars_)};
    }

  private:
    std::string function() {
        std::string calls;
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            const Node& node = graph_.nodes[i];
            const auto id = static_cast<NodeId>(i);
            switch (node.kind) {
                case NodeKind::placeholder:
                    arguments_.push_back(names_[id] = variable(node.name));
                    break;
                case NodeKind::get_attr:
                    arguments_.push_back(names_[id] = variable(node.name));
                    attributes_.emplace_back(names_[id], node.target);
                    break;
                case NodeKind::call:
                    names_[id] = variable(node.name);
                    calls += "    " + wrapped(names_[id] + " = " + call(node)) + "\n";
                    break;
                case NodeKind::output:
                    calls += "    " + wrapped("return " + list(node.args, '(', ')')) + "\n";
                    break;
            }
        }
        return wrapped("def graph" + parameters()) + ":\n" + calls;
    }

    std::string parameters() const {
        std::string text = "(";
        for (const std::string& name : arguments_) text += (text.size() > 1 ? ", " : "") + name;
        return text + ")";
    }

    /// Node names are identifiers; some mean something to Python, or here.
    static std::string variable(const std::string& name) {
        constexpr const char* kTaken[] = {
            "and",  "as",     "assert",   "async",   "await", "break",    "class",   "continue", "def",    "del",
            "elif", "else",   "except",   "finally", "for",   "from",     "global",  "if",       "import", "in",
            "is",   "lambda", "nonlocal", "not",     "or",    "pass",     "raise",   "return",   "try",    "while",
            "with", "yield",  "graph",    "sys",     "torch", "expected", "results", "Path"};
        const bool taken = std::ranges::any_of(kTaken, [&](const char* word) { return name == word; });
        return taken || name.starts_with("expected") ? name + "_" : name;
    }

    std::string call(const Node& named) {
        const Node node = with_earlier_target(named);  // which later versions have, too
        if (node.target == kGetItem) return argument(node.args.at(0)) + "[" + argument(node.args.at(1)) + "]";
        const auto dots = std::ranges::count(node.target, '.');
        if (!node.target.starts_with("aten.") || dots != 2)
            throw Error("found a call of " + node.target + ", expected ATen's operations, which PyTorch has",
                        "explain --ops counts a graph's operations");
        std::vector<std::string> words;
        for (const Arg& arg : node.args) words.push_back(argument(arg));
        for (const auto& [name, arg] : node.kwargs) words.push_back(name + "=" + named_argument(name, arg));
        std::string text = "torch.ops." + node.target + "(";
        for (std::size_t i = 0; i < words.size(); ++i) text += (i ? ", " : "") + words[i];
        return text + ")";
    }

    /// Enumerations are texts in our graphs.
    std::string named_argument(const std::string& name, const Arg& arg) {
        const auto* text = std::get_if<std::string>(&arg.value);
        if (text && (name == "memory_format" || name == "layout")) return "torch." + *text;
        return argument(arg);
    }

    std::string list(const ArgList& args, char open, char close) {
        std::vector<std::string> words;
        for (const Arg& arg : args) words.push_back(argument(arg));
        return joined(words, open, close);
    }

    std::string argument(const Arg& arg) {
        if (arg.is_none()) return "None";
        if (const NodeRef* node = arg.node()) return names_.at(node->id);
        if (const ArgList* elements = arg.list()) return list(*elements, '[', ']');
        if (const auto* value = std::get_if<std::int64_t>(&arg.value)) return std::to_string(*value);
        if (const auto* value = std::get_if<double>(&arg.value)) return python_number(*value);
        if (const auto* value = std::get_if<bool>(&arg.value)) return *value ? "True" : "False";
        if (const auto* value = std::get_if<std::string>(&arg.value)) return in_quotes(*value);
        if (const auto* value = std::get_if<DType>(&arg.value)) return python_dtype(*value);
        throw Error("found a call with a nested graph, expected operations only");
    }

    std::string tensor(const Tensor& tensor) {
        if (const Tensor once = unexpanded(tensor); once.sizes() != tensor.sizes())
            return this->tensor(once) + ".expand(" + sizes_text(tensor.sizes()) + ")";
        const std::string dtype = python_dtype(tensor.dtype());
        const std::string text = contiguous(tensor.contiguous(), dtype);
        if (tensor.strides() == contiguous_strides(tensor.sizes())) return text;
        return "torch.empty_strided(" + sizes_text(tensor.sizes()) + ", " + sizes_text(tensor.strides()) +
               ", dtype=" + dtype + ").copy_(" + text + ")";
    }

    std::string contiguous(const Tensor& tensor, const std::string& dtype) {
        const auto bytes = tensor.contiguous_bytes();
        const std::string reshaped = ".reshape(" + sizes_text(tensor.sizes()) + ")";
        if (tensor.numel() <= kLargestList) {
            const Tensor wide = is_floating(tensor.dtype()) ? tensor.to(DType::f64) : tensor;
            std::vector<std::string> words;
            for (std::int64_t i = 0; i < tensor.numel(); ++i) {
                words.push_back(is_floating(tensor.dtype())
                                    ? python_number(wide.data<double>()[i], tensor.dtype() != DType::f64)
                                    : argument(Arg(wide.as_strided({}, {}, i).item())));
            }
            const std::string plain = "torch.tensor(" + joined(words, '[', ']') + ", dtype=" + dtype + ")";
            return tensor.sizes() == Sizes{tensor.numel()} ? plain : plain + reshaped;
        }
        const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        std::string source;
        if (bytes.size() <= kLargestHex) {
            std::string digits;
            for (const unsigned char c : text)
                digits += "0123456789abcdef"[c >> 4], digits += "0123456789abcdef"[c & 15];
            source = "bytes.fromhex(";
            for (std::size_t i = 0; i < digits.size(); i += kLine - 8)
                source += "\n    '" + digits.substr(i, kLine - 8) + "'";
            source += ")";
        } else {
            Sidecar sidecar{stem_ + "." + std::to_string(sidecars_.size()) + ".bin", std::string(text)};
            source = "(Path(__file__).parent / " + in_quotes(sidecar.file) + ").read_bytes()";
            sidecars_.push_back(std::move(sidecar));
        }
        return "torch.frombuffer(bytearray(" + source + "), dtype=" + dtype + ")" + reshaped;
    }

    const Graph& graph_;
    const std::string stem_;
    std::map<NodeId, std::string> names_;
    std::vector<std::string> arguments_;
    std::vector<std::pair<std::string, std::string>> attributes_;  ///< variable, name in the graph
    std::vector<Sidecar> sidecars_;
};

}  // namespace

PythonScript python_script(const Graph& graph, std::span<const Tensor> inputs, std::span<const Tensor> expected,
                           const std::vector<std::string>& about, const std::string& stem) {
    return Script(graph, stem).write(inputs, expected, about);
}

}  // namespace whittle::repro
