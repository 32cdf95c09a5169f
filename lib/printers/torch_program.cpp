#include "printers/torch_program.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <vector>

#include "base/program_text.h"
#include "base/words.h"
#include "graph/value_ref.h"
#include "ops/core/memory.h"
#include "printers/short_program.h"
#include "printers/torch_python.h"
#include "tensor/scalars.h"
#include "text/language.h"

namespace whittle::printers {
namespace {

using language::python;

constexpr std::int64_t kMostCalls = 12;

class PythonProgram {
  public:
    PythonProgram(const ShortRequest& request, const Graph& graph, const std::optional<OptimizedGraph>& optimized)
        : request_(request),
          failure_(*request.graph.failure),
          graph_(graph),
          optimized_(optimized),
          users_(users(graph)) {
        const auto wrong = first_wrong(request);
        output_ = wrong ? wrong->output : 0;
        if (const auto sizes = wrong_sizes(request)) output_ = *sizes;
        if (const auto dtype = wrong_dtype(request)) output_ = *dtype;
        for (std::size_t i = 0; i < graph.nodes.size(); i++)
            names_[static_cast<NodeId>(i)] = python_variable(graph.nodes[i].name);
    }

    std::string write(const std::string& about, const std::string& file) const {
        return fill_template(optimized_ ? "repro_torch_optimized.py" : "repro_libtorch_short.py",
                             {{"HEADER", about},
                              {"FILE", file},
                              {"SETTINGS", optimized_ && !optimized_->after.empty() ? optimized_->after + "\n" : ""},
                              {"GRAPH", optimized_ ? definition() : ""},
                              {"INPUTS", inputs()},
                              {"IMPORTS", imports()},
                              {"RUN", run()},
                              {"VERDICT", verdict()}});
    }

  private:
    bool is(const char* kind) const { return failure_.signature.kind == kind; }
    /// What is frozen is a module, and its members are constants.
    bool in_module() const { return optimized_ && optimized_->module; }
    bool trains() const { return optimized_ && !optimized_->gradients.empty(); }
    /// What is computed is gradients; in training, an output may be wrong, too.
    bool is_of_gradients() const { return trains() && (wrong_gradient(request_) || !is("mismatch")); }
    bool in_f64() const { return optimized_ && request_.in_f64; }

    std::string imports() const {
        const std::string before = optimized_ ? optimized_->before : "",
                          own = before + (optimized_ ? optimized_->after : "");
        const bool exits = !is("crash") || own.find("sys.") != own.npos;
        return std::string(own.find("os.") != own.npos ? "import os\n" : "") + (exits ? "import sys\n\n" : "") +
               before + (before.empty() ? "" : "\n");
    }

    std::string value(NodeId id) const {
        const Node& node = graph_.node({id});
        return in_module() && node.kind == NodeKind::get_attr ? "self." + names_.at(id) : names_.at(id);
    }

    // ---- data -------------------------------------------------------------------------------------------------------

    /// By name, of placeholders, and, unless a module has them, attributes.
    std::vector<std::pair<std::string, const Tensor*>> leaves() const {
        std::vector<std::pair<std::string, const Tensor*>> values;
        std::size_t next = 0;
        for (std::size_t i = 0; i < graph_.nodes.size(); i++) {
            const Node& node = graph_.nodes[i];
            const std::string& name = names_.at(static_cast<NodeId>(i));
            if (node.kind == NodeKind::placeholder) values.emplace_back(name, &failure_.inputs.at(next++));
            if (node.kind == NodeKind::get_attr && !in_module())
                values.emplace_back(name, &graph_.attributes.at(node.target));
        }
        return values;
    }

    /// By name, of the gradients that come in, which are the inputs behind the graph's own.
    std::vector<std::pair<std::string, const Tensor*>> tangents() const {
        std::vector<std::pair<std::string, const Tensor*>> values;
        const std::size_t own = graph_.placeholders().size(), count = failure_.inputs.size() - own;
        for (std::size_t i = 0; i < count; i++)
            values.emplace_back(count == 1 ? "t" : "t" + std::to_string(i), &failure_.inputs[own + i]);
        return values;
    }

    bool has_gradient(const std::string& name) const {
        return trains() && std::ranges::count(optimized_->gradients, name) > 0;
    }

    std::string inputs() const {
        std::string text;
        const auto define = [&](const std::string& name, const Tensor& tensor, const char* more) {
            text += python_wrapped(name + " = " + torch_tensor(tensor) + more) + "\n";
        };
        for (const auto& [name, tensor] : leaves())
            define(name, *tensor, has_gradient(name) ? ".requires_grad_()" : "");
        if (is_of_gradients())
            for (const auto& [name, tensor] : tangents()) define(name, *tensor, "");
        return text;
    }

    enum class Precision { as_given, f64 };
    static std::string argument(const std::pair<std::string, const Tensor*>& leaf, Precision precision) {
        return leaf.first + (precision == Precision::f64 && is_floating(leaf.second->dtype()) ? ".double()" : "");
    }
    std::string arguments(Precision precision = Precision::as_given) const {
        return join(leaves(), [&](const auto& leaf) { return argument(leaf, precision); });
    }

