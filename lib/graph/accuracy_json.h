// Accuracy in JSON files, shared by graph and record files.
//   {"mode": "close", "tolerances": {"f32": {"rtol": 0.001, "atol": 0.0, "ulp": 0.0}}}
#pragma once

#include <string>

#include "graph/document.h"
#include "tensor/compare.h"

namespace whittle {

/// On one line; empty for the usual way of judging, which is not written down.
std::string accuracy_json(const Accuracy& accuracy);

/// Throws Error with file and JSON pointer.
Accuracy read_accuracy(const Document& document, const Document::Json& value);

}  // namespace whittle
