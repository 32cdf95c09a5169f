// Operands for which a definition leaves the result open, beside operands for which it does not, of each op with a
// rule; and that every op that reads indices has one.
#include "ops/core/open.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "graph/text.h"
#include "ops/core/interpreter.h"
#include "ops/core/open_rows.h"

namespace whittle::open_rules {
namespace {

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
         "aten.binary_cross_entropy.default reads the element 1.5, which is not a probability from 0 to 1"},
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
