#include "printers/python_script.h"

#include <map>
#include <utility>

#include "base/number_text.h"
#include "base/program_text.h"
#include "base/words.h"
#include "printers/torch_python.h"
#include "tensor/reach.h"

namespace whittle::printers {
namespace {

using language::python;

constexpr std::int64_t kLargestList = 64;  ///< elements that are written one by one
constexpr std::size_t kLargestHex = 2048;  ///< bytes that are written as hexadecimal digits
constexpr std::size_t kHexLine = 92;       ///< columns of them

class Script {
  public:
    Script(const Graph& graph, std::string stem) : graph_(graph), stem_(std::move(stem)) {}

    ReproProgram write(std::span<const Tensor> inputs, std::span<const Tensor> expected,
                       const std::vector<std::string>& about) {
        const std::string function = this->function();
        std::string head, values;
        for (const std::string& line : about) head += "# " + line + "\n";
        for (std::size_t i = 0; i < inputs.size(); ++i)
            values += define(names_.at(graph_.placeholders().at(i)), inputs[i]);
        for (const auto& [name, attribute] : attributes_) values += define(name, graph_.attributes.at(attribute));
        std::vector<std::string> results;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const std::string name = "expected" + std::to_string(i);
            values += define(name, expected[i]);
            const DTypeInfo& info = info_of(expected[i].dtype());
            results.push_back("(" + name + ", " + shortest(info.rtol, false) + ", " + shortest(info.atol, false) + ")");
        }
        const std::string call = "graph" + parameters();
        return {
            .text = fill_template(
                "repro_calls.py",
                {{"ABOUT", head},
                 {"PATHS", sidecars_.empty() ? "" : "from pathlib import Path\n"},
                 {"FUNCTION", function},
                 {"VALUES", values},
                 {"TRACE", python_wrapped("    graph = torch.jit.trace(graph, " + Language::tuple(arguments_) + ")")},
                 {"WARM_UP", python_wrapped("    " + call + ", " + call)},  // it optimizes once it has seen two runs
                 {"RUN", python_wrapped("results = " + call)},
                 {"EXPECTED", python_wrapped("expected = " + python.list(results))}}),
            .files = std::move(sidecars_)};
    }

  private:
    std::string function() {
        std::string calls;
        const auto of = [&](NodeId id) { return names_.at(id); };
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            const Node& node = graph_.nodes[i];
            if (node.kind == NodeKind::output) {
                std::vector<std::string> words;
                for (const Arg& arg : node.args) words.push_back(torch_argument(arg, of));
                calls += python_wrapped("    return " + Language::tuple(words)) + "\n";
                break;
            }
            const std::string& name = names_[static_cast<NodeId>(i)] = python_variable(node.name);
            if (node.kind == NodeKind::call)
                calls += python_wrapped("    " + name + " = " + torch_call(node, Overload::named, of)) + "\n";
            else
                arguments_.push_back(name);
            if (node.kind == NodeKind::get_attr) attributes_.emplace_back(name, node.target);
        }
        return python_wrapped("def graph" + parameters()) + ":\n" + calls;
    }

    std::string parameters() const { return "(" + join(arguments_) + ")"; }

    std::string define(const std::string& name, const Tensor& value) {
        return python_wrapped(name + " = " + tensor(value)) + "\n";
    }

    std::string tensor(const Tensor& tensor) {
        if (const Tensor once = unexpanded(tensor); once.sizes() != tensor.sizes())
            return this->tensor(once) + ".expand(" + python.sizes(tensor.sizes()) + ")";
        const std::string dtype = python.type(tensor.dtype());
        const std::string text = contiguous(tensor.contiguous(), dtype);
        if (tensor.strides() == contiguous_strides(tensor.sizes())) return text;
        return "torch.empty_strided(" + python.sizes(tensor.sizes()) + ", " + python.sizes(tensor.strides()) +
               ", dtype=" + dtype + ").copy_(" + text + ")";
    }

    std::string contiguous(const Tensor& tensor, const std::string& dtype) {
        const auto bytes = tensor.contiguous_bytes();
        const std::string reshaped = ".reshape(" + python.sizes(tensor.sizes()) + ")";
        if (tensor.numel() <= kLargestList) {
            const std::string plain = "torch.tensor([" + python.elements(tensor) + "], dtype=" + dtype + ")";
            return tensor.sizes() == Sizes{tensor.numel()} ? plain : plain + reshaped;
        }
        const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        std::string source;
        if (bytes.size() <= kLargestHex) {
            std::string digits;
            for (const unsigned char c : text)
                digits += "0123456789abcdef"[c >> 4], digits += "0123456789abcdef"[c & 15];
            source = "bytes.fromhex(";
            for (std::size_t i = 0; i < digits.size(); i += kHexLine)
                source += "\n    '" + digits.substr(i, kHexLine) + "'";
            source += ")";
        } else {
            ReproProgram::File sidecar{stem_ + "." + std::to_string(sidecars_.size()) + ".bin", std::string(text)};
            source = "(Path(__file__).parent / " + python.quoted(sidecar.name) + ").read_bytes()";
            sidecars_.push_back(std::move(sidecar));
        }
        return "torch.frombuffer(bytearray(" + source + "), dtype=" + dtype + ")" + reshaped;
    }

    const Graph& graph_;
    const std::string stem_;
    std::map<NodeId, std::string> names_;
    std::vector<std::string> arguments_;
    std::vector<std::pair<std::string, std::string>> attributes_;  ///< variable, name in the graph
    std::vector<ReproProgram::File> sidecars_;
};

}  // namespace

ReproProgram python_script(const Graph& graph, std::span<const Tensor> inputs, std::span<const Tensor> expected,
                           const std::vector<std::string>& about, const std::string& stem) {
    return Script(graph, stem).write(inputs, expected, about);
}

}  // namespace whittle::printers
