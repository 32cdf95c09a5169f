#include "backends/libtorch/repro_code.h"

// First: clang 14 wants its types complete before the other headers use them.
#include <ATen/core/ivalue.h>

#include <ATen/core/List.h>
#include <torch/csrc/api/include/torch/version.h>

#include <algorithm>
#include <map>

#include "backends/libtorch/autograd.h"
#include "backends/libtorch/translation.h"
#include "base/error.h"
#include "base/program_text.h"
#include "base/words.h"
#include "graph/failure.h"
#include "graph/joint_forward.h"
#include "ops/aten/hidden_writes.h"
#include "ops/core/custom.h"
#include "ops/core/memory.h"
#include "text/language.h"

namespace whittle::aten {
namespace {

using language::cpp;

std::string int64(std::int64_t value) { return "int64_t(" + cpp.integer(value) + ")"; }

std::string type_text(DType dtype) {
    return "at::ScalarType(" + std::to_string(static_cast<int>(scalar_type(dtype))) + ")";
}

/// An argument that is no tensor of the graph, as C++ that a c10::IValue is made of. Throws Error for what there is no
/// short way to write.
std::string argument(const c10::IValue& value) {
    if (value.isNone()) return "c10::IValue()";
    if (value.isInt()) return int64(value.toInt());
    if (value.isDouble()) return cpp.number(value.toDouble());
    if (value.isBool()) return cpp.boolean(value.toBool());
    if (value.isString()) return "std::string(" + cpp.quoted_lines(value.toStringRef()) + ")";
    if (value.isDevice()) return "c10::Device(\"" + value.toDevice().str() + "\")";
    if (value.isIntList()) return "std::vector<int64_t>" + cpp.sizes(value.toIntVector());
    if (value.isTensor() && !value.toTensor().defined()) return "at::Tensor()";
    if (value.isTensor() && value.toTensor().dim() == 0)
        return "at::native::wrapped_scalar_tensor(" +
               (value.toTensor().is_floating_point() ? cpp.number(value.toTensor().item().toDouble())
                                                     : int64(value.toTensor().item().toLong())) +
               ")";
    if (value.isDoubleList())
        return "std::vector<double>{" + join(value.toDoubleVector(), [](double one) { return cpp.number(one); }) + "}";
    if (value.isBoolList())
        return "c10::List<bool>({" + join(value.toBoolList(), [](bool one) { return cpp.boolean(one); }) + "})";
    throw Error("cannot write an argument of LibTorch's type " + value.tagKind() + " in C++");
}

/// The statements of compute(), one per call.
class Statements final : private Translation<std::string> {
  public:
    Statements(const Graph& graph, const EmitRequest& request) : graph_(graph), request_(request) {}

    std::string run(const std::map<std::string, std::string>& attributes) {
        attributes_ = &attributes;
        Values inputs;
        for (std::size_t i = 0; i < graph_.placeholders().size(); ++i)
            inputs.push_back("in[" + std::to_string(i) + "]");
        const Values outputs = translate(graph_, inputs);
        if (request_.held && !held_) throw Error("found no call of LibTorch that computes %" + held_node());
        return text_ + "    return {" + join(outputs, ", ") + "};";
    }
    /// Of constants, which come before the function.
    const std::string& defined() const { return defined_; }

