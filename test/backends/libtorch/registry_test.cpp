// Every op of the registry that LibTorch has, on every sample of every dtype: values, dtypes, sizes, strides and what
// shares memory are the same. WHITTLE_TEST_OP=TEXT in the environment restricts the walk to ops whose name holds TEXT.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "agreement.h"
#include "backends/libtorch/boxed_call.h"
#include "base/error.h"
#include "ops/core/interpreter.h"
#include "ops/core/layout.h"
#include "ops/samples/table.h"
#include "tensor/compare.h"
#include "tensor/complex.h"
#include "versions.h"

namespace whittle {
namespace {

using test::Aspect;
using test::Case;
using test::Disagreement;

constexpr std::size_t kShards = 4;

const test::NearnessTable& nearness() {
    static const test::NearnessTable table(WHITTLE_SOURCE_DIR "/test/backends/libtorch/nearness.txt",
                                           test::of_libtorch());
    return table;
}

/// A sample's call, and its operands by node.
struct Call {
    Graph graph;
    const Node* node = nullptr;
    std::vector<Tensor> inputs;

    Call(const RegisteredOp& op, const Sample& sample) : graph(graph_of(op, sample)), inputs(sample.inputs()) {
        for (const NodeId id : graph.calls())
            if (!node) node = &graph.nodes[static_cast<std::size_t>(id)];
    }

    Tensor operand(NodeRef ref) const {
        const Node& node = graph.node(ref);
        if (node.kind == NodeKind::get_attr) return graph.attributes.at(node.target);
        const std::vector<NodeId> placeholders = graph.placeholders();
        return inputs.at(static_cast<std::size_t>(std::ranges::find(placeholders, ref.id) - placeholders.begin()));
    }