    // ---- calls ------------------------------------------------------------------------------------------------------

    /// A call of which one result is read, and that by one getitem: it may be made there, where nothing writes.
    bool is_read_once(NodeId id) const {
        const std::vector<NodeId>& readers = users_.at(static_cast<std::size_t>(id));
        return readers.size() == 1 && item_read(graph_.node({readers[0]})) && !has_writes(graph_);
    }

    std::string call(const Node& node) const {
        const auto of = [&](NodeId id) { return value(id); };
        const auto read = item_read(node);
        if (!read || !is_read_once(read->node)) return torch_call(node, Overload::by_arguments, of);
        return torch_call(graph_.node({read->node}), Overload::by_arguments, of) + "[" + std::to_string(read->index) +
               "]";
    }

    std::string calls(const std::string& indent) const {
        std::string text;
        for (std::size_t i = 0; i < graph_.nodes.size(); i++) {
            const Node& node = graph_.nodes[i];
            const auto id = static_cast<NodeId>(i);
            if (node.kind == NodeKind::call && !is_read_once(id) && id != returned_at_once())
                text += python_wrapped(indent + names_.at(id) + " = " + call(node)) + "\n";
        }
        return text;
    }

    /// The only value that a function returns has no name where nothing else reads it; of none: -1.
    NodeId returned_at_once() const {
        const std::vector<NodeId> outputs = graph_.outputs();
        const bool alone = optimized_ && outputs.size() == 1 && graph_.node({outputs[0]}).kind == NodeKind::call &&
                           users_.at(static_cast<std::size_t>(outputs[0])).size() == 1;
        return alone ? outputs[0] : -1;
    }

    std::string returned(const std::string& indent) const {
        std::vector<std::string> values;
        for (const NodeId id : graph_.outputs())
            values.push_back(id == returned_at_once() ? call(graph_.node({id})) : value(id));
        const std::string result = values.size() == 1 ? values[0] : Language::tuple(values);
        return python_wrapped(indent + "return " + result) + "\n\n\n";
    }

    /// The function, or the module, that is scripted.
    std::string definition() const {
        if (!in_module()) return "def graph(" + arguments() + "):\n" + calls("    ") + returned("    ");
        std::string buffers;
        for (std::size_t i = 0; i < graph_.nodes.size(); i++)
            if (graph_.nodes[i].kind == NodeKind::get_attr)
                buffers += "        self.register_buffer('" + names_.at(static_cast<NodeId>(i)) + "', " +
                           torch_tensor(graph_.attributes.at(graph_.nodes[i].target)) + ")\n";
        std::string text = "class Graph(torch.nn.Module):\n";
        if (!buffers.empty()) text += "    def __init__(self):\n        super().__init__()\n" + buffers + "\n";
        const std::string parameters = arguments().empty() ? "self" : "self, " + arguments();
        return text + "    def forward(" + parameters + "):\n" + calls("        ") + returned("        ");
    }

    std::string called(const std::string& who, Precision precision = Precision::as_given) const {
        const std::string call = who + "(" + arguments(precision) + ")";
        const auto item = [&](std::size_t i) {
            return graph_.outputs().size() == 1 ? call : call + "[" + std::to_string(i) + "]";
        };
        if (is_of_gradients()) return gradient(item, call, precision);
        if (precision == Precision::as_given) return item(output_);
        return item(output_) + ".to(" + python.type(request_.expected[output_].dtype()) + ")";
    }

    /// Of the input or parameter whose gradient is wrong; of a failure that ends the program, of all. `item`: an output
    /// of the call.
    std::string gradient(const std::function<std::string(std::size_t)>& item, const std::string& call,
                         Precision precision) const {
        const auto list = [](const std::vector<std::string>& words) {
            return words.size() == 1 ? words[0] : Language::tuple(words);
        };
        const auto wrong = wrong_gradient(request_);
        std::vector<std::string> incoming;
        for (const auto& tangent : tangents()) incoming.push_back(argument(tangent, precision));
        const std::string results = incoming.size() == 1 ? item(request_.gradients->tangents[0]) : call;
        const std::string of = wrong ? optimized_->gradients[*wrong] : list(optimized_->gradients);
        return "torch.autograd.grad(" + results + ", " + of + ", " + list(incoming) +
               (wrong ? ")[0]" : ", allow_unused=True)");
    }

    /// What is right, of an optimized graph.
    std::string eager() const {
        const bool f64 = in_f64();
        const std::string who = f64 && in_module() ? "Graph().double()" : "graph";
        return (in_module() ? "graph = Graph().eval()\n" : "") +
               python_wrapped(std::string(is("mismatch") ? "expected = " : "") +
                              called(who, f64 ? Precision::f64 : Precision::as_given)) +
               "\n";
    }