  private:
    std::string attribute(const std::string& target) override { return attributes_->at(target); }
    std::string tensor(const Tensor& value) override {
        const std::string name = "constant_" + std::to_string(constants_++);
        defined_ += request_.define(name, value);
        return "tensor(" + name + ", " + type_text(value.dtype()) + ", " + cpp.sizes(value.sizes()) + ", " +
               cpp.sizes(value.strides()) + ")";
    }
    std::string constant(const c10::IValue& value) override { return argument(value); }
    std::string list(const c10::TypePtr& element, const Values& elements) override {
        if (element->kind() == c10::TypeKind::TensorType)
            return "std::vector<at::Tensor>{" + join(elements, ", ") + "}";
        Values optional = elements;
        std::ranges::replace(optional, "c10::IValue()", "c10::optional<at::Tensor>()");
        return "c10::List<c10::optional<at::Tensor>>({" + join(optional, ", ") + "})";
    }
    Values call_of(const c10::OperatorHandle& op, const Node& call, const Values& operands) override {
        const std::string name = names_.unique("v_" + call.name);
        const std::string made = "call(\"" + op.operator_name().name + "\", \"" + op.operator_name().overload_name +
                                 "\", {" + join(operands, ", ") + "})";
        const bool held = request_.held && !held_ && held_node() == call.name;
        const auto* const operand = held ? std::get_if<HeldOperand>(&*request_.held) : nullptr;
        std::string asked;
        if (operand) asked = held_operand(op, call, operands, *operand);
        Values results;
        if (call.results.size() == 1) {
            text_ += "    const at::Tensor " + name + " = " + made + "[0];\n";
            results = {name};
        } else {
            text_ += "    const std::vector<at::Tensor> " + name + " = " + made + ";\n";
            for (std::size_t i = 0; i < call.results.size(); ++i)
                results.push_back(name + "[" + std::to_string(i) + "]");
        }
        if (operand && operand->shared_by) asked += results.at(*operand->shared_by) + ");\n";
        if (held && !operand) asked = held_result(call, results, std::get<HeldResult>(*request_.held));
        text_ += asked;
        held_ |= held;
        return results;
    }

    std::string held_node() const {
        return std::visit([](const auto& held) { return held.node; }, *request_.held);
    }
    /// Behind the call: the result against what was said of it.
    static std::string held_result(const Node& call, const Values& results, const HeldResult& held) {
        const auto layout = [](const ValueMeta& meta) {
            return "{" + type_text(meta.dtype) + ", " + cpp.sizes(meta.sizes) + ", " + cpp.sizes(meta.strides) + "}";
        };
        return "    hold(" + results.at(held.result) + ", " + layout(held.computed) + ", " + layout(held.said) + ", " +
               cpp.quoted_lines("result " + std::to_string(held.result) + " of " + call.target + " is " +
                                (held.inferred ? "inferred as " : "")) +
               ", " + cpp.quoted_lines(", " + held.said_is + " is ") + ");\n";
    }
    /// Behind the call, without what shares: whether the operand is as the schema promises. Before it: a copy.
    std::string held_operand(const c10::OperatorHandle& op, const Node& call, const Values& operands,
                             const HeldOperand& held) {
        const auto position = op.schema().argumentIndexWithName(held.parameter);
        if (!position) throw Error("LibTorch's " + call.target + " has no parameter '" + held.parameter + "'");
        const std::string& operand = operands.at(static_cast<std::size_t>(*position));
        const std::string of = ", " + cpp.quoted_lines(call.target) + ", " + cpp.quoted_lines(held.parameter);
        if (held.shared_by) return "    unshared(" + operand + of + ", " + std::to_string(*held.shared_by) + ", ";
        if (!held.after) {
            text_ += "    const at::Tensor before = " + operand + ".clone();\n";
            return "    unwritten(" + operand + ", before" + of + ");\n";
        }
        return "    unwritten(" + tensor(*held.after) + ", " + operand + of + ");\n";
    }

