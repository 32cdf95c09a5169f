// What the inputs hold: small integers, and then nothing that has to be written down.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "reduce/kernel/edits.h"
#include "reduce/kernel/search.h"

namespace whittle::reduce::kernel {
namespace {

using expr::Expr;

std::vector<double> elements(const Tensor& tensor) { return tensor.values<double>(); }

Tensor tensor_of(const std::vector<double>& values, const Tensor& like) {
    return Tensor::of(values, like.sizes()).to(like.dtype());
}

/// From plain to as it was: all 0, all 1, 0 1 2 …, small integers.
std::vector<std::vector<double>> plain_data(const std::vector<double>& values) {
    std::vector<double> counted(values.size()), small(values);
    std::iota(counted.begin(), counted.end(), 0.0);
    for (double& value : small) value = std::isfinite(value) ? std::clamp(std::round(value), -9.0, 9.0) : value;
    return {std::vector<double>(values.size(), 0.0), std::vector<double>(values.size(), 1.0), counted, small};
}

/// Of few elements each by itself: 0, then 1, then without its sign.
void simpler_elements(Search& search, std::size_t index) {
    constexpr std::int64_t kFew = 16;
    for (std::int64_t i = 0; i < search.best().inputs[index].numel() && search.best().inputs[index].numel() <= kFew;
         i++) {
        std::vector<double> values = elements(search.best().inputs[index]);
        double& value = values[static_cast<std::size_t>(i)];
        const double was = value;
        for (const double plain : {0.0, 1.0, std::fabs(was)}) {
            if (was == plain && !std::signbit(was)) break;
            value = plain;
            Tensor changed = tensor_of(values, search.best().inputs[index]);
            if (search.attempt_with([&](KernelCase& kernel) { kernel.inputs[index] = changed; })) break;
        }
    }
}

void simpler_input_data(Search& search, std::size_t index) {
    for (const std::vector<double>& plain : plain_data(elements(search.best().inputs[index]))) {
        const Tensor data = tensor_of(plain, search.best().inputs[index]);
        if (same_bits(data, search.best().inputs[index])) return;  // as plain as it gets
        if (search.attempt_with([&](KernelCase& kernel) { kernel.inputs[index] = data; })) return;
    }
}

/// Loads of an input by an expression of the indices.
KernelCase computed(const KernelCase& kernel, std::size_t index,
                    const std::function<Expr(const std::vector<Expr>&)>& value) {
    KernelCase result = kernel;
    const expr::Input input = result.group.inputs[index];
    each_expression(result.group, [&](const Expr& root) {
        return with_loads(root, input.name,
                          [&](const Expr& load) { return expr::cast(input.dtype, value(load->operands)); });
    });
    drop_unused(result);
    return result;
}

bool as_coordinates(Search& search, std::size_t index) {
    const expr::Input& input = search.best().group.inputs[index];
    if (is_reduced(input.dtype)) return false;
    std::vector<std::function<Expr(const std::vector<Expr>&)>> values;
    for (const int constant : {1, 0}) values.push_back([=](const std::vector<Expr>&) { return expr::index(constant); });
    for (std::size_t d = input.sizes.size(); d-- > 0;)
        values.push_back([=](const std::vector<Expr>& at) { return at[d]; });
    values.push_back([](const std::vector<Expr>& at) {
        return std::accumulate(at.begin(), at.end(), expr::index(1),
                               [](const Expr& a, const Expr& b) { return a + b; });
    });
    if (input.dtype == DType::boolean)
        for (std::size_t d = input.sizes.size(); d-- > 0;)
            for (const int place : {0, 1})
                values.insert(values.begin(),
                              [=](const std::vector<Expr>& at) { return expr::equal(at[d], expr::index(place)); });
    for (const auto& value : values)
        if (search.attempt(computed(search.best(), index, value))) return true;
    return false;
}

}  // namespace

void simpler_data(Search& search) {
    for (std::size_t i = 0; i < search.best().inputs.size(); i++) {
        simpler_input_data(search, i);
        simpler_elements(search, i);
    }
}

void data_as_coordinates(Search& search) {
    for (std::size_t i = 0; i < search.best().inputs.size();)
        if (!as_coordinates(search, i)) i++;
}

}  // namespace whittle::reduce::kernel
