// A failing graph as what a maintainer of an ONNX compiler is sent: a model under short names, and its data in the
// layout of the ONNX backend tests.
#pragma once

#include <string>
#include <vector>

#include "graph/emitter.h"
#include "printers/title.h"

namespace whittle {

struct ShortModel {
    Graph graph;                               ///< under short names
    std::vector<std::string> inputs, outputs;  ///< as the model calls them
    std::string text;                          ///< of the model, as onnx.parser reads it
    std::vector<ReproProgram::File> files;     ///< model.onnx, test_data_set_0/input_0.pb …, output_0.pb …
};

/// Throws Error for a graph without a spelling in ONNX.
ShortModel short_model(const ShortRequest& request);

/// report_title() (printers/title.h) with the opset, where that matters (opset_words()).
std::string title_of(const ShortRequest& request, const ShortModel& model, TitleWords words = {});
/// whole_statement() alike: for the head of a program.
std::string statement_of(const ShortRequest& request, const ShortModel& model, TitleWords words = {});

/// "The model (`model.onnx`, 86 bytes, below):" and its text: Markdown for a report. `why`: with definitions_text().
std::string model_text(const ShortModel& model, bool why);

/// Why there is none, as a clause; empty: there may be one.
std::string not_in_short_model(const ShortRequest& request);

}  // namespace whittle