    const Graph& graph_;
    const EmitRequest& request_;
    const std::map<std::string, std::string>* attributes_ = nullptr;
    std::string text_, defined_;
    UniqueNames names_;
    bool held_ = false;  ///< the call of which something is asked
    int constants_ = 0;
};

using Slots = std::map<std::string, std::string>;

std::string given(const std::string& data, const Tensor& value) {
    return "        tensor(" + data + ", " + type_text(value.dtype()) + ", " + cpp.sizes(value.sizes()) + ", " +
           cpp.sizes(value.strides()) + "),\n";
}

/// What is given: inputs, and behind them attributes, by target where they stand in `in`. The program's own inputs may
/// be those of a graph whose constants are folded, so that attributes are defined here.
std::map<std::string, std::string> define_given(const EmitRequest& request, Slots& slots) {
    const Graph& graph = request.graph;
    std::size_t next = 0;
    for (const NodeId id : graph.placeholders())
        slots["GIVEN"] += given("in_" + graph.node({id}).name, graph.failure->inputs.at(next++));
    std::map<std::string, std::string> attributes;
    for (const Node& node : graph.nodes) {
        if (node.kind != NodeKind::get_attr) continue;
        if (!attributes.emplace(node.target, "in[" + std::to_string(next) + "]").second) continue;
        const Tensor& value = graph.attributes.at(node.target);
        slots["DEFINED"] += request.define("attribute_" + node.name, value);
        slots["GIVEN"] += given("attribute_" + node.name, value);
        ++next;
    }
    return attributes;
}

/// Backward behind forward: where a joint graph has its gradients.
std::string backward(const Graph& joint, const JointShape& shape,
                     const std::map<std::string, std::string>& attributes) {
    const std::size_t inputs = joint.placeholders().size() - shape.tangents.size();
    std::vector<std::string> leaves;
    for (const std::string& name : shape.gradients) {
        const std::vector<NodeId> placeholders = joint.placeholders();
        const auto found = std::ranges::find(placeholders, name, [&](NodeId id) { return joint.node({id}).name; });
        leaves.push_back(found == placeholders.end() ? attributes.at(name)
                                                     : "in[" + std::to_string(found - placeholders.begin()) + "]");
    }
    std::string text;
    for (const std::string& leaf : leaves) text += "    " + leaf + ".set_requires_grad(true);\n";
    text += "    std::vector<at::Tensor> values = compute(in);\n";
    std::vector<std::string> terms;
    for (std::size_t i = 0; i < shape.tangents.size(); ++i)
        terms.push_back("values[" + std::to_string(shape.tangents[i]) + "].mul(in[" + std::to_string(inputs + i) +
                        "]).sum()");
    text += "    (" + join(terms, " + ") + ").backward();\n";
    for (const std::string& leaf : leaves) text += "    values.push_back(" + leaf + ".grad());\n";
    return text + "    return values;";
}

/// The libraries that this process has loaded.
std::string load_code(const std::vector<std::string>& libraries) {
    std::string text;
    for (const std::string& file : libraries)
        text += "    if (!dlopen(" + cpp.quoted_lines(file) +
                ", RTLD_NOW | RTLD_NODELETE)) throw std::runtime_error(dlerror());\n";
    return text;
}

/// What stands behind the `given` inputs becomes the module's own: only that is frozen.
std::string members(const std::string& given) {
    return "    for (size_t i = in.size(); i > " + given +
           "; i--) {  // parameters become attributes of the module, which are frozen\n"
           "        const std::string name = \"p\" + std::to_string(i);\n"
           "        module.register_attribute(name, c10::TensorType::get(), in[i - 1]);\n"
           "        torch::jit::WithInsertPoint first(*graph->nodes().begin());\n"
           "        graph->inputs()[i]->replaceAllUsesWith(graph->insertGetAttr(graph->inputs()[0], name));\n"
           "        graph->eraseInput(i);\n"
           "    }\n";
}

std::string script(const Failure& failure, const Graph& graph, const std::string& own) {
    const auto is = [&](const char* key, const char* value) {
        const auto found = failure.options.find(key);
        return found != failure.options.end() && found->second == value;
    };
    if (is("fuser", "onednn")) throw Error("cannot write a program for fuser=onednn, expected fuser=none or fuser=nnc");
    Slots slots = {{"NNC", is("fuser", "nnc") ? "true" : "false"}, {"OWN", own}};
    if (is("optimize_for_inference", "on")) {
        // What is written stays a module's own value from one run to the next: then all are given anew.
        const std::string given = own.empty() ? std::to_string(graph.placeholders().size()) : "in.size()";
        slots["EXECUTOR"] =
            "    torch::jit::Module module(\"Graph\");\n"
            "    module.register_attribute(\"training\", c10::BoolType::get(), false);\n"
            "    const std::shared_ptr<torch::jit::Graph>& graph = traced.first->graph;\n"
            "    graph->insertInput(0, \"self\")->setType(module._ivalue()->type());\n" +
            members(given) +
            "    torch::jit::Node* tuple = graph->insertNode(graph->createTuple(graph->outputs()));\n"
            "    while (!graph->outputs().empty()) graph->eraseOutput(0);\n"
            "    graph->registerOutput(tuple->output());\n"
            "    module.type()->addMethod(module._ivalue()->compilation_unit()->create_function(\n"
            "        c10::QualifiedName(*module.type()->name(), \"forward\"), graph));\n"
            "    module = torch::jit::optimize_for_inference(module);";
        slots["ASK"] =
            "        stack.resize(" + given +
            ");\n"
            "        const c10::IValue tuple = module.forward(stack);\n"
            "        stack.assign(tuple.toTupleRef().elements().begin(), tuple.toTupleRef().elements().end());";
    } else {
        slots["EXECUTOR"] = "    torch::jit::GraphExecutor executor(traced.first->graph, \"graph\");";
        slots["ASK"] = "        executor.run(stack);";
    }
    return fill_template("repro_torchscript.cpp", slots);
}

}  // namespace

SuspectCode libtorch_code(const EmitRequest& request, bool scripted) {
    if (!request.graph.subgraphs.empty()) throw Error("found a nested graph, expected a graph with only calls");
    const Failure& failure = *request.graph.failure;
    const Graph graph =
        with_visible_writes(request.gradients ? forward_of(request.graph, *request.gradients) : request.graph);
    const std::vector<std::string> libraries = op_libraries();
    // What is written to must not be the program's constants.
    const bool writes = has_writes(graph) || (request.held && std::holds_alternative<HeldOperand>(*request.held));
    Slots slots = {{"OWN", writes ? ".clone()" : ""}, {"SCRIPT", ""}, {"HOLD", ""}, {"LOAD", load_code(libraries)}};
    if (request.held)
        slots["HOLD"] = fill_template(std::holds_alternative<HeldResult>(*request.held) ? "repro_libtorch_hold.cpp"
                                                                                        : "repro_libtorch_operand.cpp",
                                      {}) +
                        "\n";
    const auto attributes = define_given(request, slots);
    Statements statements(graph, request);
    slots["CALLS"] = statements.run(attributes);
    slots["RUN"] = request.gradients ? backward(request.graph, *request.gradients, attributes)
                                     : std::string("    const at::NoGradGuard no_grad;\n    return ") +
                                           (scripted ? "scripted" : "compute") + "(in);";
    if (scripted) slots["SCRIPT"] = script(failure, graph, slots["OWN"]);
    for (std::size_t i = 0; i < request.outputs.size(); ++i)
        if (request.expected[i].numel() > 0)
            slots["COPY"] += "    copy(\"" + request.outputs[i] + "\", got.at(" + std::to_string(i) + "), " +
                             type_text(request.expected[i].dtype()) + ", out." + request.outputs[i] + ");\n";
    for (const char* slot : {"GIVEN", "COPY"})
        if (slots[slot].ends_with('\n')) slots[slot].pop_back();
    SuspectCode code;
    code.includes =
        "#include <ATen/ATen.h>\n#include <ATen/core/dispatch/Dispatcher.h>\n#include "
        "<ATen/core/stack.h>\n#include <ATen/ScalarOps.h>";
    if (!libraries.empty()) code.includes += "\n#include <dlfcn.h>";
    if (scripted)
        code.includes +=
            "\n#include <torch/csrc/jit/api/module.h>\n#include <torch/csrc/jit/frontend/tracer.h>\n#include "
            "<torch/csrc/jit/passes/tensorexpr_fuser.h>\n#include <torch/csrc/jit/runtime/graph_executor.h>\n#include "
            "<torch/csrc/jit/tensorexpr/kernel.h>";
    code.code = slots["DEFINED"] + statements.defined() + "\n" + fill_template("repro_libtorch.cpp", slots);
    code.name = scripted ? "TorchScript" : "LibTorch";
    code.label = scripted            ? "TorchScript, or in a kernel of LibTorch"
                 : request.gradients ? "a gradient rule of Whittle or of LibTorch"
                                     : "LibTorch, or in both the reference's kernel and Whittle's lowering";
    code.judges_reference = !scripted && !request.gradients;
    code.lowering = "a kernel of the reference";
    code.header = "LibTorch " + std::to_string(TORCH_VERSION_MAJOR) + "." + std::to_string(TORCH_VERSION_MINOR) +
                  ", op by op" + std::string(scripted ? ", traced and run as TorchScript" : "");
    code.compile_flags = with_standard({"-DNDEBUG", "-ltorch_cpu", "-lc10"});
    return code;
}

std::vector<std::string> with_standard(std::vector<std::string> flags) {
    if (WHITTLE_TORCH_NEEDS_CXX20) flags.insert(flags.begin(), "-std=c++20");
    return flags;
}

}  // namespace whittle::aten
