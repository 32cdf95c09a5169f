// User stacks in JSON files, shared by graph and index files:
//   [{"file": "model.cpp", "line": 12, "column": 7, "function": "forward", "text": "auto y = relu(x);"}]
#pragma once

#include <string>
#include <vector>

#include "graph/document.h"
#include "graph/graph.h"

namespace whittle {

/// On one line; fields that are empty are left out. What is not UTF-8 is replaced: source text is only shown.
std::string stack_to_json(const std::vector<StackFrame>& stack);
std::vector<StackFrame> read_stack(const Document& document, const Document::Json& value);

}  // namespace whittle
