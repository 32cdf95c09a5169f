#include "backends/libtorch/script_text.h"

#include <map>
#include <vector>

#include "backends/libtorch/memory.h"
#include "base/error.h"
#include "base/words.h"
#include "graph/value_ref.h"
#include "ops/aten/earlier.h"
#include "text/language.h"

namespace whittle {
namespace {

using language::python;

/// Enumerations are numbers in TorchScript that is compiled without Python.
std::string word(const std::string& parameter, const std::string& text) {
    constexpr std::pair<const char*, at::MemoryFormat> kFormats[] = {
        {"contiguous_format", at::MemoryFormat::Contiguous},
        {"preserve_format", at::MemoryFormat::Preserve},
        {"channels_last", at::MemoryFormat::ChannelsLast},
        {"channels_last_3d", at::MemoryFormat::ChannelsLast3d}};
    if (parameter == "memory_format")
        for (const auto& [name, format] : kFormats)
            if (text == name) return std::to_string(static_cast<int>(format));
    if (parameter == "layout") return std::to_string(static_cast<int>(at::Layout::Strided));
    return python.quoted(text);
}

class ScriptText {
  public:
    explicit ScriptText(const Graph& graph) : graph_(graph) {}

    std::string write() {
        std::string parameters = "self", calls;
        for (std::size_t i = 0; i < graph_.nodes.size(); i++) {
            const Node& node = graph_.nodes[i];
            std::string& name = names_[static_cast<NodeId>(i)];
            name = python.variable(node.name, "self torch float");
            if (node.kind == NodeKind::placeholder) parameters += ", " + name;
            if (node.kind == NodeKind::get_attr) name = "self." + node.target;
            if (node.kind == NodeKind::call) calls += "    " + name + " = " + call(node) + "\n";
            if (node.kind == NodeKind::output) calls += "    return " + list(node.args) + "\n";
        }
        return "def forward(" + parameters + "):\n" + calls;
    }

  private:
    std::string call(const Node& named) const {
        const Node node = with_earlier_target(named);
        if (const auto read = item_read(node)) return names_.at(read->node) + "[" + std::to_string(read->index) + "]";
        if (!node.target.starts_with("aten."))
            throw Error("the graph calls " + node.target + ", which is not an ATen op");
        const std::string function = node.target.substr(5, node.target.find('.', 5) - 5);
        std::vector<std::string> words;
        for (const Arg& arg : node.args) words.push_back(argument(arg));
        for (const auto& [name, arg] : node.kwargs) {
            const auto* const text = std::get_if<std::string>(&arg.value);
            words.push_back(name + "=" + (text ? word(name, *text) : argument(arg)));
        }
        return "torch." + function + "(" + join(words) + ")";
    }

    std::string list(const ArgList& args) const {
        return join(args, [&](const Arg& arg) { return argument(arg); });
    }

    std::string argument(const Arg& arg) const {
        if (arg.is_none()) return "None";
        if (const NodeRef* ref = arg.node()) return names_.at(ref->id);
        if (const ArgList* elements = arg.list()) return "[" + list(*elements) + "]";
        if (const auto* value = std::get_if<bool>(&arg.value)) return python.boolean(*value);
        if (const auto* value = std::get_if<std::int64_t>(&arg.value)) return python.integer(*value);
        if (const auto* value = std::get_if<double>(&arg.value)) return python.number(*value);
        if (const auto* value = std::get_if<DType>(&arg.value))
            return std::to_string(static_cast<int>(aten::scalar_type(*value)));
        if (const auto* value = std::get_if<std::string>(&arg.value)) return word({}, *value);
        throw Error("found a call with a nested graph, expected only calls without nested graphs");
    }

    const Graph& graph_;
    std::map<NodeId, std::string> names_;
};

}  // namespace

std::string script_text(const Graph& graph) { return ScriptText(graph).write(); }

}  // namespace whittle
