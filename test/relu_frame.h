// A frame that the deliberately buggy backends fail on, and these backends as suspects.
#pragma once

#include <string>

#include "graph/text.h"
#include "judge/frame.h"
#include "judge/suspect.h"

namespace whittle::test {

/// The relu of three ops is what the deliberately buggy backends fail on.
inline LoadedFrame relu_frame(const std::string& name, const std::string& middle = "relu") {
    LoadedFrame frame{.name = name, .file = name + ".json"};
    frame.graph = parse("graph " + name +
                        " {\n  %x = placeholder[\"x\"] : f32[4]\n  %a = aten.exp.default(%x) : f32[4]\n"
                        "  %b = aten." +
                        middle + ".default(%a) : f32[4]\n  %c = aten.neg.default(%b) : f32[4]\n  return (%c)\n}\n");
    frame.inputs = {Tensor::of(std::vector<float>{1, -2, 3, -4}, {4})};
    frame.inputs_from = "the test";
    return frame;
}

inline const Suspect kRefuses = {.spec = "relu_compile_error_TESTING_ONLY"};
inline const Suspect kWrong = {.spec = "relu_accuracy_error_TESTING_ONLY", .tier = Tier::computes};

}  // namespace whittle::test
