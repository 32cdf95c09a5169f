#define WHITTLE_API_IMPLEMENTATION
#include "api/function_executable.h"

#include <utility>

#include "base/error.h"
#include "graph/text.h"

namespace whittle::api {

std::vector<whittle::Tensor> values_of(const TensorList& tensors, const std::string& what) {
    std::vector<whittle::Tensor> values;
    for (const Tensor& tensor : tensors) {
        if (!tensor.defined())
            throw Error("found an undefined tensor among " + what + ", expected only defined tensors");
        values.push_back(demand(tensor, {}));
    }
    return values;
}

TensorList wrapped(std::span<const whittle::Tensor> values) {
    TensorList tensors;
    for (const whittle::Tensor& value : values) tensors.push_back(wrap(value));
    return tensors;
}

namespace {

class FunctionExecutable final : public Executable {
  public:
    FunctionExecutable(std::string backend, const Graph& graph, std::function<TensorList(const TensorList&)> callable)
        : backend_(std::move(backend)), name_(graph.name), callable_(std::move(callable)) {
        for (const NodeId id : graph.outputs()) metas_.push_back(graph.node({id}).meta());
    }

    RunResult run(std::span<const whittle::Tensor> inputs) override {
        return guarded(backend_, "run", name_, [&]() -> RunResult {
            TensorList given;
            for (const whittle::Tensor& input : inputs) given.push_back(wrap(own_copy(input)));
            Values outputs = values_of(callable_(given), "the outputs");
            if (outputs.size() != metas_.size())
                throw Error("got " + std::to_string(outputs.size()) + " outputs, expected " +
                            std::to_string(metas_.size()));
            for (std::size_t i = 0; i < outputs.size(); ++i)
                if (outputs[i].dtype() != metas_[i].dtype || outputs[i].sizes() != metas_[i].sizes)
                    throw Error("output " + std::to_string(i) + " is " + print(ValueMeta::of(outputs[i])) +
                                ", expected " + print(metas_[i]));
            return outputs;
        });
    }

  private:
    const std::string backend_, name_;
    const std::function<TensorList(const TensorList&)> callable_;
    std::vector<ValueMeta> metas_;
};

}  // namespace

std::unique_ptr<Executable> function_executable(const std::string& backend, const Graph& graph,
                                                std::function<TensorList(const TensorList&)> callable) {
    return std::make_unique<FunctionExecutable>(backend, graph, std::move(callable));
}

}  // namespace whittle::api
