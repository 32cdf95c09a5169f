// Guards in JSON files: the tree of sources and values that a guard is.
//   {"tensor": {"local": "x"}, "dtype": "f32", "sizes": ["s0", 3]}       strides and requires_grad where they matter
//   {"value": {"local": "self", "path": ["layers", 2, "rate"]}, "equals": 0.5}
//   {"same": {"local": "y"}, "as": {"local": "x"}}
//   {"size": {"name": "s0", "tensor": {"local": "x"}, "dim": 0}, "relation": "above", "factor": 1}
//   {"branch": {"condition": "n > 2", "line": 12}, "outcomes": [1]}       "selects": true where it is a switch's
// A source is {"local": NAME}, "global", "state", or {"live": N}, "random", and the path from there: members by name,
// elements by number.
#pragma once

#include "capture/guard.h"
#include "formats/fields.h"

namespace whittle {

template <>
struct Form<capture::Guard> {
    static void write(JsonWriter& out, const capture::Guard& guard, Plain);
    /// Throws Error with the JSON pointer.
    static capture::Guard read(const JsonReader& reader, const Json& value, Plain);
    static Json schema(SchemaMaker& maker, Plain);
};

}  // namespace whittle
