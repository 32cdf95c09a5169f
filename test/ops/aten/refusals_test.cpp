// Calls that LibTorch 1.13 refuses, or whose results are read off its sources, at their edges: what is refused is
// refused by one Error, and never by a crash or by another kind of exception.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "ops/core/interpreter.h"
#include "ops/core/registry.h"
#include "ops/samples/samples.h"

namespace whittle {
namespace {

using samples::call_of, samples::t;
using Ints = std::vector<std::int64_t>;

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
constexpr double kInf = std::numeric_limits<double>::infinity();

Tensor f32(const std::vector<double>& values, Sizes sizes) { return samples::values(DType::f32, values, sizes); }
Tensor f32(const std::vector<double>& values) { return samples::values(DType::f32, values); }
Tensor i64(const std::vector<double>& values, Sizes sizes) { return samples::values(DType::i64, values, sizes); }
Tensor i64(const std::vector<double>& values) { return samples::values(DType::i64, values); }

/// The call's results, each result of its decomposition, if it has one.
std::vector<Tensor> run_sample(const std::string& target, const Sample& sample) {
    return evaluate(graph_of(Registry::instance().require(target), sample), sample.inputs());
}
void refused(const std::string& target, const Sample& sample, const std::string& message) {
    INFO(target);
    CHECK_THROWS_AS(run_sample(target, sample), Error);
    CHECK_THROWS_WITH(run_sample(target, sample), Catch::Contains(message));
}

TEST_CASE("a range without a number of elements is refused, and its numbers keep their digits", "[ops][refusals]") {
    refused("aten.arange.start_step", {"", {}, {-1e308, 1e308, kInf}}, "by inf, expected fewer than 2^53 elements");
    refused("aten.arange.start_step", {"", {}, {9007199254740993, 0, 1}}, "found 9007199254740993 to 0 by 1");
    refused("aten.full.default", {"", {}, {Arg::ints({1}), 9007199254740993}, {{"dtype", DType::i8}}},
            "found the number 9007199254740993");
}

TEST_CASE("lengths of labels that do not fit their sequences are refused", "[ops][refusals]") {
    const Tensor scores = f32(std::vector<double>(12, -1), {2, 2, 3});
    const auto call = [&](const Tensor& targets, const Ints& steps, const Ints& labels) {
        return call_of("", {scores, targets, Arg::ints(steps), Arg::ints(labels)});
    };
    const std::string target = "aten._ctc_loss.default";
    refused(target, call(i64({}), {2, 2}, {}), "found target_lengths=[]");
    refused(target, call(i64({1}), {2, 2}, {kHuge, 2}), "found target_lengths=");
    refused(target, call(i64({1, 2}), {2, 2}, {3, -1}), "found target_lengths=");
    refused(target, call(i64({1, 2, 1, 2}, {2, 2}), {2, 2}, {3, 1}), "found target_lengths=");
}

TEST_CASE("labels of one sequence are as many as its length says", "[ops][refusals]") {
    refused("aten.ctc_loss.IntList",
            call_of("", {f32({-1, -1, -1, -1}, {2, 2}), i64({1, 1}), Arg::ints({2}), Arg::ints({1})}),
            "found targets of sizes [2]");
}

TEST_CASE("what chooses more than there is is refused", "[ops][refusals]") {
    const Tensor x = f32({1, 2, 3}), all = samples::values(DType::boolean, {1, 1, 1});
    refused("aten.masked_scatter.default", call_of("", {x, all, f32({})}), "found");
    refused("aten.masked_scatter.default", call_of("", {x, all, f32({7, 8})}), "found");
}

TEST_CASE("labels that are no classes are refused wherever they stand", "[ops][refusals]") {
    const Tensor x = f32({1, 2, 3, 4});
    for (const char* target : {"aten.multilabel_margin_loss.default", "aten.multilabel_margin_loss_forward.default"}) {
        refused(target, call_of("", {x, i64({1, -2, 0, 0}), 1}), "-2");
        refused(target, call_of("", {x, i64({1, -1, 9, 0}), 1}), "9");
    }
}

TEST_CASE("sizes and modes that a loss or a gradient does not take are refused", "[ops][refusals]") {
    refused("aten.triplet_margin_loss.default", call_of("", {f32({1, 2}), f32({1, 2}, {1, 2}), f32({1, 2})}),
            "expected equal numbers");
    const Sample of_mean = call_of("", {f32({1, 1}, {1, 2}), f32({1, 2}, {1, 2}), i64({0}), i64({0}), i64({0}), 1, -1});
    refused("aten._embedding_bag_per_sample_weights_backward.default", of_mean, "found mode=1");
}

TEST_CASE("bins between bounds that are not finite are refused", "[ops][refusals]") {
    const Tensor x = f32({1, 2});
    refused("aten.histc.default", call_of("", {x, 4, -kInf, kInf}), "expected finite");
    refused("aten.histc.default", call_of("", {x, 4, 0, kInf}), "expected finite");
    refused("aten.histc.default", call_of("", {f32({-kInf, 1, 2}), 2}), "found index");  // of its own
}

TEST_CASE("results that fit no memory are refused", "[ops][refusals]") {
    const Sample counts = call_of("", {i64({static_cast<double>(std::int64_t{1} << 61)}), Arg(), 0}, {}, {0});
    const RegisteredOp& op = Registry::instance().require("aten.bincount.default");
    CHECK_THROWS_AS(evaluate(graph_of(op, counts), counts.inputs()), Error);
    CHECK_THROWS_AS(run_sample("aten.kaiser_window.default", {"", {}, {std::int64_t{1} << 59}}), Error);
}

TEST_CASE("packed sequences of too many steps are refused", "[ops][refusals]") {
    const std::vector<Tensor> packed = {f32({1, 2}, {1, 2}), i64({1})};
    for (const Ints& sizes : {Ints{kHuge, 3, 2}, Ints{3, kHuge, 2}})
        for (const bool batch_first : {false, true})
            CHECK_THROWS_AS(run_sample("aten._pack_padded_sequence_backward.default",
                                       {"", packed, {t(0), Arg::ints(sizes), t(1), batch_first}}),
                            Error);
}

TEST_CASE("windows of Kaiser are no numbers where the Bessel function overflows", "[ops][refusals]") {
    for (const double beta : {800.0, 1e6, kInf}) {
        const std::vector<float> window =
            run_sample("aten.kaiser_window.beta", {"", {}, {5, false, beta}}).at(0).values<float>();
        REQUIRE(window.size() == 5);
        CHECK(std::isnan(window[2]));
    }
}

}  // namespace
}  // namespace whittle
