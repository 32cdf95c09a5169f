// Samples of lib/ops/aten/attention.cpp.
#include <cmath>
#include <optional>

#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples sample_attention(DType dtype) {
    Samples result;
    const auto add = [&](const std::string& label, const Sizes& query, const Sizes& key, const Sizes& value,
                         const std::optional<Tensor>& mask, std::vector<std::pair<std::string, Arg>> kwargs) {
        Sample sample = call_of(label, {random(dtype, query, 1), random(dtype, key, 2), random(dtype, value, 3)},
                                std::move(kwargs));
        if (mask) {
            sample.tensors.push_back(*mask);
            sample.args.push_back(t(3));
        }
        result.push_back(std::move(sample));
    };
    const Sizes q = {2, 2, 3, 4}, k = {2, 2, 5, 4}, v = {2, 2, 5, 6};
    add("plain", q, k, v, {}, {});
    add("no batch", {3, 4}, {5, 4}, {5, 2}, {}, {});
    add("broadcast batch", {2, 1, 3, 4}, {3, 5, 4}, {1, 5, 2}, {}, {});
    add("scale", q, k, v, {}, {{"scale", 0.25}});
    add("causal", q, k, v, {}, {{"is_causal", true}});
    add("causal, more targets than sources", k, q, {2, 2, 3, 2}, {}, {{"is_causal", true}});
    add("bool mask", q, k, v, random(DType::boolean, {3, 5}, 4), {});
    add("row masked out", q, k, v, values(DType::boolean, {1, 0, 1}, {3, 1}), {});
    add("float mask", q, k, v, random(dtype, {2, 1, 3, 5}, 4), {});
    add("float mask of -inf", q, k, v, values(dtype, {0, -INFINITY, 1}, {3, 1}), {});
    add("grouped heads", {2, 4, 3, 4}, k, v, {}, {{"enable_gqa", true}});
    add("no targets", {2, 0, 4}, {2, 5, 4}, {2, 5, 3}, {}, {});
    add("no sources", {2, 3, 4}, {2, 0, 4}, {2, 0, 3}, {}, {});
    return result;
}

}  // namespace

Table attention_table() { return {{{"aten.scaled_dot_product_attention.default"}, sample_attention}}; }

}  // namespace whittle::samples
