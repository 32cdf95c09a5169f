// Convolution and pooling against their definitions, written as plain loops over every index: the kernels (im2col and
// matrix products, tables of offsets) and the lowerings are tested against each other elsewhere, and share the
// geometry.
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>

#include "base/error.h"
#include "expr/interpret.h"
#include "ops/core/interpreter.h"
#include "ops/core/lowering.h"
#include "ops/core/registry.h"
#include "ops/samples/samples.h"
#include "ops/samples/table.h"
#include "tensor/compare.h"
#include "tensor/random.h"

namespace whittle {
namespace {

/// Calls f for every index below `sizes`.
void for_each_index(const Sizes& sizes, const std::function<void(const Sizes&)>& f) {
    Sizes at(sizes.size(), 0);
    for (std::int64_t i = 0; i < element_count(sizes); i++) {
        std::int64_t rest = i;
        for (std::size_t d = sizes.size(); d-- > 0; rest /= sizes[d]) at[d] = rest % sizes[d];
        f(at);
    }
}

/// A tensor's elements by index; zero outside, which is what padding means.
struct Image {
    explicit Image(const Tensor& tensor) : sizes(tensor.sizes()), values(tensor.values<double>()) {}
    bool inside(const Sizes& at) const {
        for (std::size_t d = 0; d < sizes.size(); d++)
            if (at[d] < 0 || at[d] >= sizes[d]) return false;
        return true;
    }
    double& operator()(const Sizes& at) {
        std::int64_t flat = 0;
        for (std::size_t d = 0; d < sizes.size(); d++) flat = flat * sizes[d] + at[d];
        return values.at(static_cast<std::size_t>(flat));
    }

