// Op schemas in ATen's notation, e.g. "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor".
// https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/README.md#func
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"

namespace whittle {

enum class ParamType {
    tensor,
    tensor_list,
    integer,
    number,
    boolean,
    scalar,
    text,
    dtype,
    int_list,
    float_list,
    bool_list,
    text_list,
    graph
};
bool is_list(ParamType type);
/// Of a list's elements; another type itself.
ParamType element_of(ParamType type);

struct Param {
    std::string name;
    ParamType type = ParamType::tensor;
    bool optional = false;  ///< "Tensor?", "int?": may be none. In a "Tensor?[]" every element may be.
    bool keyword_only = false;
    std::optional<Arg> default_value = {};
    std::string alias = {};  ///< "a" of Tensor(a!)
    bool mutates = false;    ///< the '!' of Tensor(a!)
    bool data_type = false;  ///< "DataType": an integer that is a TensorProto.DataType
    int length = 0;          ///< 2 of "int[2]", where one number stands for as many equal ones; 0: any length
};

struct Return {
    std::string name = {};  ///< of "(Tensor values, Tensor indices)"
    bool list = false;      ///< Tensor[]: as many results as infer says
    std::string alias = {};
};

struct Schema {
    std::string name;  ///< "add.Tensor"
    std::vector<Param> params;
    std::vector<Return> returns;

    /// Throws Error on malformed text (a bug when the text is ours; the registry test parses all of them).
    static Schema parse(std::string_view text);
    const Param* param(std::string_view name) const;
};

/// "Tensor?", "int[2]": the type in the schema's notation, for messages.
std::string type_name(const Param& param);

/// How verify() and the tools look up an op without knowing the registry (lib/ops is above lib/graph).
class SchemaSource {
  public:
    virtual ~SchemaSource() = default;
    /// nullptr for an unregistered op.
    virtual const Schema* find(std::string_view target) const = 0;
};

/// The call's arguments in the order of `schema.params`, defaults filled in. Throws Error naming op, parameter, found
/// and expected types for missing, surplus, unknown or ill-typed arguments. Where a Tensor is expected, a number is
/// allowed (a wrapped number, as in torch.fx graphs).
ArgList bind_arguments(const Schema& schema, const Node& call);

/// Columns, from 1.
struct SchemaColumns {
    std::vector<std::size_t> params = {}, returns = {};

    /// Of a text that Schema::parse() takes; throws its Error for another.
    static SchemaColumns of(std::string_view schema);
};

/// The mistake at that column of a schema's text: what was found there, and what was expected.
inline Error schema_error(std::size_t column, const std::string& found, const std::string& expected,
                          std::string_view schema) {
    return Error({"", "column " + std::to_string(column)},
                 "found " + found + ", expected " + expected + " in the schema \"" + std::string(schema) + "\"");
}

}  // namespace whittle
