// One op, run by the interpreter.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/core/interpreter.h"
#include "ops/samples/sample.h"

namespace whittle::samples {

/// The results of a registered op; `args` and `kwargs` refer to `tensors` by position.
inline std::vector<Tensor> run_op(std::string_view target, const std::vector<Tensor>& tensors, ArgList args,
                                  std::vector<std::pair<std::string, Arg>> kwargs = {}) {
    const Sample sample{.label = "", .tensors = tensors, .args = std::move(args), .kwargs = std::move(kwargs)};
    return evaluate(graph_of(Registry::instance().require(target), sample), tensors);
}

}  // namespace whittle::samples
