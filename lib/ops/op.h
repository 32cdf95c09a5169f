// OpDef: everything about one op, in one place. Families (pointwise.cpp, reduction.cpp, …) are lists of these records.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "expr/builder.h"
#include "graph/graph.h"
#include "ops/args.h"
#include "ops/builder.h"

namespace whittle {

/// A set of dtypes.
using DTypeSet = std::uint16_t;
constexpr DTypeSet set_of(DType dtype) { return static_cast<DTypeSet>(1u << static_cast<unsigned>(dtype)); }
inline constexpr DTypeSet kFloating =
    set_of(DType::f64) | set_of(DType::f32) | set_of(DType::f16) | set_of(DType::bf16);
inline constexpr DTypeSet kIntegers =
    set_of(DType::i64) | set_of(DType::i32) | set_of(DType::i16) | set_of(DType::i8) | set_of(DType::u8);
inline constexpr DTypeSet kBool = set_of(DType::boolean);
inline constexpr DTypeSet kNumbers = kFloating | kIntegers;
inline constexpr DTypeSet kAnyDType = kNumbers | kBool;

/// One call to try: `args` and `kwargs` refer to `tensors` by position, as NodeRef{position}.
struct Sample {
    std::string label;  ///< "broadcast", "0-d", "nan": unique with the dtype within the op
    std::vector<Tensor> tensors;
    ArgList args = {};
    std::vector<std::pair<std::string, Arg>> kwargs = {};
    std::vector<std::size_t> constants = {};  ///< positions of tensors that are constants of the graph, not inputs
    std::map<std::string, std::int64_t> opset_imports = {};  ///< for ONNX ops
    std::map<std::string, std::shared_ptr<const Graph>> subgraphs = {};

    /// The tensors that are placeholders of graph_of(op, *this), in order.
    std::vector<Tensor> inputs() const;
};

using InferFn = std::vector<ValueMeta> (*)(const Arguments<ValueMeta>&);
using EvalFn = std::vector<Tensor> (*)(const Arguments<Tensor>&);
using DecomposeFn = std::vector<NodeRef> (*)(GraphBuilder&, const Arguments<NodeValue>&);
using LowerFn = std::vector<expr::Value> (*)(expr::GroupBuilder&, const Arguments<expr::Value>&);
using SamplesFn = std::vector<Sample> (*)(DType dtype);

struct OpDef {
    std::string_view name = {};    ///< target in graphs: "aten.relu.default", "onnx.Conv"
    std::string_view doc = {};     ///< one line, with the source of the definition
    std::string_view schema = {};  ///< "relu(Tensor self) -> Tensor"
    DTypeSet dtypes = kAnyDType;   ///< of the main operand; infer throws Error for others
    InferFn infer = nullptr;  ///< metas of the results; throws Error for operands that do not fit. Composites may leave
                              ///< it out: it is inferred through decompose
    EvalFn eval = nullptr;    ///< reference kernel; optional for composites, where it is an independent cross-check
    DecomposeFn decompose = nullptr;  ///< composites: the same in simpler ops
    LowerFn lower =
        nullptr;  ///< primitives: as tensor expressions. An op with neither lower nor decompose is reported by name
    SamplesFn samples = nullptr;  ///< for one dtype of `dtypes`, corner cases included
    bool random = false;          ///< results are not a function of the arguments
    bool higher_order = false;    ///< its nested graphs were captured: no control flow of a model file that breaks
};

}  // namespace whittle
