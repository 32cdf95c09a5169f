// Every op of the registry that LibTorch has, on every sample, with operands laid out in several ways: infer and eval
// give the sizes and strides of LibTorch's results. WHITTLE_TEST_OP=TEXT restricts the walk to ops whose name holds
// TEXT.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <numeric>

#include "agreement.h"
#include "backends/libtorch/boxed_call.h"
#include "base/error.h"
#include "ops/core/interpreter.h"
#include "ops/core/layout.h"
#include "ops/samples/table.h"
#include "passes/decompose.h"
#include "tensor/reach.h"
#include "versions.h"

namespace whittle {
namespace {

using test::Aspect;
using test::Case;
using test::Disagreement;

constexpr std::size_t kWalks = 2;

std::vector<std::size_t> row_major(std::size_t rank) {
    std::vector<std::size_t> order(rank);
    std::iota(order.begin(), order.end(), 0);
    return order;
}

Tensor contiguous_tensor(const Tensor& tensor) { return tensor.clone(); }
Tensor transposed_tensor(const Tensor& tensor) {
    if (tensor.rank() < 2) return tensor;
    std::vector<std::size_t> order = row_major(tensor.sizes().size());
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    return laid_out(tensor, dense_strides(tensor.sizes(), order));
}
Tensor channels_last_tensor(const Tensor& tensor) {
    if (tensor.rank() != 4 && tensor.rank() != 5) return tensor;
    return laid_out(tensor, channels_last_strides(tensor.sizes()));
}
/// The first element along the first dimension, everywhere: other values.
Tensor expanded_tensor(const Tensor& tensor) {
    if (tensor.rank() < 2 || tensor.numel() == 0) return tensor;
    Strides strides = tensor.strides();
    strides[0] = 0;
    return tensor.as_strided(tensor.sizes(), strides, tensor.offset());
}
/// Not of lists of whole numbers, which kernels read as if they lay side by side.
Tensor stepped_tensor(const Tensor& tensor) {
    if (tensor.rank() < 2 && !is_inexact(tensor.dtype())) return tensor;
    Strides strides = contiguous_strides(tensor.sizes());
    for (std::int64_t& stride : strides) stride *= 2;
    return laid_out(tensor, strides);
}

struct OperandLayout {
    const char* name;
    Tensor (*lay)(const Tensor&);
    bool first_only = false;  ///< the others as the sample has them
};
constexpr OperandLayout kLayouts[] = {{"contiguous", contiguous_tensor},
                                      {"transposed", transposed_tensor},
                                      {"channels last", channels_last_tensor},
                                      {"expanded", expanded_tensor},
                                      {"stepped", stepped_tensor},
                                      {"first transposed", transposed_tensor, true},
                                      {"first channels last", channels_last_tensor, true}};

Sample laid_out_sample(const Sample& sample, const OperandLayout& layout) {
    Sample result = sample;
    const std::size_t count =
        layout.first_only ? std::min<std::size_t>(1, sample.tensors.size()) : sample.tensors.size();
    for (std::size_t i = 0; i < count; ++i) result.tensors[i] = layout.lay(sample.tensors[i]);
    return result;
}

/// Sizes, and strides as far as they place elements.
std::string shape_text(const Sizes& sizes, Strides strides) {
    for (std::size_t d = 0; d < sizes.size(); ++d)
        if (sizes[d] == 1 || element_count(sizes) == 0) strides[d] = 1;
    return to_string(sizes) + " strides " + to_string(strides);
}

/// What a call gives, by who says so: nothing where it refuses.
struct Shapes {
    const char* who;
    std::vector<std::string> results;
};

std::vector<std::string> shapes_of(const std::vector<Tensor>& results) {
    std::vector<std::string> shapes;
    for (const Tensor& result : results) shapes.push_back(shape_text(result.sizes(), result.strides()));
    return shapes;
}

std::vector<Shapes> shapes_of(const RegisteredOp& op, const Graph& graph, const std::vector<Tensor>& inputs) {
    std::vector<Shapes> shapes(2);
    shapes[0].who = "infer", shapes[1] = {"eval", shapes_of(evaluate(graph, inputs))};
    const Node& call = graph.nodes.at(static_cast<std::size_t>(graph.calls().front()));
    for (const ValueMeta& meta : call.results) shapes[0].results.push_back(shape_text(meta.sizes, meta.strides));
    if (!op.def->decompose || op.def->lower || !op.schema.returns.front().alias.empty()) return shapes;
    const Graph parts = decompose(graph);
    const std::vector<NodeId> calls = parts.calls();
    const auto same = [&](NodeId id) { return parts.node({id}).target == op.name; };
    if (std::ranges::none_of(calls, same)) shapes.push_back({"decompose", shapes_of(evaluate(parts, inputs))});
    return shapes;
}

/// The first result of the sample's call of another shape than LibTorch's, if it takes the call.
std::optional<std::string> difference(const RegisteredOp& op, const Sample& sample) {
    const Node call{.target = std::string(op.name), .args = sample.args, .kwargs = sample.kwargs};
    const auto operand = [&](NodeRef ref) { return sample.tensors.at(static_cast<std::size_t>(ref.id)); };
    std::vector<std::optional<Tensor>> expected;
    try {
        expected = aten::call_boxed(call, operand);
    } catch (const Error&) {
        return std::nullopt;
    }
    for (const Shapes& shapes : shapes_of(op, graph_of(op, sample), sample.inputs())) {
        const std::string who = std::string(shapes.who) + " gives ";
        if (shapes.results.size() != expected.size()) return who + std::to_string(shapes.results.size()) + " results";
        for (std::size_t i = 0; i < expected.size(); ++i) {
            if (!expected[i]) continue;
            const std::string wanted = shape_text(expected[i]->sizes(), expected[i]->strides());
            if (shapes.results[i] != wanted)
                return who + shapes.results[i] + " as result " + std::to_string(i) + ", LibTorch " + wanted;
        }
    }
    return std::nullopt;
}

/// LibTorch 1.13 divides by the number of elements, of which there are none; has no negative strides.
bool is_tried(const Sample& sample) {
    const auto odd = [](const Tensor& tensor) {
        return tensor.numel() == 0 || std::ranges::any_of(tensor.strides(), [](auto stride) { return stride < 0; });
    };
    return !test::beyond_libtorch(sample) && std::ranges::none_of(sample.tensors, odd);
}

std::vector<Disagreement> disagreements_of(const RegisteredOp& op, DType dtype, const OperandLayout& layout) {
    for (const Sample& given : samples_of(op, dtype)) {
        const Sample sample = laid_out_sample(given, layout);
        if (!is_tried(sample)) continue;
        std::optional<std::string> found;
        try {
            found = difference(op, sample);
        } catch (const Error& error) {
            found = error.what();
        }
        if (found) return {{Aspect::strides, "'" + sample.label + "': " + *found}};
    }
    return {};
}

/// Strides are no matter of the dtype.
DType tried_dtype(const RegisteredOp& op) {
    for (const DType dtype : {DType::f32, DType::i64, DType::boolean, DType::c64})
        if (op.def->dtypes & set_of(dtype)) return dtype;
    return DType::f64;
}

TEMPLATE_TEST_CASE_SIG("results have the strides of LibTorch's", "[libtorch][process][strides]",
                       ((std::size_t Shard), Shard), 0, 1) {
    test::Exceptions exceptions(WHITTLE_SOURCE_DIR "/test/known-failing/strides.txt", test::of_libtorch());
    const char* only = std::getenv("WHITTLE_TEST_OP");
    const std::span<const RegisteredOp> ops = Registry::instance().all();
    for (std::size_t i = Shard; i < ops.size(); i += kWalks) {
        const RegisteredOp& op = ops[i];
        if (!op.name.starts_with("aten.") || (only && op.name.find(only) == std::string_view::npos)) continue;
        if (!op.same_as.empty() || !aten::schema_of(op.name)) continue;  // by another name it is as its record
        const DType dtype = tried_dtype(op);
        for (const OperandLayout& layout : kLayouts) {
            const Case tried{op.name, dtype, layout.name};
            for (const std::string& problem : exceptions.judge(tried, disagreements_of(op, dtype, layout)))
                FAIL_CHECK(op.name << ", " << layout.name << ": " << problem);
            SUCCEED();
        }
        for (const std::string& line : exceptions.unused(op.name))
            FAIL_CHECK("test/known-failing/strides.txt, " << line << ": no case is like that");
    }
}

TEST_CASE("differences from LibTorch's strides are of ops that there are", "[libtorch][strides]") {
    std::vector<std::string> ops;
    for (const RegisteredOp& op : Registry::instance().all()) ops.emplace_back(op.name);
    const test::Exceptions exceptions(WHITTLE_SOURCE_DIR "/test/known-failing/strides.txt", test::of_libtorch());
    for (const std::string& line : exceptions.unknown(ops))
        FAIL_CHECK("test/known-failing/strides.txt, " << line << ": no op has this name");
    SUCCEED();
}

}  // namespace
}  // namespace whittle
