// A Graph as the JSON of an exported program. Internal; save.cpp is the only user.
#pragma once

#include "formats/document.h"
#include "graph/graph.h"

namespace whittle::pt2 {

using Json = Document::Json;

/// The whole of models/model.json. Throws Error as save_pt2().
Json program_of(const Graph& graph);

/// dtype, sizes, strides and the rest of a TensorMeta.
Json tensor_meta(const ValueMeta& meta);

}  // namespace whittle::pt2
