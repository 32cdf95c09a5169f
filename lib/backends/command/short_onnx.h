// A failing graph as what a maintainer of an ONNX compiler is sent: a model under short names, and its data in the
// layout of the ONNX backend tests.
#pragma once

#include <string>
#include <vector>

#include "graph/emitter.h"

namespace whittle {

struct ShortModel {
    Graph graph;                               ///< under short names
    std::vector<std::string> inputs, outputs;  ///< as the model calls them
    std::string text;                          ///< of the model, as onnx.parser reads it
    std::vector<ShortProgram::File> files;     ///< model.onnx, test_data_set_0/input_0.pb …, output_0.pb …
};

/// Throws Error for a graph without a spelling in ONNX.
ShortModel short_model(const ShortRequest& request);

/// "Softmax<axis=0>(x) of opset 11": formula_of(), with an opset before 13, in which more ops than in any other changed
/// what they mean (axes became inputs, Softmax became one of an axis).
std::string title_of(const ShortModel& model);

/// Why there is none, as a clause; empty: there may be one.
std::string not_in_short_model(const ShortRequest& request);

}  // namespace whittle
