// A search's subject that tests share: which two of many calls fail together.
#pragma once

#include <string>
#include <vector>

#include "graph/text.h"
#include "reduce/oracle.h"

namespace whittle::reduce {

/// A chain of 40 calls, a tanh and a sin among them.
inline Graph ladder() {
    std::string text = "graph ladder {\n  %x = placeholder[\"x\"] : f32[4]\n", last = "x";
    for (int i = 0; i < 40; ++i) {
        const std::string name = "v" + std::to_string(i), op = i == 11 ? "tanh" : i == 30 ? "sin" : "abs";
        text += "  %" + name + " = aten." + op + ".default(%" + last + ") : f32[4]\n";
        last = name;
    }
    return parse(text + "  return (%" + last + ")\n}\n");
}

inline const std::vector<Tensor> kInput = {Tensor::of<float>({-1, 0.5, 2, -3})};

/// A candidate fails, printed as `text`, when it holds both the tanh and the sin.
inline Observation judge_ladder(const std::string& text) {
    const bool failed = text.find("aten.tanh") != text.npos && text.find("aten.sin") != text.npos;
    return {failed, false, {failed ? "mismatch" : "", "run", "value"}, failed ? "differs" : ""};
}

}  // namespace whittle::reduce