    /// `y`: the output that is wrong.
    std::string optimized(const std::string& indent) const {
        const bool once = optimized_->times == 1;
        const std::string repeated = indent + "for _ in range(" + std::to_string(optimized_->times) + "):\n    ";
        std::string text;
        for (const std::string& step : optimized_->steps) text += python_wrapped(indent + step) + "\n";
        return text + python_wrapped(indent + optimized_->name + " = " + optimized_->made) + "\n" +
               (once ? "" : repeated) + python_wrapped(indent + "y = " + called(optimized_->name)) + "\n";
    }

    std::string run() const {
        const auto body = [&](const std::string& indent) { return optimized_ ? optimized(indent) : calls(indent); };
        const std::string before = optimized_ ? eager() : "";
        if (!is("exception")) return before + body("");
        return before + "try:\n" + body("    ") + "except Exception as error:\n    print(error)\n    sys.exit(1)\n";
    }

    // ---- the verdict ------------------------------------------------------------------------------------------------

    /// What is looked at of a tensor.
    std::string looked_at(const std::string& tensor) const {
        if (wrong_sizes(request_)) return "tuple(" + tensor + ".shape)";
        if (wrong_dtype(request_)) return tensor + ".dtype";
        const auto wrong = first_wrong(request_);
        if (request_.expected[output_].numel() <= kMostInPlace || !wrong) return tensor + ".tolist()";
        return tensor + ".flatten()[" + std::to_string(wrong->element) + "].item()";
    }

    /// Of single calls, as a literal.
    std::string expected() const {
        const Tensor& right = request_.expected[output_];
        if (wrong_sizes(request_)) return python.sizes(right.sizes());
        return wrong_dtype(request_) ? python.type(right.dtype()) : torch_tensor(right.contiguous());
    }

    /// Of `y` and the variable `expected`, which is a tensor or what is looked at of one.
    std::string differs(const std::string& y) const {
        const Tensor& right = request_.expected[output_];
        const Tolerance tolerance = failure_.accuracy.tolerance(right.dtype());
        if (wrong_sizes(request_) || wrong_dtype(request_))
            return looked_at(y) + " != " + (optimized_ ? looked_at("expected") : "expected");
        if (!is_inexact(right.dtype())) return "not torch.equal(" + y + ", expected)";
        const bool nan = std::ranges::any_of(right.values<Complex128>(), [](Complex128 one) {
            return std::isnan(one.real()) || std::isnan(one.imag());
        });
        return "not torch.allclose(" + y + ", expected, " + short_number(tolerance.rtol) + ", " +
               short_number(tolerance.atol) + (nan ? ", equal_nan=True)" : ")");
    }

    /// What is expected, in place of what was computed.
    std::string given() const {
        const Tensor& right = request_.expected[output_];
        if (optimized_ || !(wrong_sizes(request_) || wrong_dtype(request_))) return "expected";
        return "torch.zeros(" + python.sizes(right.sizes()) + ", dtype=" + python.type(right.dtype()) + ")";
    }

    std::string verdict() const {
        if (!is("mismatch")) return "print('ok')\n";
        const bool literal = wrong_sizes(request_) || wrong_dtype(request_);
        const std::string y = request_.given_expected ? given()
                              : optimized_            ? "y"
                                                      : value(graph_.outputs().at(output_));
        const std::string got = looked_at(y), right = literal && !optimized_ ? "expected" : looked_at("expected");
        const std::string exit = "sys.exit(" + differs(y) + ")\n";
        if (optimized_)
            return "print('" + optimized_->by + ":', " + got + ", 'expected, as in eager mode" +
                   (in_f64() ? " in f64" : "") + ":', " + right + ")\n" + exit;
        return "\n" + python_wrapped("expected = " + expected()) + "\nprint('" + y + ":', " + got + ", 'expected:', " +
               right + ")\n" + exit;
    }

    const ShortRequest& request_;
    const Failure& failure_;
    const Graph& graph_;
    const std::optional<OptimizedGraph> optimized_;
    std::size_t output_ = 0;  ///< the one that is wrong
    const std::vector<std::vector<NodeId>> users_;
    std::map<NodeId, std::string> names_;
};

}  // namespace

std::string torch_program(const ShortRequest& request, const Graph& graph, const std::string& about,
                          const std::string& file, const std::optional<OptimizedGraph>& optimized) {
    return PythonProgram(request, graph, optimized).write(about, file);
}

std::string not_in_torch_program(const ShortRequest& request, const Graph& graph,
                                 const std::function<bool(DType)>& can_write) {
    if (std::string why = not_shown_shortly(*request.graph.failure, true); !why.empty()) return why;
    if (request.graph.dialect != "aten") return "a short program needs a graph in the aten dialect";
    if (op_count(graph) > kMostCalls || !graph.subgraphs.empty()) return "the graph is too long for a short program";
    return not_written_shortly(request, can_write, [](const Tensor& tensor) {
        return (tensor.numel() > kMostInPlace && !all_alike(tensor)) || tensor.numel() == 0;
    });
}

}  // namespace whittle::printers
