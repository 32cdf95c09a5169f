// What is debugged: one graph with the inputs to run it on.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/onnx_file.h"
#include "graph/placement.h"
#include "trace/record.h"

namespace whittle {

/// One graph of a model, ready to run.
struct LoadedFrame {
    std::string name = "main";
    std::filesystem::path file = {};  ///< it was read from
    Graph graph = {};
    std::vector<Tensor> inputs = {};    ///< one per placeholder
    std::string inputs_from = {};       ///< "seed 0", "--input DIR", "the record", "the failure" …
    std::vector<Tensor> expected = {};  ///< one per output, or none
    std::string expected_from = {};     ///< where they were found
    /// The last outputs are the values that these buffers, parameters and inputs of a program have at the end.
    std::vector<std::string> updates = {};
    std::vector<Break> breaks = {};
    std::vector<std::string> unknown = {};  ///< calls whose metas are not known: breaks, and what depends on them
    std::map<std::string, std::size_t> folded = {};  ///< ops of an ONNX file that were computed while reading it
    /// The ONNX file that it was read from, for compilers that read such files (judge/file_backend.h).
    std::optional<OnnxFile> onnx = {};
    std::vector<std::string> rewritten = {};  ///< as LoadedModel::rewritten
    std::string unread = {};                  ///< why there is no graph: it is known by its file alone; else empty
    std::string scope = {};                   ///< as FailingCase::scope (judge/judge.h)
    std::optional<Record> record = {};        ///< what it was read from, for records
};

}  // namespace whittle
