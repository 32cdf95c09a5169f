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

/// "Softmax<axis=0>(x) of float[1, 2] at opset 11 gives 1, expected 0.5, where …": what_is_wrong() with formula_of(),
/// types, values, and an opset before 13, in which more ops than in any other changed what they mean (axes became
/// inputs, Softmax became one of an axis). `message`: an exception's words.
std::string title_of(const ShortRequest& request, const ShortModel& model, const std::string& message = {});

/// "(`model.onnx`, 86 bytes, attached)" and its text: Markdown for a report.
std::string model_facts(const ShortModel& model);

/// Why there is none, as a clause; empty: there may be one.
std::string not_in_short_model(const ShortRequest& request);

}  // namespace whittle
