// Arguments nobody means: every integer of every sample's call and constants replaced by extremes. Inference may refuse
// with an Error; it must not crash, overflow (the sanitizer build sees that) or take memory that results of such sizes
// would need.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <functional>
#include <limits>

#include "base/error.h"
#include "graph/text.h"
#include "ops/core/registry.h"
#include "ops/samples/table.h"

namespace whittle {
namespace {

constexpr std::int64_t kExtremes[] = {std::numeric_limits<std::int64_t>::min(),
                                      std::numeric_limits<std::int64_t>::max(),
                                      std::int64_t{1} << 40,
                                      -(std::int64_t{1} << 31) - 1,
                                      -1,
                                      0};

/// Calls f with every variant of `arg` in which one integer is an extreme.
void for_each_variant(const Arg& arg, const std::function<void(const Arg&)>& f) {
    if (std::holds_alternative<std::int64_t>(arg.value)) {
        for (const std::int64_t extreme : kExtremes) f(Arg(extreme));
    } else if (const ArgList* list = arg.list()) {
        for (std::size_t i = 0; i < list->size(); ++i)
            for_each_variant((*list)[i], [&](const Arg& element) {
                ArgList changed = *list;
                changed[i] = element;
                f(Arg(changed));
            });
        f(Arg(ArgList{}));
    }
}

/// Calls f with every variant of an i64 tensor in which one element is an extreme.
void for_each_variant(const Tensor& tensor, const std::function<void(const Tensor&)>& f) {
    if (tensor.dtype() != DType::i64) return;
    const std::vector<std::int64_t> values = tensor.values<std::int64_t>();
    for (std::size_t i = 0; i < values.size(); ++i)
        for (const std::int64_t extreme : kExtremes) {
            std::vector<std::int64_t> changed = values;
            changed[i] = extreme;
            f(Tensor::of(changed, tensor.sizes()));
        }
}

void infer_only(const RegisteredOp& op, const Sample& sample) {
    Graph graph;
    try {
        graph = graph_of(op, sample);
    } catch (const Error&) {
        return;
    }
    for (const Node& node : graph.nodes)
        for (const ValueMeta& meta : node.results) {
            INFO(print(graph, node));
            CHECK_NOTHROW(element_count(meta.sizes));
        }
}

TEST_CASE("inference survives hostile integers", "[ops]") {
    const char* filter = std::getenv("WHITTLE_TEST_OP");
    for (const RegisteredOp& op : Registry::instance().all()) {
        if (filter && op.name.find(filter) == std::string_view::npos) continue;
        const DType dtype = op.def->dtypes & set_of(DType::f32) ? DType::f32 : DType::i64;
        if (!(op.def->dtypes & set_of(dtype))) continue;
        INFO(op.name);
        for (const Sample& sample : samples_of(op, dtype)) {
            for (std::size_t i = 0; i < sample.args.size(); ++i)
                for_each_variant(sample.args[i], [&](const Arg& arg) {
                    Sample changed = sample;
                    changed.args[i] = arg;
                    infer_only(op, changed);
                });
            for (std::size_t i = 0; i < sample.kwargs.size(); ++i)
                for_each_variant(sample.kwargs[i].second, [&](const Arg& arg) {
                    Sample changed = sample;
                    changed.kwargs[i].second = arg;
                    infer_only(op, changed);
                });
            for (const std::size_t i : sample.constants)  // sizes, pads, … of ONNX are operands
                for_each_variant(sample.tensors[i], [&](const Tensor& tensor) {
                    Sample changed = sample;
                    changed.tensors[i] = tensor;
                    infer_only(op, changed);
                });
        }
    }
}

}  // namespace
}  // namespace whittle
