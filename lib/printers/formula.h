// A failing graph in a line, for the title of a bug report: what is called with which operands, attributes, types and
// values. The graph is one of with_short_names() (printers/short_program.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "graph/graph.h"
#include "graph/schema.h"

namespace whittle {

/// Of more calls there is no formula.
constexpr std::int64_t kMostCallsOfFormula = 10;

/// "MaxPool<kernel_shape=[2]>(Pad(x, pads=[0, 1]))"; "Div(sub, Sqrt(sub)) with sub = Sub(ReduceMean(x), x)" where a
/// value is read more than once; "y0 = Neg(y1), y1 = Abs(x)" of several outputs. Constants of few elements are written
/// as what they are, under the names that `schemas` has for parameters, others as "w0[2, 3]". Where that gets long,
/// attributes are left out; of many calls there are the ops alone, without the dialect.
std::string formula_of(const Graph& graph, const SchemaSource* schemas = nullptr);

/// "axes" of axes_value: a parameter that was an attribute in earlier versions has its name.
std::string parameter_name(const Schema& schema, const Param& param);

/// What the formula of a title says, where it is short.
struct ShortFormula {
    bool elided = false;    ///< "…" for long constants, and for contiguous inputs among others; no attributes
    bool outlined = false;  ///< and for other constants and numbers
    NodeId node = -1;       ///< of an elided one: the call that keeps this attribute
    std::string attribute = {};
    std::span<const Tensor> inputs = {};  ///< of those that are one number without dimensions there is the number
};
/// The formula without sizes: "Gather(x0, Range(2, -1, -1))", "BatchNormalization(Transpose(MatMul(x, …)), …)".
std::string short_formula_of(const Graph& graph, const SchemaSource* schemas, const ShortFormula& how);

/// "Sub, Pow": the ops in order, each once, without the dialect; `attributes`: of ONNX "MaxPool<kernel_shape=[2]>".
std::string ops_of_formula(const Graph& graph, bool attributes);

/// " of float[2, 3]", " of float[2] x0, int64[3] x1": the types of the inputs, but of those that where_of() gives by
/// value; nothing where they are too many.
std::string types_of(const Graph& graph, bool values);

/// " of float[2], int64": those that differ, in order; nothing where they are too many.
std::string types_without_names(const Graph& graph);

/// ", where mean, rstd are not contiguous".
std::string not_contiguous(const Graph& graph, std::span<const Tensor> inputs);

/// ", where x = 3, x1[2, 3] has strides [1, 2]": `values`: inputs of one element, where they are few; and what is not
/// contiguous, which minify keeps only where it matters.
std::string where_of(const Graph& graph, std::span<const Tensor> inputs, bool values);

}  // namespace whittle
