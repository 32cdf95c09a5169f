// Opaque calls: of ops that the registry does not have, as those of another domain in an ONNX model. Only who judges
// may know what they compute; the reference passes over them.
#pragma once

#include <string>
#include <vector>

#include "ops/core/interpreter.h"

namespace whittle {

/// The targets of opaque calls, those of nested graphs included, each once, in order of appearance.
std::vector<std::string> opaque_ops(const Graph& graph);

/// Values of the dtypes and sizes that the graph states of an opaque call's results, random, the same at each run.
std::vector<Tensor> made_up_results(const Node& call);

/// An interpreter that makes up what opaque calls give, and what calls behind them that cannot run, where graphs have
/// to be gone through all the same.
template <class Base>
class PassingOpaque : public Base {
  public:
    using Base::Base;

  protected:
    std::vector<Tensor> step(const Graph& graph, const Node& call, const RegisteredOp& op,
                             const Arguments<Tensor>& arguments) override {
        try {
            return Base::step(graph, call, op, arguments);
        } catch (const Error&) {
            if (!made_up_) throw;
            return made_up_results(call);
        }
    }
    std::vector<Tensor> unknown(const Graph&, const Node& call, const std::function<Tensor(NodeRef)>&) override {
        made_up_ = true;
        return made_up_results(call);
    }

  private:
    bool made_up_ = false;  ///< some value is
};

}  // namespace whittle
