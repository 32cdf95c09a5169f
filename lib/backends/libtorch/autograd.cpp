#include "backends/libtorch/autograd.h"

// First: clang 14 wants its types complete before the other headers use them.
#include <ATen/core/ivalue.h>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <map>
#include <utility>

#include "backends/libtorch/memory.h"
#include "backends/libtorch/translation.h"
#include "graph/joint_forward.h"

namespace whittle::aten {
namespace {

/// Runs a graph call by call; what requires a gradient does so in LibTorch.
class Recorded final : private Translation<c10::IValue> {
  public:
    Recorded(const Graph& forward, Memory& memory, const std::vector<std::string>& wanted)
        : forward_(forward), memory_(memory), wanted_(wanted) {}

    std::vector<at::Tensor> run(std::span<const Tensor> inputs) {
        Values given;
        for (const NodeId id : forward_.placeholders())
            given.push_back(leaf(forward_.node({id}).name, inputs[given.size()]));
        std::vector<at::Tensor> outputs;
        for (const c10::IValue& output : translate(forward_, given)) outputs.push_back(output.toTensor());
        return outputs;
    }

    /// Of the tensor that is called so; zeros where no output depends on it.
    at::Tensor gradient(const std::string& name) const {
        const at::Tensor& leaf = leaves_.at(name);
        return leaf.grad().defined() ? leaf.grad() : at::zeros(leaf.sizes(), leaf.options());
    }

  private:
    at::Tensor leaf(const std::string& name, const Tensor& value) {
        const bool wanted = std::ranges::count(wanted_, name) != 0;
        const auto [found, is_new] = leaves_.try_emplace(name);
        if (is_new) found->second = memory_.lend(value.with_requires_grad(wanted));
        return found->second;
    }

    c10::IValue attribute(const std::string& target) override { return leaf(target, forward_.attributes.at(target)); }
    c10::IValue tensor(const Tensor& tensor) override { return memory_.lend(tensor); }
    c10::IValue constant(const c10::IValue& value) override { return value; }
    c10::IValue list(const c10::TypePtr& element, const Values& elements) override {
        c10::impl::GenericList list(element);
        for (const c10::IValue& one : elements) list.push_back(one);
        return list;
    }
    Values call_of(const c10::OperatorHandle& op, const Node&, const Values& operands) override {
        torch::jit::Stack stack = operands;
        op.callBoxed(stack);
        Values results;
        for (const c10::IValue& value : stack) {
            if (!value.isTensorList()) {
                results.push_back(value);
                continue;
            }
            for (const at::Tensor& tensor : value.toTensorVector()) results.emplace_back(tensor);
        }
        return results;
    }

    const Graph& forward_;
    Memory& memory_;
    const std::vector<std::string>& wanted_;
    std::map<std::string, at::Tensor> leaves_;
};

class Differentiated final : public Executable {
  public:
    Differentiated(const Graph& joint, JointShape shape)
        : forward_(forward_of(joint, shape)),
          inputs_(joint.placeholders().size() - shape.tangents.size()),
          shape_(std::move(shape)) {}

    RunResult run(std::span<const Tensor> inputs) override {
        try {
            return in_libtorch([&] { return both(inputs.first(inputs_), inputs.subspan(inputs_)); });
        } catch (const NotImplemented& error) {
            return BackendFailure{.stage = "run", .op = {}, .message = error.what(), .unsupported = true};
        } catch (const Error& error) {
            return BackendFailure{.stage = "run", .op = {}, .message = error.what()};
        }
    }

  private:
    Values both(std::span<const Tensor> inputs, std::span<const Tensor> tangents) {
        const at::AutoGradMode grad(true);
        Memory memory;
        Recorded recorded(forward_, memory, shape_.gradients);
        const std::vector<at::Tensor> outputs = recorded.run(inputs);
        at::Tensor loss;
        for (std::size_t i = 0; i < tangents.size(); ++i) {
            const at::Tensor term = outputs.at(shape_.tangents[i]).mul(memory.lend(tangents[i])).sum();
            loss = loss.defined() ? loss.add(term) : term;
        }
        if (loss.defined() && loss.requires_grad()) loss.backward();
        Values values;
        for (const at::Tensor& output : outputs) values.push_back(memory.take(output.detach()));
        for (const std::string& name : shape_.gradients) values.push_back(memory.take(recorded.gradient(name)));
        return values;
    }

    const Graph forward_;
    const std::size_t inputs_;
    const JointShape shape_;
};

}  // namespace

std::unique_ptr<Executable> differentiated(const Graph& joint, const JointShape& shape) {
    return std::make_unique<Differentiated>(joint, shape);
}

}  // namespace whittle::aten
