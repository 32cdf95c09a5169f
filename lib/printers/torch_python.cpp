#include "printers/torch_python.h"

#include <algorithm>
#include <limits>

#include "base/command_words.h"
#include "base/error.h"
#include "base/words.h"
#include "graph/graph.h"
#include "ops/aten/earlier.h"
#include "tensor/reach.h"
#include "tensor/scalars.h"

namespace whittle::printers {
namespace {

using language::python;

constexpr std::size_t kLine = 100;
constexpr std::int64_t kFew = 4;  // elements that are listed, though all of them are the same

/// What torch.tensor() makes of Python's numbers has these.
bool by_default(DType dtype) { return dtype == DType::f32 || dtype == DType::i64 || dtype == DType::boolean; }

std::string contiguous_tensor(const Tensor& contiguous) {
    const DType dtype = contiguous.dtype();
    const std::string typed = by_default(dtype) ? ")" : ", dtype=" + python.type(dtype) + ")";
    if (contiguous.numel() > kFew && all_alike(contiguous))
        return "torch.full(" + python.sizes(contiguous.sizes()) + ", " + python.element(contiguous, 0) + typed;
    if (contiguous.numel() == 0)
        return "torch.zeros(" + python.sizes(contiguous.sizes()) + ", dtype=" + python.type(dtype) + ")";
    return "torch.tensor(" + python.nested(contiguous) + typed;
}

/// Enumerations are texts in our graphs.
std::string named_argument(const std::string& name, const Arg& arg, const std::function<std::string(NodeId)>& value) {
    const auto* const text = std::get_if<std::string>(&arg.value);
    if (text && (name == "memory_format" || name == "layout")) return "torch." + *text;
    return torch_argument(arg, value);
}

std::vector<std::string> arguments(const ArgList& args, const std::function<std::string(NodeId)>& value) {
    std::vector<std::string> words;
    for (const Arg& arg : args) words.push_back(torch_argument(arg, value));
    return words;
}

/// The last comma between `begin` and `end` that is in brackets, and in as few as one there may be; npos: there is
/// none.
std::size_t outermost_comma(const std::string& line, std::size_t begin, std::size_t end) {
    std::size_t found = std::string::npos;
    int depth = 0, least = std::numeric_limits<int>::max();
    bool quoted = false;
    for (std::size_t i = 0; i < end && i < line.size(); i++) {
        const char c = line[i];
        if (c == '\'' && (i == 0 || line[i - 1] != '\\')) quoted = !quoted;
        if (quoted) continue;
        depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
        if (line.compare(i, 2, ", ") == 0 && i > begin && depth > 0 && depth <= least) found = i, least = depth;
    }
    return found;
}

}  // namespace

std::string python_variable(const std::string& name) {
    constexpr std::string_view kTaken =
        "graph sys os torch expected results Path self print float range super zip scripted compiled Graph";
    const std::string variable = python.variable(name, kTaken);
    return variable == name && name.starts_with("expected") ? name + "_" : variable;
}

std::string python_wrapped(const std::string& line) {
    const std::string indent(line.find_first_not_of(' ') + 4, ' ');
    std::string text;
    std::size_t begin = 0, from = 0;  // of a line, and the columns before it
    while (line.size() - begin + from > kLine) {
        const std::size_t comma = outermost_comma(line, begin, begin + kLine - from - 1);
        if (comma == std::string::npos) break;
        text += line.substr(begin, comma + 1 - begin) + "\n" + indent;
        begin = comma + 2, from = indent.size();
    }
    return text + line.substr(begin);
}

std::string torch_tensor(const Tensor& tensor) {
    if (const Tensor once = unexpanded(tensor); once.sizes() != tensor.sizes())
        return torch_tensor(once) + ".expand(" + python.sizes(tensor.sizes()) + ")";
    const Tensor contiguous = tensor.contiguous();
    if (tensor.strides() == contiguous_strides(tensor.sizes())) return contiguous_tensor(contiguous);
    if (tensor.rank() == 2 && tensor.strides() == Sizes{1, tensor.sizes()[0]}) {
        const Tensor turned =
            tensor.as_strided({tensor.sizes()[1], tensor.sizes()[0]}, {tensor.sizes()[0], 1}, tensor.offset());
        return contiguous_tensor(turned.contiguous()) + ".t()";
    }
    const std::int64_t extent = tensor.numel() ? reach(tensor.sizes(), tensor.strides())->count() : 0;
    const std::string dtype = tensor.dtype() == DType::f32 ? "" : ", dtype=" + python.type(tensor.dtype());
    const std::string made =  // between its elements there is no memory that nobody wrote
        "torch.zeros(" + std::to_string(extent) + dtype + ").as_strided(" + python.sizes(tensor.sizes()) + ", " +
        python.sizes(tensor.strides()) + ")";
    return made + ".copy_(" + contiguous_tensor(contiguous) + ")";
}

std::string torch_call(const Node& named, Overload overload, const std::function<std::string(NodeId)>& value) {
    const Node node = with_earlier_target(named);  // which later versions have, too
    if (node.target == kGetItem)
        return torch_argument(node.args.at(0), value) + "[" + torch_argument(node.args.at(1), value) + "]";
    if (!node.target.starts_with("aten.") || std::ranges::count(node.target, '.') != 2)
        throw Error("found a call of " + node.target + ", expected an op of PyTorch (aten)",
                    "to list the ops of the graph: " + program_called("explain") + " --ops");
    std::vector<std::string> words = arguments(node.args, value);
    for (const auto& [name, arg] : node.kwargs) words.push_back(name + "=" + named_argument(name, arg, value));
    const bool is_named = overload == Overload::named;
    const std::string name = is_named ? node.target : node.target.substr(0, node.target.rfind('.'));
    return "torch.ops." + name + "(" + join(words) + ")";
}

std::string torch_argument(const Arg& arg, const std::function<std::string(NodeId)>& value) {
    if (arg.is_none()) return "None";
    if (const NodeRef* node = arg.node()) return value(node->id);
    if (const ArgList* elements = arg.list()) return python.list(arguments(*elements, value));
    if (const auto* number = std::get_if<std::int64_t>(&arg.value)) return python.integer(*number);
    if (const auto* number = std::get_if<double>(&arg.value)) return python.number(*number);
    if (const auto* truth = std::get_if<bool>(&arg.value)) return python.boolean(*truth);
    if (const auto* text = std::get_if<std::string>(&arg.value)) return python.quoted(*text);
    if (const auto* dtype = std::get_if<DType>(&arg.value)) return python.type(*dtype);
    throw Error("found a nested graph as an argument, expected only calls without nested graphs");
}

}  // namespace whittle::printers