    std::vector<Tensor> operands() const {
        std::vector<Tensor> result;
        for_each_input(*node, [&](NodeRef ref) { result.push_back(operand(ref)); });
        return result;
    }
};

/// Which operand's memory a result is a view of, and where in it.
std::string memory_of(const Tensor& result, const std::vector<Tensor>& operands) {
    if (result.numel() == 0) return "nothing";
    for (std::size_t i = 0; i < operands.size(); ++i)
        if (operands[i].storage() == result.storage())
            return "operand " + std::to_string(i) + " at " + std::to_string(result.offset());
    return "its own";
}

bool lent_as_copy(const Tensor& tensor) {  // LibTorch has no negative strides
    return std::ranges::any_of(tensor.strides(), [](std::int64_t stride) { return stride < 0; });
}

/// The distance of the largest finite magnitude to the next value of the dtype.
double largest_step(const Tensor& tensor) {
    if (is_complex(tensor.dtype())) return largest_step(as_real(tensor));
    double largest = 0;
    for (const double value : tensor.values<double>())
        if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
    if (!is_floating(tensor.dtype())) return 1;
    const int mantissa = tensor.dtype() == DType::f64   ? 52
                         : tensor.dtype() == DType::f32 ? 23
                         : tensor.dtype() == DType::f16 ? 10
                                                        : 7;
    return std::ldexp(1.0, (largest == 0 ? -100 : std::ilogb(largest)) - mantissa);
}

void compare_values(const Tensor& got, const Tensor& expected, const std::string& which, std::string_view op,
                    std::vector<Disagreement>& found) {
    const test::Nearness near = nearness().of(op, expected.dtype());
    if (near.unspecified) return;
    const double error = near.of_largest ? near.ulp * largest_step(expected) : near.absolute;
    const Accuracy strict{.mode = Accuracy::Mode::strict, .tolerances = {{expected.dtype(), {0, 0, near.ulp}}}};
    const auto difference = error > 0 ? compare(got, expected, Tolerance{.rtol = 0, .atol = error, .ulp = 0})
                                      : compare(got, expected, strict);
    if (!difference) return;
    const ErrorFigures figures = measure(got, expected);
    found.push_back({Aspect::values, which + difference->description + "; " + std::to_string(figures.max_ulp) +
                                         " ulp, of largest " +
                                         std::to_string(figures.max_abs / largest_step(expected))});
}

void compare_result(const Call& call, std::size_t i, const Tensor& got, const Tensor& expected, const RegisteredOp& op,
                    std::vector<Disagreement>& found) {
    const std::string which = "result " + std::to_string(i) + ": ";
    const auto differ = [&](Aspect aspect, const std::string& ours, const std::string& theirs) {
        if (ours != theirs) found.push_back({aspect, which + "got " + ours + ", LibTorch " + theirs});
    };
    differ(Aspect::dtype, std::string(name(got.dtype())), std::string(name(expected.dtype())));
    differ(Aspect::sizes, to_string(got.sizes()), to_string(expected.sizes()));
    const std::vector<Tensor> operands = call.operands();
    if (std::ranges::none_of(operands, lent_as_copy)) {
        const bool view = memory_of(expected, operands).starts_with("operand");
        if (view || (got.sizes() == expected.sizes() && !same_strides(ValueMeta::of(got), ValueMeta::of(expected))))
            differ(Aspect::strides, to_string(got.strides()), to_string(expected.strides()));
        differ(Aspect::aliasing, memory_of(got, operands), memory_of(expected, operands));
    }
    if (!op.def->random && got.dtype() == expected.dtype() && got.sizes() == expected.sizes())
        compare_values(got, expected, which, op.record(), found);
}

std::vector<Disagreement> disagreements(const RegisteredOp& op, const Sample& sample) {
    const Call call(op, sample);
    const std::vector<Tensor> got = evaluate(call.graph, call.inputs);
    std::vector<std::optional<Tensor>> expected;
    try {
        expected = aten::call_boxed(*call.node, [&](NodeRef ref) { return call.operand(ref); });
    } catch (const Error& error) {
        return {{Aspect::refused, error.what()}};
    }
    if (got.size() != expected.size())
        return {{Aspect::results,
                 "got " + std::to_string(got.size()) + " results, LibTorch " + std::to_string(expected.size())}};
    std::vector<Disagreement> found;
    for (std::size_t i = 0; i < got.size(); ++i)
        if (expected[i]) compare_result(call, i, got[i], *expected[i], op, found);
    return found;
}

/// LibTorch hands these to oneDNN where the CPU has AVX-512, whose sums are f32; elsewhere its own sum in bf16, and
/// know other cases. What is listed as known is of the former.
bool is_other_kernel(std::string_view op) {
    static const bool by_onednn =
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
    constexpr std::string_view kHanded[] = {"aten.conv", "aten._convolution", "aten.addmm.",
                                            "aten.mm.",  "aten.bmm.",         "aten.gelu_backward."};
    return !by_onednn && std::ranges::any_of(kHanded, [&](std::string_view handed) { return op.starts_with(handed); });
}

void walk(std::size_t shard) {
    test::Exceptions exceptions(WHITTLE_SOURCE_DIR "/test/known-failing/libtorch.txt", test::of_libtorch());
    const char* only = std::getenv("WHITTLE_TEST_OP");
    const std::span<const RegisteredOp> ops = Registry::instance().all();
    for (std::size_t i = shard; i < ops.size(); i += kShards) {
        const RegisteredOp& op = ops[i];
        if (!op.name.starts_with("aten.") || (only && op.name.find(only) == std::string_view::npos)) continue;
        if (!op.same_as.empty() && !aten::schema_of(op.name)) continue;  // a name of later versions
        for (const DType dtype : kAllDTypes) {
            if (!(op.def->dtypes & set_of(dtype))) continue;
            if (dtype == DType::bf16 && is_other_kernel(op.record())) continue;
            for (const Sample& sample : samples_of(op, dtype)) {
                if (test::beyond_libtorch(sample)) continue;
                const Case tried{exceptions.listed(op), dtype, sample.label};
                std::vector<Disagreement> found;
                if (!aten::schema_of(op.name))
                    found = {{Aspect::absent, "LibTorch has no such op"}};
                else
                    found = exceptions.crashes(tried) ? test::crash([&] { disagreements(op, sample); })
                                                      : disagreements(op, sample);
                for (const std::string& problem : exceptions.judge(tried, found))
                    FAIL_CHECK(op.name << " " << name(dtype) << " '" << sample.label << "' " << problem);
                SUCCEED();
            }
        }
        if (is_other_kernel(op.name) || exceptions.listed(op) != op.name) continue;
        for (const std::string& line : exceptions.unused(op.name))
            FAIL_CHECK("test/known-failing/libtorch.txt, " << line << ": no case is like that");
    }
}

TEMPLATE_TEST_CASE_SIG("ops agree with LibTorch", "[libtorch][process]", ((std::size_t Shard), Shard), 0, 1, 2, 3) {
    walk(Shard);
}

/// 0, 1, 2 … of a dtype, [1, channels, size].
Tensor numbered(DType dtype, std::int64_t channels, std::int64_t size) {
    std::vector<std::int64_t> list(static_cast<std::size_t>(channels * size));
    std::iota(list.begin(), list.end(), 0);
    return Tensor::of(list, {1, channels, size}).to(dtype);
}

/// Where several channels keep or double their size, LibTorch 2.14 copies elements, whatever the factor.
constexpr std::string_view kCopying = "aten.upsample_nearest2d.vec";

TEST_CASE("upsampling reads where LibTorch reads, whatever the size and the factor", "[libtorch]") {
    const auto [target, rank] = GENERATE(
        std::pair("aten.upsample_nearest1d.vec", 1), std::pair("aten.upsample_nearest2d.vec", 2),
        std::pair("aten._upsample_nearest_exact1d.vec", 1), std::pair("aten._upsample_nearest_exact2d.vec", 2));
    const RegisteredOp& op = Registry::instance().require(target);
    for (const DType dtype : {DType::f64, DType::f32})
        for (std::int64_t size = 1; size < 34; ++size)
            for (const double factor : {0.3, 1 / 3., 0.7, 0.999, 1.001, 1.1, 1.5, 2.05, 3.3, 9.99})
                for (const std::int64_t channels : {1, 2}) {
                    if (std::trunc(static_cast<double>(size) * factor) < 1 || factor * static_cast<double>(size) > 200)
                        continue;
                    Tensor x = numbered(dtype, channels, size);
                    if (rank == 2) x = x.as_strided({1, channels, 1, size}, {channels * size, size, size, 1}, 0);
                    ArgList factors(1, Arg(factor));
                    if (rank == 2) factors.insert(factors.begin(), Arg(1.0));
                    INFO(target << " of " << size << " by " << factor << ", " << channels << " channels");
                    const Sample by_factor{.label = "", .tensors = {x}, .args = {NodeRef{0}, Arg(), Arg(factors)}};
                    const auto resized = static_cast<std::int64_t>(static_cast<double>(size) * factor);
                    const bool stays_or_doubles = resized == size || resized == 2 * size;
                    if (TORCH_VERSION_MAJOR >= 2 && channels > 1 && stays_or_doubles && target == kCopying) {
                        const ArgList sizes = {Arg(1), Arg(resized)};
                        const Call ratio(op, {.label = "", .tensors = {x}, .args = {NodeRef{0}, Arg(sizes), Arg()}});
                        const Call call(op, by_factor);
                        const auto got = aten::call_boxed(*call.node, [&](NodeRef ref) { return call.operand(ref); });
                        CHECK(got.at(0)->values<double>() ==
                              evaluate(ratio.graph, ratio.inputs).at(0).values<double>());
                        continue;
                    }
                    for (const Disagreement& one : disagreements(op, by_factor)) FAIL_CHECK(one.description);
                }
}

TEST_CASE("known differences from LibTorch are of ops that there are", "[libtorch]") {
    std::vector<std::string> ops;
    for (const RegisteredOp& op : Registry::instance().all()) ops.emplace_back(op.name);
    const test::Exceptions exceptions(WHITTLE_SOURCE_DIR "/test/known-failing/libtorch.txt", test::of_libtorch());
    for (const std::string& line : exceptions.unknown(ops))
        FAIL_CHECK("test/known-failing/libtorch.txt, " << line << ": no op has this name");
    SUCCEED();
}

}  // namespace
}  // namespace whittle
