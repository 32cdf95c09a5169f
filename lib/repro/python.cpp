#include "repro/python.h"

#include <map>

#include "base/number_text.h"
#include "base/program_text.h"
#include "printers/torch_python.h"
#include "tensor/expanded.h"

namespace whittle::repro {

using printers::python_list, printers::python_sizes, printers::python_variable, printers::python_wrapped,
    printers::torch_dtype;

namespace {

constexpr std::int64_t kLargestList = 64;  ///< elements that are written one by one
constexpr std::size_t kLargestHex = 2048;  ///< bytes that are written as hexadecimal digits
constexpr std::size_t kLine = 100;

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
            values += python_wrapped(names_.at(graph_.placeholders().at(i)) + " = " + tensor(inputs[i])) + "\n";
        for (const auto& [name, attribute] : attributes_)
            values += python_wrapped(name + " = " + tensor(graph_.attributes.at(attribute))) + "\n";
        std::vector<std::string> results;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const std::string name = "expected" + std::to_string(i);
            values += python_wrapped(name + " = " + tensor(expected[i])) + "\n";
            const DTypeInfo& info = info_of(expected[i].dtype());
            results.push_back("(" + name + ", " + shortest(info.rtol, false) + ", " + shortest(info.atol, false) + ")");
        }
        text += "import sys\n";
        if (!sidecars_.empty()) text += "from pathlib import Path\n";
        text += "\nimport torch\n\n\n" + body + "\n\n" + values + "\n";
        // TorchScript optimizes once it has seen two runs.
        text += "if sys.argv[1:] == [\"ts\"]:\n" +
                python_wrapped("    graph = torch.jit.trace(graph, " + python_list(arguments_, '(', ')') + ")") + "\n" +
                python_wrapped("    graph" + parameters() + ", graph" + parameters()) + "\n";
        text += "elif len(sys.argv) > 1:\n    graph = torch.compile(graph, backend=sys.argv[1])\n";
        text += python_wrapped("results = graph" + parameters()) + "\n";
        text += python_wrapped("expected = " + python_list(results, '[', ']')) + "\n";
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
        const auto of = [&](NodeId id) { return names_.at(id); };
        const auto returned = [&](const ArgList& args) {
            std::vector<std::string> words;
            for (const Arg& arg : args) words.push_back(printers::torch_argument(arg, of));
            return python_list(words, '(', ')');
        };
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            const Node& node = graph_.nodes[i];
            const auto id = static_cast<NodeId>(i);
            switch (node.kind) {
                case NodeKind::placeholder:
                    arguments_.push_back(names_[id] = python_variable(node.name));
                    break;
                case NodeKind::get_attr:
                    arguments_.push_back(names_[id] = python_variable(node.name));
                    attributes_.emplace_back(names_[id], node.target);
                    break;
                case NodeKind::call:
                    names_[id] = python_variable(node.name);
                    calls += python_wrapped("    " + names_[id] + " = " +
                                            printers::torch_call(node, printers::Overload::named, of)) +
                             "\n";
                    break;
                case NodeKind::output:
                    calls += python_wrapped("    return " + returned(node.args)) + "\n";
                    break;
            }
        }
        return python_wrapped("def graph" + parameters()) + ":\n" + calls;
    }

    std::string parameters() const {
        std::string text = "(";
        for (const std::string& name : arguments_) text += (text.size() > 1 ? ", " : "") + name;
        return text + ")";
    }

    std::string tensor(const Tensor& tensor) {
        if (const Tensor once = unexpanded(tensor); once.sizes() != tensor.sizes())
            return this->tensor(once) + ".expand(" + python_sizes(tensor.sizes()) + ")";
        const std::string dtype = torch_dtype(tensor.dtype());
        const std::string text = contiguous(tensor.contiguous(), dtype);
        if (tensor.strides() == contiguous_strides(tensor.sizes())) return text;
        return "torch.empty_strided(" + python_sizes(tensor.sizes()) + ", " + python_sizes(tensor.strides()) +
               ", dtype=" + dtype + ").copy_(" + text + ")";
    }

    std::string contiguous(const Tensor& tensor, const std::string& dtype) {
        const auto bytes = tensor.contiguous_bytes();
        const std::string reshaped = ".reshape(" + python_sizes(tensor.sizes()) + ")";
        if (tensor.numel() <= kLargestList) {
            std::vector<std::string> words;
            for (std::int64_t i = 0; i < tensor.numel(); ++i) words.push_back(printers::python_element(tensor, i));
            const std::string plain = "torch.tensor(" + python_list(words, '[', ']') + ", dtype=" + dtype + ")";
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
            source = "(Path(__file__).parent / " + python_text(sidecar.file) + ").read_bytes()";
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