    Sizes sizes;
    std::vector<double> values;
};

Sizes integers(const Arg& arg, std::size_t count) {
    Sizes result;
    for (const Arg& element : *arg.list()) result.push_back(std::get<std::int64_t>(element.value));
    if (result.size() == 1) result.assign(count, result[0]);
    return result;
}

/// Every product of an input element and a weight is added to the result element it belongs to, for both directions.
Tensor convolve(const Sample& sample, const Tensor& shaped_as) {
    Image input(sample.tensors[0]), weight(sample.tensors[1]);
    Image result(Tensor(DType::f64, shaped_as.sizes()));
    const std::size_t spatial = input.sizes.size() - 2;
    const Sizes stride = integers(sample.args[3], spatial), padding = integers(sample.args[4], spatial),
                dilation = integers(sample.args[5], spatial);
    const bool transposed = std::get<bool>(sample.args[6].value);
    const std::int64_t groups = std::get<std::int64_t>(sample.args[8].value);
    if (sample.tensors.size() == 3) {
        Image bias(sample.tensors[2]);
        for_each_index(result.sizes, [&](const Sizes& at) { result(at) = bias({at[1]}); });
    }
    // `small` is on the side where windows are laid, `large` on the side they slide over.
    const Image& small = transposed ? input : result;
    for_each_index(small.sizes, [&](const Sizes& place) {
        for_each_index(weight.sizes, [&](const Sizes& w) {
            const std::int64_t per_group = weight.sizes[0] / groups;
            const std::int64_t group = w[0] / per_group;
            if (place[1] != w[0]) return;  // the weight's first dimension is the small side's channel
            Sizes at = place;
            at[1] = group * weight.sizes[1] + w[1];
            for (std::size_t d = 0; d < spatial; d++)
                at[d + 2] = place[d + 2] * stride[d] - padding[d] + w[d + 2] * dilation[d];
            if (transposed && result.inside(at)) result(at) += input(place) * weight(w);
            if (!transposed) result(place) += (input.inside(at) ? input(at) : 0.0) * weight(w);
        });
    });
    return Tensor::of(result.values, result.sizes).to(shaped_as.dtype());
}

TEST_CASE("convolution is the sum its definition says", "[ops]") {
    const RegisteredOp& op = Registry::instance().require("aten.convolution.default");
    for (const DType dtype : {DType::f64, DType::f32, DType::i64})
        for (const Sample& sample : samples_of(op, dtype)) {
            const Tensor got = evaluate(graph_of(op, sample), sample.inputs()).at(0);
            const auto difference = compare(got, convolve(sample, got), default_tolerance(dtype));
            INFO(name(dtype) << " '" << sample.label << "'");
            CHECK((difference ? difference->description : "") == "");
        }
}

TEST_CASE("transposed convolutions of random shapes are the sum their definition says, lowered too", "[ops]") {
    const RegisteredOp& op = Registry::instance().require("aten.convolution.default");
    Random random(3);
    const auto up_to = [&](std::uint64_t most) { return 1 + static_cast<std::int64_t>(random.below(most)); };
    int count = 0;
    while (count < 100) {
        const std::int64_t groups = up_to(2), in = up_to(3) * groups, out = up_to(3);
        Sizes image = {up_to(2), in}, kernel = {in, out}, stride, padding, dilation, extra;
        bool fits = true;
        for (std::int64_t d = up_to(2); d > 0; d--) {
            image.push_back(up_to(5)), kernel.push_back(up_to(5));
            stride.push_back(up_to(4)), padding.push_back(up_to(4) - 1), dilation.push_back(up_to(3));
            extra.push_back(up_to(static_cast<std::uint64_t>(std::max(stride.back(), dilation.back()))) - 1);
            fits = fits && (image.back() - 1) * stride.back() - 2 * padding.back() +
                                   (kernel.back() - 1) * dilation.back() + 1 + extra.back() >
                               0;
        }
        if (!fits) continue;
        count++;
        const Sample sample{.label = "",
                            .tensors = {samples::random(DType::f64, image), samples::random(DType::f64, kernel, 2)},
                            .args = {samples::t(0), samples::t(1), Arg(), Arg::ints(stride), Arg::ints(padding),
                                     Arg::ints(dilation), true, Arg::ints(extra), groups}};
        INFO("image " << to_string(image) << ", weight " << to_string(kernel) << ", stride " << to_string(stride)
                      << ", padding " << to_string(padding) << ", dilation " << to_string(dilation)
                      << ", output_padding " << to_string(extra) << ", groups " << groups);
        const Graph graph = graph_of(op, sample);
        const Tensor got = evaluate(graph, sample.inputs()).at(0), expected = convolve(sample, got);
        test::Lowering lowering;
        std::vector<expr::Value> operands;
        for (const Tensor& input : sample.inputs()) operands.push_back(lowering.input(input));
        lowering.builder.output(lowering.graph(graph, operands).at(0));
        const expr::Group group = lowering.builder.finish();
        for (const Tensor& result : {got, expr::interpret(group, lowering.used_by(group)).at(0)}) {
            const auto difference = compare(result, expected, default_tolerance(DType::f64));
            CHECK((difference ? difference->description : "") == "");
        }
    }
}

/// Windows of rank-4 pools by their definition: `visit` gets every position of a window, in the image or in its
/// padding.
void for_each_window(const Sample& sample, const Sizes& result, std::int64_t dilation,
                     const std::function<void(const Sizes& place, const Sizes& at)>& visit) {
    const Sizes kernel = integers(sample.args[1], 2), padding = integers(sample.args[3], 2);
    const Sizes stride = sample.args[2].list()->empty() ? kernel : integers(sample.args[2], 2);
    for_each_index(result, [&](const Sizes& place) {
        for_each_index(kernel, [&](const Sizes& tap) {
            Sizes at = place;
            for (std::size_t d = 0; d < 2; d++) {
                const std::size_t dim = place.size() - 2 + d;
                at[dim] = place[dim] * stride[d] - padding[d] + tap[d] * dilation;
            }
            visit(place, at);
        });
    });
}

TEST_CASE("maxima are the largest elements of their windows", "[ops]") {
    const RegisteredOp& op = Registry::instance().require("aten.max_pool2d_with_indices.default");
    for (const Sample& sample : samples_of(op, DType::f32)) {
        INFO(sample.label);
        const std::vector<Tensor> got = evaluate(graph_of(op, sample), sample.inputs());
        Image image(sample.tensors[0]), maxima(got[0]), indices(got[1]);
        const std::size_t rank = image.sizes.size();
        std::int64_t wrong = 0;
        for_each_window(sample, got[0].sizes(), integers(sample.args[4], 2)[0],
                        [&](const Sizes& place, const Sizes& at) {
                            if (!image.inside(at)) return;
                            wrong += image(at) > maxima(place);
                            wrong += std::isnan(image(at)) && !std::isnan(maxima(place));
                        });
        for_each_index(got[0].sizes(), [&](const Sizes& place) {
            const auto index = static_cast<std::int64_t>(indices(place));
            Sizes at = place;
            at[rank - 2] = index / image.sizes[rank - 1];
            at[rank - 1] = index % image.sizes[rank - 1];
            const double there = image(at), maximum = maxima(place);
            wrong += there != maximum && !(std::isnan(there) && std::isnan(maximum));
        });
        CHECK(wrong == 0);
    }
}

TEST_CASE("means divide the sum of a window by the positions that count", "[ops]") {
    const RegisteredOp& op = Registry::instance().require("aten.avg_pool2d.default");
    for (const Sample& sample : samples_of(op, DType::f64)) {
        INFO(sample.label);
        const Tensor got = evaluate(graph_of(op, sample), sample.inputs())[0];
        Image image(sample.tensors[0]), sum(Tensor(DType::f64, got.sizes())), count = sum;
        const Sizes padding = integers(sample.args[3], 2);
        const bool count_padding = sample.args.size() < 6 || std::get<bool>(sample.args[5].value);
        for_each_window(sample, got.sizes(), 1, [&](const Sizes& place, const Sizes& at) {
            const bool inside = image.inside(at);
            bool padded = true;
            for (std::size_t d = 0; d < 2; d++) {
                const std::size_t dim = at.size() - 2 + d;
                padded = padded && at[dim] >= -padding[d] && at[dim] < image.sizes[dim] + padding[d];
            }
            if (inside) sum(place) += image(at);
            count(place) += inside || (count_padding && padded);
        });
        for_each_index(got.sizes(), [&](const Sizes& place) {
            const bool overridden = sample.args.size() > 6;
            sum(place) /= overridden ? static_cast<double>(std::get<std::int64_t>(sample.args[6].value)) : count(place);
        });
        const auto difference = compare(got, Tensor::of(sum.values, sum.sizes), default_tolerance(DType::f64));
        CHECK((difference ? difference->description : "") == "");
    }
}

/// What infer says of a call on zeros of these sizes; empty when it accepts it.
std::string refusal(const std::string& target, const std::vector<Sizes>& operands, const ArgList& rest) {
    const RegisteredOp& op = Registry::instance().require(target);
    Sample sample{"", {}, {}};
    for (std::size_t i = 0; i < operands.size(); i++) {
        sample.tensors.emplace_back(DType::f32, operands[i]);
        sample.args.emplace_back(NodeRef{static_cast<NodeId>(i)});
    }
    sample.args.insert(sample.args.end(), rest.begin(), rest.end());
    try {
        graph_of(op, sample);
        return {};
    } catch (const Error& error) {
        return error.message();
    }
}

TEST_CASE("operands that do not fit are refused by name", "[ops]") {
    using Catch::Contains;
    const auto options = [](std::int64_t stride, std::int64_t padding, bool transposed, std::int64_t extra,
                            std::int64_t groups) {
        return ArgList{Arg(), Arg::ints({stride}), Arg::ints({padding}), Arg::ints({1}), transposed, Arg::ints({extra}),
                       groups};
    };
    const std::string conv = "aten.convolution.default";
    CHECK(refusal(conv, {{1, 4, 5, 5}, {2, 4, 3, 3}}, options(1, 0, false, 0, 1)).empty());
    CHECK_THAT(refusal(conv, {{1, 3, 5, 5}, {2, 4, 3, 3}}, options(1, 0, false, 0, 1)),
               Contains("an input with 4 channels"));
    CHECK_THAT(refusal(conv, {{1, 4, 5, 5}, {3, 2, 3, 3}}, options(1, 0, false, 0, 2)), Contains("multiple"));
    CHECK_THAT(refusal(conv, {{1, 4, 5, 5}, {2, 4, 3, 3}}, options(0, 0, false, 0, 1)), Contains("stride=[0, 0]"));
    CHECK_THAT(refusal(conv, {{1, 4, 5, 5}, {2, 4, 3, 3}}, options(1, -1, false, 0, 1)), Contains("padding"));
    CHECK_THAT(refusal(conv, {{1, 4, 2, 5}, {2, 4, 3, 3}}, options(1, 0, false, 0, 1)), Contains("fits the padded"));
    CHECK_THAT(refusal(conv, {{1, 4, 2, 2}, {4, 2, 3, 3}}, options(1, 0, true, 1, 1)), Contains("output_padding"));
    CHECK_THAT(refusal(conv, {{4, 5, 5}, {2, 4, 3, 3}}, options(1, 0, false, 0, 1)), Contains("equal ranks"));
    const std::string pool = "aten.max_pool2d_with_indices.default";
    CHECK(refusal(pool, {{1, 4, 4}}, {2}).empty());
    CHECK_THAT(refusal(pool, {{4, 4}}, {2}), Contains("rank 3 or 4"));
    CHECK_THAT(refusal(pool, {{1, 4, 4}}, {2, 2, 2}), Contains("half the kernel"));
    CHECK_THAT(refusal(pool, {{1, 4, 4}}, {5}), Contains("fits"));
    CHECK_THAT(refusal("aten.mm.default", {{2, 3}, {2, 3}}, {}), Contains("inner sizes"));
    CHECK_THAT(refusal("aten.bmm.default", {{2, 2, 3}, {3, 3, 2}}, {}), Contains("batch"));
    CHECK_THAT(refusal("aten.mm.default", {{2, 3}, {3}}, {}), Contains("ranks 2 and 2"));
    CHECK_THAT(refusal("aten.addmm.default", {{3, 2}, {2, 3}, {3, 2}}, {}), Contains("expand to [2, 2]"));
}

TEST_CASE("sizes that no memory holds are refused before any is taken for them", "[ops]") {
    using Catch::Contains;
    constexpr std::int64_t kHuge = std::int64_t{1} << 60;
    const auto evaluation = [](const std::string& target, const Sizes& sizes, const ArgList& rest) -> std::string {
        const Tensor x(DType::f32, sizes);
        Sample sample{"", {x}, {Arg(NodeRef{0})}};
        sample.args.insert(sample.args.end(), rest.begin(), rest.end());
        try {
            evaluate(graph_of(Registry::instance().require(target), sample), sample.tensors);
            return {};
        } catch (const Error& error) {
            return error.message();
        }
    };
    CHECK_THAT(evaluation("aten.upsample_nearest1d.default", {1, 1, 1}, {Arg::ints({kHuge >> 20})}), Contains("bytes"));
    CHECK_THAT(evaluation("aten.upsample_linear1d.default", {1, 1, 1}, {Arg::ints({kHuge >> 20}), false}),
               Contains("bytes"));
    CHECK_THAT(
        evaluation("aten.upsample_nearest1d_backward.default", {1, 1, 1}, {Arg::ints({1}), Arg::ints({1, 1, kHuge})}),
        Contains("bytes"));
    CHECK(evaluation("aten.upsample_nearest1d.default", {0, 1, 1}, {Arg::ints({kHuge >> 20})}).empty());
    CHECK_THAT(evaluation("aten._upsample_bilinear2d_aa_backward.default", {1, 1, 1, 1},
                          {Arg::ints({1, 1}), Arg::ints({1, 1, 1, std::int64_t{1} << 32}), false}),
               Contains("needs more than 2^24 weights"));
}

TEST_CASE("an offset that leaves 64 bits is refused", "[ops]") {
    using Catch::Contains;
    for (const std::int64_t offset :
         {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()})
        CHECK_THAT(refusal("aten.diag_embed.default", {{3}}, {offset}), Contains("64 bits"));
}

TEST_CASE("indices and strides that LibTorch refuses are refused", "[ops]") {
    using Catch::Contains;
    const auto unpool = [](DType dtype, std::int64_t stride) -> std::string {
        const Tensor x(DType::f32, {1, 1, 1, 1}), at(dtype, {1, 1, 1, 1});
        const ArgList args = {Arg(NodeRef{0}), Arg(NodeRef{1}), Arg::ints({2, 2, 2}), Arg::ints({stride, 1, 1}),
                              Arg::ints({0, 0, 0})};
        try {
            graph_of(Registry::instance().require("aten.max_unpool3d.default"), {"", {x, at}, args});
            return {};
        } catch (const Error& error) {
            return error.message();
        }
    };
    CHECK(unpool(DType::i64, 1).empty());
    CHECK_THAT(unpool(DType::i32, 1), Contains("indices of dtype i32"));
    CHECK_THAT(unpool(DType::i64, 0), Contains("stride=[0, 1, 1]"));
    const ArgList twice = {Arg::ints({1, 1}), Arg::ints({}), Arg::ints({}), Arg::ints({})};
    CHECK_THAT(refusal("aten._trilinear.default", {{2}, {2, 1, 1}, {2, 1, 1}}, twice), Contains("once"));
}

TEST_CASE("windows of long signals and large images, and pairs of many rows are inferred", "[ops]") {
    const Tensor number(DType::f32, {});
    const Tensor grad = number.as_strided({299937, 64}, {0, 0}, 0);
    const Sample sample{"", {grad}, {Arg(NodeRef{0}), Arg::ints({300000}), 0, 64, 1}};
    const Graph graph = graph_of(Registry::instance().require("aten.unfold_backward.default"), sample);
    CHECK(graph.nodes.at(1).results.at(0).sizes == Sizes{300000});
    const Tensor image = number.as_strided({1, 2048, 2048}, {0, 0, 0}, 0);
    const ArgList windows = {Arg(NodeRef{0}), Arg::ints({3, 3}), Arg::ints({1, 1}), Arg::ints({1, 1}),
                             Arg::ints({1, 1})};
    const Graph columns = graph_of(Registry::instance().require("aten.im2col.default"), {"", {image}, windows});
    CHECK(columns.nodes.at(1).results.at(0).sizes == Sizes{9, 2048 * 2048});
    const Sample rows{"", {number.as_strided({5000, 2}, {0, 0}, 0)}, {Arg(NodeRef{0}), 2.0}};
    const Graph distances = graph_of(Registry::instance().require("aten._pdist_forward.default"), rows);
    CHECK(distances.nodes.at(1).results.at(0).sizes == Sizes{5000 * 4999 / 2});
}

}  // namespace
}  // namespace whittle
