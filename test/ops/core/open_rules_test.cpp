// Operands for which a definition leaves the result open, beside operands for which it does not, of each op with a
// rule; and that every op that reads indices has one.
#include "ops/core/open.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <set>

#include "graph/text.h"
#include "ops/core/interpreter.h"
#include "ops/samples/samples.h"
#include "ops/samples/table.h"

namespace whittle::open_rules {
namespace {

using samples::t;

/// A call twice: with operands for which the result is open, and with others. Without `args`, all tensors are operands.
struct Row {
    std::string target;
    std::vector<Tensor> open, defined;
    std::string reason;
    std::vector<std::pair<std::string, Arg>> kwargs = {};
    ArgList args = {};
    std::vector<std::size_t> constants = {};
    ArgList defined_args = {};  ///< of the second call, where they are others
};

const double kNaN = std::nan(""), kInf = std::numeric_limits<double>::infinity();

Tensor i64(const std::vector<std::int64_t>& values) { return samples::integers(values); }
Tensor i64(const std::vector<std::int64_t>& values, const Sizes& sizes) { return Tensor::of(values, sizes); }
Tensor i32(const std::vector<double>& values) { return samples::values(DType::i32, values); }
Tensor u8(const std::vector<double>& values) { return samples::values(DType::u8, values); }
Tensor f32(const std::vector<double>& values) { return samples::values(DType::f32, values); }
Tensor f32(const std::vector<double>& values, const Sizes& sizes) { return samples::values(DType::f32, values, sizes); }
Tensor ramp(const Sizes& sizes) { return samples::ramp(DType::f32, sizes); }

std::string reason_of(const Row& row, const std::vector<Tensor>& tensors, const ArgList& args) {
    Sample sample{.label = "", .tensors = tensors, .args = args, .kwargs = row.kwargs, .constants = row.constants};
    if (args.empty())
        for (std::size_t i = 0; i < tensors.size(); ++i) sample.args.push_back(t(static_cast<int>(i)));
    const Graph graph = graph_of(Registry::instance().require(row.target), sample);
    const std::optional<OpenInput> found = open_input(graph, sample.inputs());
    if (!found) return "";
    CHECK(found->op == row.target);
    CHECK(graph.find(found->node));
    return found->reason;
}

const std::vector<Row>& onnx_rows() {
    const Tensor x4 = ramp({4}), x43 = ramp({4, 3});
    static const std::vector<Row> rows = {
        {"onnx.Gather",
         {x43, i64({7, 0})},
         {x43, i64({-4, 3})},
         "index 7 of onnx.Gather is out of range: expected -4 to 3"},
        {"onnx.GatherElements",
         {x4, i64({-5})},
         {x4, i64({-4})},
         "index -5 of onnx.GatherElements is out of range: expected -4 to 3"},
        {"onnx.GatherND",
         {x43, i64({1, 3}, {1, 2})},
         {x43, i64({-1, -3}, {1, 2})},
         "index 3 of onnx.GatherND is out of range: expected -3 to 2"},
        {"onnx.Scatter",
         {x4, i64({4}), f32({1})},
         {x4, i64({3}), f32({1})},
         "index 4 of onnx.Scatter is out of range: expected -4 to 3"},
        {"onnx.ScatterElements",
         {x4, i64({0, 1, -4}), f32({1, 2, 3})},
         {x4, i64({0, 1, 0}), f32({1, 2, 1})},
         "onnx.ScatterElements writes index -4 twice, without a reduction"},
        {"onnx.ScatterElements",
         {x4, i64({9}), f32({1})},
         {x4, i64({0, 0}), f32({1, 2})},
         "index 9 of onnx.ScatterElements is out of range: expected -4 to 3",
         {{"reduction", "add"}}},
        {"onnx.ScatterND",
         {x43, i64({1, 1}, {2, 1}), ramp({2, 3})},
         {x43, i64({1, 2}, {2, 1}), ramp({2, 3})},
         "onnx.ScatterND writes index [1] twice, without a reduction"},
        {"onnx.ScatterND",
         {x43, i64({4}, {1, 1}), ramp({1, 3})},
         {x43, i64({-4}, {1, 1}), ramp({1, 3})},
         "index 4 of onnx.ScatterND is out of range: expected -4 to 3"},
        {"onnx.TensorScatter",
         {ramp({1, 1, 4, 2}), ramp({1, 1, 2, 2}), i64({3})},
         {ramp({1, 1, 4, 2}), ramp({1, 1, 2, 2}), i64({2})},
         "index 3 of onnx.TensorScatter is out of range: expected 0 to 2"},
        {"onnx.RotaryEmbedding",
         {ramp({1, 1, 1, 2}), ramp({3, 1}), ramp({3, 1}), i64({3}, {1, 1})},
         {ramp({1, 1, 1, 2}), ramp({3, 1}), ramp({3, 1}), i64({2}, {1, 1})},
         "position 3 of onnx.RotaryEmbedding is out of range: expected 0 to 2"},
        {"onnx.ReverseSequence",
         {x43, i64({1, 5, 1})},
         {x43, i64({1, 4, 1})},
         "length 5 of onnx.ReverseSequence is out of range: expected 0 to 4"},
        {"onnx.RNN",
         {ramp({2, 1, 1}), ramp({1, 1, 1}), ramp({1, 1, 1}), ramp({1, 2}), i32({3})},
         {ramp({2, 1, 1}), ramp({1, 1, 1}), ramp({1, 1, 1}), ramp({1, 2}), i32({2})},
         "length 3 of onnx.RNN is out of range: expected 0 to 2",
         {{"hidden_size", 1}}},
        {"onnx.GRU",
         {ramp({2, 1, 1}), ramp({1, 3, 1}), ramp({1, 3, 1}), ramp({1, 6}), i32({3})},
         {ramp({2, 1, 1}), ramp({1, 3, 1}), ramp({1, 3, 1}), ramp({1, 6}), i32({2})},
         "length 3 of onnx.GRU is out of range: expected 0 to 2",
         {{"hidden_size", 1}}},
        {"onnx.LSTM",
         {ramp({2, 1, 1}), ramp({1, 4, 1}), ramp({1, 4, 1}), ramp({1, 8}), i32({3})},
         {ramp({2, 1, 1}), ramp({1, 4, 1}), ramp({1, 4, 1}), ramp({1, 8}), i32({2})},
         "length 3 of onnx.LSTM is out of range: expected 0 to 2",
         {{"hidden_size", 1}}},
        {"onnx.NegativeLogLikelihoodLoss",
         {x43, i64({0, 1, 3, 0})},
         {x43, i64({0, 1, 2, 0})},
         "target 3 of onnx.NegativeLogLikelihoodLoss is out of range: expected 0 to 2"},
        {"onnx.SoftmaxCrossEntropyLoss",
         {x43, i64({0, 1, -2, 0})},
         {x43, i64({0, 1, -1, 0})},
         "target -2 of onnx.SoftmaxCrossEntropyLoss is out of range: expected 0 to 2",
         {{"ignore_index", -1}}},
        {"onnx.MaxUnpool",
         {ramp({1, 1, 2}), i64({3, 3}, {1, 1, 2})},
         {ramp({1, 1, 2}), i64({0, 3}, {1, 1, 2})},
         "onnx.MaxUnpool writes index 3 twice, without a reduction",
         {{"kernel_shape", Arg::ints({2})}, {"strides", Arg::ints({2})}}},
        {"onnx.RoiAlign",
         {ramp({1, 1, 4, 4}), f32({0, 0, kNaN, 2}, {1, 4}), i64({0})},
         {ramp({1, 1, 4, 4}), f32({0, 0, 2, 2}, {1, 4}), i64({0})},
         "the region (rois) of onnx.RoiAlign is NaN",
         {{"sampling_ratio", 1}}},
        {"onnx.RoiAlign",
         {ramp({1, 1, 4, 4}), f32({0, 0, 2, 2}, {1, 4}), i64({1})},
         {ramp({1, 1, 4, 4}), f32({0, 0, 2, 2}, {1, 4}), i64({0})},
         "index 1 of onnx.RoiAlign is out of range: expected 0 to 0",
         {{"sampling_ratio", 1}}},
        {"onnx.Resize",
         {x4, f32({0, kNaN}), f32({2})},
         {x4, f32({0, 1}), f32({2})},
         "the region (roi) of onnx.Resize is NaN",
         {{"coordinate_transformation_mode", "tf_crop_and_resize"}},
         {},
         {1, 2}},
        {"onnx.Div", {i32({1, 2}), i32({1, 0})}, {i32({1, 2}), i32({1, -1})}, "onnx.Div divides an integer by 0"},
        {"onnx.Div",
         {i32({-0x1p31}), i32({-1})},
         {i32({-0x1p31 + 1}), i32({-1})},
         "onnx.Div divides -2147483648 by -1: i32 does not hold the quotient"},
        {"onnx.Mod", {i32({5}), i32({0})}, {i32({5}), i32({-2})}, "onnx.Mod divides an integer by 0"},
        {"onnx.BitShift",
         {u8({1}), u8({8})},
         {u8({1}), u8({7})},
         "onnx.BitShift shifts u8 by 8 bits: expected 0 to 7",
         {{"direction", "LEFT"}}},
        {"onnx.Pow",
         {i32({2}), i32({-1})},
         {i32({2}), i32({3})},
         "onnx.Pow raises an integer to the negative integer -1"},
        {"onnx.Cast",
         {f32({kNaN})},
         {f32({-2147483648.0, 2147483520.0, 0.5})},
         "onnx.Cast converts NaN to i32, which holds -2147483648 to 2147483647",
         {{"to", 6}}},
        {"onnx.CastLike",
         {f32({300.5}), u8({0})},
         {f32({255.5, -0.5}), u8({0})},
         "onnx.CastLike converts 300.5 to u8, which holds 0 to 255"},
        {"onnx.QuantizeLinear",
         {f32({1}), f32({0}), u8({0})},
         {f32({kInf}), f32({1}), u8({0})},
         "onnx.QuantizeLinear has a scale of 0"},
        {"onnx.QuantizeLinear",
         {f32({kNaN}), f32({1}), u8({0})},
         {f32({-kInf}), f32({1}), u8({0})},
         "onnx.QuantizeLinear rounds NaN to an integer"},
        {"onnx.QuantizeLinear",
         {f32({1}), f32({0}), u8({0})},
         {f32({1}), f32({0}), samples::values(DType::f8_e4m3fn, {0})},
         "onnx.QuantizeLinear has a scale of 0"},
        {"onnx.DequantizeLinear",
         {u8({1}), f32({-0.0}), u8({0})},
         {u8({1}), f32({1}), u8({0})},
         "onnx.DequantizeLinear has a scale of 0"},
        {"onnx.DynamicQuantizeLinear", {f32({0, -0.0})}, {f32({0, 1})}, "onnx.DynamicQuantizeLinear has a scale of 0"},
        {"onnx.DynamicQuantizeLinear", {f32({kInf})}, {f32({2})}, "the data of onnx.DynamicQuantizeLinear is inf"},
        {"onnx.QLinearMatMul",
         {samples::values(DType::u8, {1}, {1, 1}), f32({1}), u8({0}), samples::values(DType::u8, {1}, {1, 1}), f32({1}),
          u8({0}), f32({0}), u8({0})},
         {samples::values(DType::u8, {1}, {1, 1}), f32({1}), u8({0}), samples::values(DType::u8, {1}, {1, 1}), f32({1}),
          u8({0}), f32({1}), u8({0})},
         "onnx.QLinearMatMul has a scale of 0"},
        {"onnx.QLinearConv",
         {samples::values(DType::u8, {1}, {1, 1, 1}), f32({1}), u8({0}), samples::values(DType::u8, {1}, {1, 1, 1}),
          f32({1}), u8({0}), f32({0}), u8({0})},
         {samples::values(DType::u8, {1}, {1, 1, 1}), f32({1}), u8({0}), samples::values(DType::u8, {1}, {1, 1, 1}),
          f32({1}), u8({0}), f32({1}), u8({0})},
         "onnx.QLinearConv has a scale of 0"},
    };
    return rows;
}

/// Those whose index stands for an element along dim 0 of self, and is not negative.
Row along_dim(const std::string& target, std::vector<Tensor> rest = {}, const ArgList& more = {},
              std::int64_t low = 0) {
    Row row{.target = target, .open = {ramp({4}), i64({low - 1})}, .defined = {ramp({4}), i64({low})}, .reason = ""};
    row.reason = "index " + std::to_string(low - 1) + " of " + target + " is out of range: expected " +
                 std::to_string(low) + " to 3";
    row.args = {t(0), 0, t(1)};
    for (std::size_t i = 0; i < rest.size(); ++i) {
        row.open.push_back(rest[i]);
        row.defined.push_back(rest[i]);
        row.args.push_back(t(static_cast<int>(2 + i)));
    }
    row.args.insert(row.args.end(), more.begin(), more.end());
    return row;
}

const std::vector<Row>& index_rows() {
    const Tensor x4 = ramp({4}), x43 = ramp({4, 3}), one = f32({1});
    const ArgList bag = {t(0), t(1), t(2)};
    static const std::vector<Row> rows = {
        along_dim("aten.gather.default"),
        along_dim("aten.index_select.default"),
        along_dim("aten.scatter.value", {}, {2.0}),
        along_dim("aten.scatter.src", {one}),
        along_dim("aten.scatter_add.default", {one}),
        along_dim("aten.scatter_reduce.two", {one}, {"sum"}),
        along_dim("aten.index_add.default", {one}),
        along_dim("aten.index_copy.default", {one}),
        along_dim("aten.index_reduce.default", {one}, {"prod"}),
        {"aten.index_fill.int_Scalar",
         {x4, i64({4})},
         {x4, i64({3})},
         "index 4 of aten.index_fill.int_Scalar is out of range: expected -4 to 3",
         {},
         {t(0), 0, t(1), 2.0}},
        {"aten.index_fill.int_Tensor",
         {x4, i64({4}), samples::scalar(DType::f32, 2)},
         {x4, i64({3}), samples::scalar(DType::f32, 2)},
         "index 4 of aten.index_fill.int_Tensor is out of range: expected -4 to 3",
         {},
         {t(0), 0, t(1), t(2)}},
        {"aten.scatter.src",
         {x43, i64({1, 1}, {2, 1}), f32({1, 2}, {2, 1})},
         {x43, i64({1, 1}, {1, 2}), f32({1, 2}, {1, 2})},
         "aten.scatter.src writes index 1 twice, without a reduction",
         {},
         {t(0), 0, t(1), t(2)}},
        {"aten.index_copy.default",
         {x43, i64({2, 2}), ramp({2, 3})},
         {x43, i64({2, 2}), f32({1, 2, 3, 1, 2, 3}, {2, 3})},
         "aten.index_copy.default writes index 2 twice, without a reduction",
         {},
         {t(0), 0, t(1), t(2)}},
        {"aten.take.default",
         {x43, i64({12})},
         {x43, i64({-12})},
         "index 12 of aten.take.default is out of range: expected -12 to 11"},
        {"aten.put.default",
         {x4, i64({1, -3}), f32({1, 2})},
         {x4, i64({1, -3}), f32({1, 1})},
         "aten.put.default writes index -3 twice, without a reduction"},
        {"aten.put.default",
         {x4, i64({4}), one},
         {x4, i64({-4}), one},
         "index 4 of aten.put.default is out of range: expected -4 to 3"},
        {"aten.take_along_dim.default",
         {x4, i64({4})},
         {x4, i64({3})},
         "index 4 of aten.take_along_dim.default is out of range: expected 0 to 3",
         {},
         {t(0), t(1), 0}},
        {"aten.index.Tensor",
         {x43, i64({1}), i64({3})},
         {x43, i64({1}), i64({-3})},
         "index 3 of aten.index.Tensor is out of range: expected -3 to 2",
         {},
         {t(0), ArgList{t(1), t(2)}}},
        {"aten.index_put.default",
         {x43, i64({1, -3}), f32({1, 2, 3, 4, 5, 6}, {2, 3})},
         {x43, i64({1, -3}), one},
         "aten.index_put.default writes index [1] twice, without a reduction",
         {},
         {t(0), ArgList{t(1)}, t(2)}},
        {"aten.index_put.default",  // the same slice twice
         {x43, i64({1, -3}), f32({1, 2, 3, 1, 2, 4}, {2, 3})},
         {x43, i64({1, -3}), f32({1, 2, 3, 1, 2, 3}, {2, 3})},
         "aten.index_put.default writes index [1] twice, without a reduction",
         {},
         {t(0), ArgList{t(1)}, t(2)}},
        {"aten.index_put.default",  // along the second dimension, behind the one that stays
         {x43, i64({2, 2}), f32({1, 1, 2, 2, 3, 3, 4, 5}, {4, 2})},
         {x43, i64({2, 2}), f32({1, 1, 2, 2, 3, 3, 4, 4}, {4, 2})},
         "aten.index_put.default writes index [2] twice, without a reduction",
         {},
         {t(0), ArgList{Arg(), t(1)}, t(2)}},
        {"aten.index_put.default",
         {x43, i64({4}), one},
         {x43, i64({-4}), one},
         "index 4 of aten.index_put.default is out of range: expected -4 to 3",
         {},
         {t(0), ArgList{t(1)}, t(2)}},
        {"aten.embedding.default",
         {x43, i64({4})},
         {x43, i64({3})},
         "index 4 of aten.embedding.default is out of range: expected 0 to 3"},
        {"aten.embedding_dense_backward.default",
         {ramp({1, 3}), i64({4})},
         {ramp({1, 3}), i64({3})},
         "index 4 of aten.embedding_dense_backward.default is out of range: expected 0 to 3",
         {},
         {t(0), t(1), 4, -1, false}},
        {"aten.embedding_renorm.default",
         {x43, i64({4})},
         {x43, i64({3})},
         "index 4 of aten.embedding_renorm.default is out of range: expected 0 to 3",
         {},
         {t(0), t(1), 1.0, 2.0}},
        {"aten.value_selecting_reduction_backward.default",
         {ramp({2}), i64({0, 4})},
         {ramp({2}), i64({0, 3})},
         "index 4 of aten.value_selecting_reduction_backward.default is out of range: expected 0 to 3",
         {},
         {t(0), -1, t(1), Arg::ints({2, 4}), false}},
        {"aten._embedding_bag.default",
         {x43, i64({4}), i64({0})},
         {x43, i64({3}), i64({0})},
         "index 4 of aten._embedding_bag.default is out of range: expected 0 to 3"},
        {"aten._embedding_bag_forward_only.default",
         {x43, i64({4}), i64({0})},
         {x43, i64({3}), i64({0})},
         "index 4 of aten._embedding_bag_forward_only.default is out of range: expected 0 to 3"},
        {"aten.embedding_bag.default",
         {x43, i64({4}), i64({0})},
         {x43, i64({3}), i64({0})},
         "index 4 of aten.embedding_bag.default is out of range: expected 0 to 3"},
        {"aten.embedding_bag.padding_idx",
         {x43, i64({4}), i64({0})},
         {x43, i64({3}), i64({0})},
         "index 4 of aten.embedding_bag.padding_idx is out of range: expected 0 to 3",
         {},
         {t(0), t(1), t(2), false, 0, false, Arg(), false, Arg()}},
        {"aten.one_hot.default",
         {i64({4})},
         {i64({3})},
         "class 4 of aten.one_hot.default is out of range: expected 0 to 3",
         {},
         {t(0), 4}},
        {"aten.max_unpool2d.default",
         {ramp({1, 1, 2}), i64({3, 3}, {1, 1, 2})},
         {ramp({1, 1, 2}), i64({0, 3}, {1, 1, 2})},
         "aten.max_unpool2d.default writes index 3 twice, without a reduction",
         {},
         {t(0), t(1), Arg::ints({1, 4})}},
        {"aten.max_unpool3d.default",
         {ramp({1, 1, 1, 2}), i64({0, 4}, {1, 1, 1, 2})},
         {ramp({1, 1, 1, 2}), i64({0, 3}, {1, 1, 1, 2})},
         "index 4 of aten.max_unpool3d.default is out of range: expected 0 to 3",
         {},
         {t(0), t(1), Arg::ints({1, 1, 4}), Arg::ints({1, 1, 1}), Arg::ints({0, 0, 0})}},
        {"aten.adaptive_max_pool2d_backward.default",
         {ramp({1, 1, 1}), ramp({1, 2, 2}), i64({4}, {1, 1, 1})},
         {ramp({1, 1, 1}), ramp({1, 2, 2}), i64({3}, {1, 1, 1})},
         "index 4 of aten.adaptive_max_pool2d_backward.default is out of range: expected 0 to 3"},
        {"aten.adaptive_max_pool3d_backward.default",
         {ramp({1, 1, 1, 1}), ramp({1, 1, 2, 2}), i64({4}, {1, 1, 1, 1})},
         {ramp({1, 1, 1, 1}), ramp({1, 1, 2, 2}), i64({3}, {1, 1, 1, 1})},
         "index 4 of aten.adaptive_max_pool3d_backward.default is out of range: expected 0 to 3"},
        {"aten.nll_loss_forward.default",
         {x43, i64({0, 1, 3, 0})},
         {x43, i64({0, 1, -9, 0})},
         "target 3 of aten.nll_loss_forward.default is out of range: expected 0 to 2",
         {},
         {t(0), t(1), Arg(), 1, -9}},
        {"aten.nll_loss.default",
         {x43, i64({0, 1, 3, 0})},
         {x43, i64({0, 1, -100, 0})},
         "target 3 of aten.nll_loss.default is out of range: expected 0 to 2"},
        {"aten.cross_entropy_loss.default",
         {x43, i64({0, 1, -1, 0})},
         {x43, i64({0, 1, 2, 0})},
         "target -1 of aten.cross_entropy_loss.default is out of range: expected 0 to 2"},
        {"aten.cross_entropy_loss.default",
         {x43, i64({0, 1, -1, 0})},
         {x43, x43},
         "target -1 of aten.cross_entropy_loss.default is out of range: expected 0 to 2"},
        {"aten.nll_loss_backward.default",
         {one, x43, i64({0, 1, 3, 0}), one},
         {one, x43, i64({0, 1, 2, 0}), one},
         "target 3 of aten.nll_loss_backward.default is out of range: expected 0 to 2",
         {},
         {t(0), t(1), t(2), Arg(), 2, -100, t(3)}},
        {"aten.nll_loss2d_forward.default",
         {ramp({1, 3, 1, 1}), i64({3}, {1, 1, 1})},
         {ramp({1, 3, 1, 1}), i64({2}, {1, 1, 1})},
         "target 3 of aten.nll_loss2d_forward.default is out of range: expected 0 to 2",
         {},
         {t(0), t(1), Arg(), 1, -100}},
        {"aten.multi_margin_loss.default",
         {x43, i64({0, 1, 3, 0})},
         {x43, i64({0, 1, 2, 0})},
         "target 3 of aten.multi_margin_loss.default is out of range: expected 0 to 2"},
        {"aten.multilabel_margin_loss.default",
         {ramp({3}), i64({3, -1, 0})},
         {ramp({3}), i64({2, -1, 0})},
         "target 3 of aten.multilabel_margin_loss.default is out of range: expected -1 to 2"},
        {"aten.multilabel_margin_loss_forward.default",
         {ramp({3}), i64({-2, -1, 0})},
         {ramp({3}), i64({2, -1, 0})},
         "target -2 of aten.multilabel_margin_loss_forward.default is out of range: expected -1 to 2",
         {},
         {t(0), t(1), 1}},
        {"aten.ctc_loss.IntList",
         {ramp({4, 1, 3}), i64({1, 0}, {1, 2})},
         {ramp({4, 1, 3}), i64({1, 2}, {1, 2})},
         "target 0 of aten.ctc_loss.IntList is the blank class",
         {},
         {t(0), t(1), Arg::ints({4}), Arg::ints({2})}},
        {"aten._ctc_loss.default",
         {ramp({4, 1, 3}), i64({1, 3}, {1, 2})},
         {ramp({4, 1, 3}), i64({1, 2}, {1, 2})},
         "target 3 of aten._ctc_loss.default is out of range: expected 0 to 2",
         {},
         {t(0), t(1), Arg::ints({4}), Arg::ints({2})}},
    };
    return rows;
}

const std::vector<Row>& number_rows() {
    const Tensor x4 = ramp({4});
    const double most = 0x1p63;
    static const std::vector<Row> rows = {
        {"aten.div.Tensor_mode",
         {i32({1}), i32({0})},
         {i32({1}), i32({2})},
         "aten.div.Tensor_mode divides an integer by 0",
         {{"rounding_mode", "floor"}}},
        {"aten.div.Tensor_mode",
         {i32({1}), i32({0})},
         {f32({1}), f32({0})},
         "aten.div.Tensor_mode divides an integer by 0",
         {{"rounding_mode", "trunc"}}},
        {"aten.floor_divide.default",
         {i32({1}), i32({0})},
         {f32({1}), f32({0})},
         "aten.floor_divide.default divides an integer by 0"},
        {"aten.remainder.Tensor",
         {i32({1}), i32({0})},
         {i32({1}), i32({2})},
         "aten.remainder.Tensor divides an integer by 0"},
        {"aten.fmod.Tensor", {i32({1}), i32({0})}, {i32({1}), i32({2})}, "aten.fmod.Tensor divides an integer by 0"},
        {"aten.fmod.Scalar",
         {i32({-0x1p31})},
         {i32({7})},
         "aten.fmod.Scalar divides -2147483648 by -1: i32 does not hold the quotient",
         {},
         {t(0), -1}},
        {"aten.bitwise_left_shift.Tensor",
         {i32({1}), i32({32})},
         {i32({1}), i32({31})},
         "aten.bitwise_left_shift.Tensor shifts i32 by 32 bits: expected 0 to 31"},
        {"aten.__rshift__.Tensor",
         {i32({1}), i32({-1})},
         {i32({1}), i32({0})},
         "aten.__rshift__.Tensor shifts i32 by -1 bits: expected 0 to 31"},
        {"aten._to_copy.default",
         {f32({kInf})},
         {f32({-0x1p63})},
         "aten._to_copy.default converts inf to i64, which holds -9223372036854775808 to 9223372036854775807",
         {{"dtype", DType::i64}}},
        {"aten.to.dtype",
         {f32({most})},
         {f32({-128.9, 127.9})},
         "aten.to.dtype converts 9223372036854775808 to i8, which holds -128 to 127",
         {},
         {t(0), DType::i8}},
        {"aten.to.dtype",
         {samples::values(DType::f64, {1.8446744073709552e19})},
         {samples::values(DType::f64, {1.8446744073709550e19, -0.5})},
         "aten.to.dtype converts 18446744073709551616 to u64, which holds 0 to 18446744073709551615",
         {},
         {t(0), DType::u64}},
        {"aten.type_as.default",
         {f32({-1}), u8({1})},
         {f32({kNaN}), f32({1})},
         "aten.type_as.default converts -1 to u8, which holds 0 to 255"},
        {"aten.copy.default",
         {u8({1}), f32({256})},
         {u8({1}), f32({255})},
         "aten.copy.default converts 256 to u8, which holds 0 to 255"},
        {"aten.searchsorted.Tensor",
         {f32({1, 3, 2}), f32({2})},
         {f32({1, 2, 2}), f32({2})},
         "the sorted_sequence of aten.searchsorted.Tensor is not in ascending order"},
        {"aten.bucketize.Tensor",
         {f32({2}), f32({1, 3, 2})},
         {f32({2}), f32({1, 2, 3})},
         "the boundaries of aten.bucketize.Tensor is not in ascending order"},
        {"aten.masked_scatter.default",
         {x4, Tensor::of<bool>({true, true, false, true}), f32({1, 2})},
         {x4, Tensor::of<bool>({true, false, false, true}), f32({1, 2})},
         "aten.masked_scatter.default takes 3 elements of a source of 2"},
        {"aten.fake_quantize_per_tensor_affine.default",
         {x4},
         {x4},
         "aten.fake_quantize_per_tensor_affine.default has a scale of 0",
         {},
         {t(0), 0.0, 0, 0, 255},
         {},
         {t(0), 1.0, 0, 0, 255}},
        {"aten.fake_quantize_per_channel_affine.default",
         {x4, f32({1, 0, 1, 1}), i32({0, 0, 0, 0})},
         {x4, f32({1, 1, 1, 1}), i32({0, 0, 0, 0})},
         "aten.fake_quantize_per_channel_affine.default has a scale of 0",
         {},
         {t(0), t(1), t(2), 0, 0, 255}},
        {"aten.fake_quantize_per_channel_affine_cachemask.default",
         {x4, f32({1, 0, 1, 1}), i32({0, 0, 0, 0})},
         {x4, f32({1, 1, 1, 1}), i32({0, 0, 0, 0})},
         "aten.fake_quantize_per_channel_affine_cachemask.default has a scale of 0",
         {},
         {t(0), t(1), t(2), 0, 0, 255}},
        {"aten.binary_cross_entropy.default",
         {f32({1.5}), f32({1})},
         {f32({1}), f32({1})},
         "aten.binary_cross_entropy.default is given 1.5: expected a probability, 0 to 1"},
    };
    return rows;
}

std::vector<Row> all_rows() {
    std::vector<Row> all = onnx_rows();
    for (const auto* rows : {&index_rows(), &number_rows()}) all.insert(all.end(), rows->begin(), rows->end());
    return all;
}

}  // namespace

TEST_CASE("operands for which the definition leaves the result open, and operands for which it does not", "[ops]") {
    for (const Row& row : all_rows()) {
        INFO(row.target << ": " << row.reason);
        CHECK(reason_of(row, row.open, row.args) == row.reason);
        CHECK(reason_of(row, row.defined, row.defined_args.empty() ? row.args : row.defined_args) == "");
    }
}

TEST_CASE("every rule for open results is tried", "[ops]") {
    std::set<OpenFn> tried;
    for (const Row& row : all_rows()) tried.insert(Registry::instance().require(row.target).def->open.ask);
    CHECK_FALSE(tried.contains(nullptr));
    for (const RegisteredOp& op : Registry::instance().all()) {
        INFO(op.name);
        CHECK((!op.def->open.ask || tried.contains(op.def->open.ask)));
    }
}

TEST_CASE("every op that reads indices has a rule for open results", "[ops]") {
    const std::set<std::string> indices = {"index", "indices", "target",       "targets",       "labels",
                                           "I",     "tokens",  "position_ids", "write_indices", "sequence_lens"};
    const std::map<std::string_view, std::string_view> without_rule = {
        {"aten.cosine_embedding_loss.default", "the target is 1 or -1, and a number like others"},
        {"aten.poisson_nll_loss.default", "the target is a number like others"},
        {"onnx.OneHot", "indices out of range are defined: all elements are off_value"},
    };
    for (const RegisteredOp& op : Registry::instance().all()) {
        const bool reads = std::ranges::any_of(op.schema.params, [&](const Param& param) {
            return param.type == ParamType::tensor && indices.contains(param.name);
        });
        // The target of most losses is as floating as the input.
        const bool classes =
            !std::ranges::any_of(op.schema.params, [](const Param& p) { return p.name == "target"; }) ||
            op.name.find("nll") != std::string_view::npos ||
            op.name.find("cross_entropy_loss") != std::string_view::npos ||
            op.name.find("multi") != std::string_view::npos;
        if (!reads || !classes || without_rule.contains(op.name)) continue;
        INFO(op.name);
        CHECK(op.def->open.ask);
    }
}

TEST_CASE("samples do not make rules for open results fail", "[ops]") {
    for (const RegisteredOp& op : Registry::instance().all()) {
        if (!op.def->open.ask) continue;
        for (const DType dtype : kAllDTypes) {
            if (!(op.def->dtypes & set_of(dtype))) continue;
            for (const Sample& sample : samples_of(op, dtype)) {
                INFO(op.name << " '" << sample.label << "'");
                const Graph graph = graph_of(op, sample);
                CHECK_NOTHROW(open_input(graph, sample.inputs()));
            }
        }
    }
}

}  // namespace whittle::open_rules
