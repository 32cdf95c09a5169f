// The JSON Schema of graph files. Their writer and reader go node by node (save.cpp, load.cpp), and so does this; what
// graphs share with other files is described by its fields.
#include "formats/json.h"
#include "formats/shared_fields.h"

namespace whittle {
namespace {

constexpr const char* kNodes = R"json({
  "graph": {
    "type": "object",
    "required": ["name", "dialect", "nodes"],
    "properties": {
      "name": {"type": "string"},
      "dialect": {"description": "The dialect of the calls' targets.", "enum": ["aten", "onnx"]},
      "opset_imports": {"description": "ONNX domain (\"\" is ai.onnx) to opset version.", "type": "object", "additionalProperties": {"type": "integer"}},
      "attributes": {"description": "Parameters and constants by qualified name.", "type": "object", "additionalProperties": {"$ref": "#/$defs/tensor"}},
      "subgraphs": {"description": "Nested graphs, which calls refer to by name.", "type": "object", "additionalProperties": {"$ref": "#/$defs/nested"}},
      "nodes": {"description": "In topological order: placeholders before calls, one output last.", "type": "array", "minItems": 1, "items": {"$ref": "#/$defs/node"}}
    }
  },
  "nested": {
    "allOf": [{"$ref": "#/$defs/graph"}],
    "properties": {"name": {}, "dialect": {}, "opset_imports": {}, "attributes": {}, "subgraphs": {}, "nodes": {}},
    "additionalProperties": false
  },
  "node": {
    "type": "object",
    "required": ["kind", "name"],
    "properties": {
      "kind": {"enum": ["placeholder", "get_attr", "call", "output"]},
      "name": {"description": "The name of the node, unique in its graph.", "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"},
      "target": {"description": "call: the op; get_attr: the attribute; placeholder: its source.", "type": "string"},
      "args": {"type": "array", "items": {"$ref": "#/$defs/arg"}},
      "kwargs": {"description": "Keyword arguments in the order of the call.", "type": "object", "additionalProperties": {"$ref": "#/$defs/arg"}},
      "results": {"description": "The types of the results; several results are read through getitem calls.", "type": "array", "items": {"$ref": "#/$defs/meta"}},
      "module_path": {"type": "string"},
      "stack": {"description": "The user's stack at the call, innermost frame first.", "type": "array", "items": {"$ref": "#/$defs/frame"}}
    },
    "additionalProperties": false
  },
  "arg": {
    "description": "A number with a fraction or an exponent is a float, any other an int.",
    "anyOf": [
      {"type": ["null", "boolean", "number", "string"]},
      {"type": "array", "items": {"$ref": "#/$defs/arg"}},
      {"type": "object", "required": ["node"], "properties": {"node": {"description": "The name of an earlier node.", "type": "string"}}, "additionalProperties": false},
      {"type": "object", "required": ["dtype"], "properties": {"dtype": {"$ref": "#/$defs/dtype"}}, "additionalProperties": false},
      {"type": "object", "required": ["float"], "properties": {"float": {"enum": ["nan", "inf", "-inf"]}}, "additionalProperties": false},
      {"type": "object", "required": ["bytes"], "properties": {"bytes": {"description": "A string that is not UTF-8, in hexadecimal.", "type": "string", "pattern": "^([0-9a-f]{2})*$"}}, "additionalProperties": false},
      {"type": "object", "required": ["graph"], "properties": {"graph": {"description": "The name of a nested graph.", "type": "string"}}, "additionalProperties": false}
    ]
  },
  "sizes": {"type": "array", "items": {"type": "integer", "minimum": 0}},
  "strides": {"description": "Strides in elements; row-major if absent.", "type": "array", "items": {"type": "integer"}},
  "meta": {
    "type": "object",
    "required": ["dtype", "sizes"],
    "properties": {
      "dtype": {"$ref": "#/$defs/dtype"},
      "sizes": {"$ref": "#/$defs/sizes"},
      "strides": {"$ref": "#/$defs/strides"},
      "storage_offset": {"description": "For an input: its offset in the program's memory, in elements.", "type": "integer", "minimum": 0},
      "requires_grad": {"type": "boolean"},
      "leaf": {"description": "For an input: false if it requires grad and the program computed it.", "type": "boolean"},
      "placement": {"$ref": "#/$defs/placement"}
    },
    "additionalProperties": false
  }
})json";

}  // namespace

nlohmann::ordered_json graph_schema() {
    SchemaMaker maker{.closed = true};
    maker.definitions = Json::parse(kNodes);
    Json schema = root_schema(kGraphFormat);
    schema["allOf"] = Json::array({{{"$ref", "#/$defs/graph"}}});
    Json& members = schema["properties"];
    members["failure"] = Form<Failure>::schema(maker, {});
    for (const char* member : {"name", "dialect", "opset_imports", "attributes", "subgraphs", "nodes"})
        members[member] = Json::object();  // they are the graph's
    schema["additionalProperties"] = false;
    Form<std::vector<StackFrame>>::schema(maker, {});
    Form<Tensor>::schema(maker, {});
    Form<Placement>::schema(maker, {});
    return maker.with_definitions(std::move(schema));
}

}  // namespace whittle
