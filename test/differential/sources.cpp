// Small programs that mean the same in LibTorch and in our own API: compiled once with each. differential_test.cpp
// demands that both give the same values, graphs and breaks.
//   PROGRAM NAME    runs one of them
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <vector>

#ifdef WHITTLE
#include <whittle/whittle.h>
namespace t = whittle;
#else
#include <torch/torch.h>
namespace t = torch;
#endif

using t::Tensor;

namespace {

// Views and writes through them.
Tensor view_of_sum(const Tensor& a, const Tensor& b) { return (a + b).view({4, 6}).transpose(0, 1).sum(1); }
Tensor write_through_view(const Tensor& a, const Tensor& b) {
    Tensor x = a.clone();
    x.view({24}).add_(b.view({24}));
    return x * 2;
}
Tensor write_to_base(const Tensor& a, const Tensor& b) {
    Tensor x = a + b;
    Tensor row = x.select(0, 1);
    x.mul_(3);
    return row.exp();
}
Tensor write_to_argument(const Tensor& a, const Tensor& b) {
    Tensor x = a;
    x.add_(b);
    return x.relu();
}
Tensor two_views(const Tensor& a, const Tensor&) {
    Tensor x = a.clone();
    Tensor left = x.narrow(1, 0, 3), right = x.narrow(1, 3, 3);
    left.copy_(right);
    right.neg_();
    return x;
}
Tensor overwritten(const Tensor& a, const Tensor& b) {
    Tensor x = a * 2;
    x = b * 3;
    return x - 1;
}
Tensor returned_view(const Tensor& a, const Tensor& b) { return (a * b).t(); }
Tensor returned_argument(const Tensor& a, const Tensor& b) {
    Tensor unused = a + b;
    return a;
}
Tensor expanded(const Tensor& a, const Tensor& b) { return a.select(0, 0).expand({4, 6}) + b; }
Tensor dead_code(const Tensor& a, const Tensor& b) {
    Tensor dead = a.exp().log();
    return b.abs();
}

// Breaks.
Tensor branch_taken(const Tensor& a, const Tensor& b) {
    Tensor x = a * 2;
    if (x.sum().item<float>() > -1000) x = x + b;
    return x.relu();
}
Tensor branch_not_taken(const Tensor& a, const Tensor& b) {
    Tensor x = a * 2;
    if (x.sum().item<float>() > 1e9F) x = x + b;
    return x.relu();
}
Tensor element_as_number(const Tensor& a, const Tensor& b) {
    const float scale = a.abs().max().item<float>();
    return b / scale;
}
Tensor element_at_the_end(const Tensor& a, const Tensor& b) {
    Tensor x = a + b;
    std::printf("%.3f\n", static_cast<double>(x.sum().item<float>()));
    return x;
}
Tensor two_elements(const Tensor& a, const Tensor& b) {
    const float low = a.min().item<float>(), high = b.max().item<float>();
    return (a - low) / (high - low + 1);
}
Tensor break_between_aliases(const Tensor& a, const Tensor& b) {
    Tensor x = a + b;
    Tensor row = x.select(0, 0);
    if (row.sum().item<float>() < -1e9F) return row;
    row.add_(1);
    return x * 2;
}
Tensor while_on_data(const Tensor& a, const Tensor& b) {
    Tensor x = a.abs() + 1;
    int steps = 0;
    while (x.sum().item<float>() > 20 && steps++ < 3) x = x * 0.5 + b * 0.01;
    return x;
}

// Loops, calls, exceptions.
Tensor counted_loop(const Tensor& a, const Tensor& b) {
    Tensor x = a;
    for (int i = 0; i < 3; ++i) x = t::tanh(x + b);
    return x;
}
Tensor helper(const Tensor& x) { return t::sigmoid(x) * x; }
Tensor calls_helper(const Tensor& a, const Tensor& b) { return helper(a) + helper(b); }
Tensor recursive(const Tensor& a, int depth) { return depth == 0 ? a : recursive(a * 0.5, depth - 1); }
Tensor calls_recursive(const Tensor& a, const Tensor& b) { return recursive(a, 3) + b; }
Tensor loop_over_parts(const Tensor& a, const Tensor& b) {
    std::vector<Tensor> rows;
    for (int i = 0; i < 4; ++i) rows.push_back(a.select(0, i) * (i + 1));
    return t::stack(rows, 0) + b;
}
Tensor caught_inside(const Tensor& a, const Tensor& b) {
    Tensor x = a + 1;
    try {
        if (x.size(0) == 4) throw std::runtime_error("as planned");
        x = x * 100;
    } catch (const std::runtime_error&) {
        x = x - b;
    }
    return x;
}

// What values are computed by.
Tensor matrices(const Tensor& a, const Tensor& b) { return t::matmul(a, b.t()).softmax(-1); }
Tensor types(const Tensor& a, const Tensor& b) { return (a > b).to(t::kFloat32) + a.to(t::kFloat64).to(t::kFloat32); }
Tensor mixed_numbers(const Tensor& a, const Tensor& b) { return 2 * a - b / 3 + 1; }
Tensor reductions(const Tensor& a, const Tensor& b) { return a.mean(1) + b.sum(1) * a.amax(1) - std::get<0>(b.max(1)); }
Tensor choose(const Tensor& a, const Tensor& b) { return t::where(a > 0, a, b); }
Tensor joined(const Tensor& a, const Tensor& b) { return t::cat({a, b}, 0).reshape({2, 24}); }
Tensor made_inside(const Tensor& a, const Tensor& b) { return a + t::ones({4, 6}) * t::arange(6) + b; }
Tensor no_gradient(const Tensor& a, const Tensor& b) {
    t::NoGradGuard guard;
    return (a * b).clamp_min(0);
}
Tensor twice_the_same(const Tensor& a, const Tensor&) { return t::mul(a, a) + t::mul(a, a); }
Tensor in_place_chain(const Tensor& a, const Tensor& b) {
    Tensor x = a.clone();
    x.add_(b).mul_(2).sub_(1);
    x += a;
    x *= b;
    return x;
}

struct Program {
    const char* name;
    Tensor (*function)(const Tensor&, const Tensor&);
};
#define PROGRAM(name) \
    { #name, name }
const Program kPrograms[] = {
    PROGRAM(view_of_sum),
    PROGRAM(write_through_view),
    PROGRAM(write_to_base),
    PROGRAM(write_to_argument),
    PROGRAM(two_views),
    PROGRAM(overwritten),
    PROGRAM(returned_view),
    PROGRAM(returned_argument),
    PROGRAM(expanded),
    PROGRAM(dead_code),
    PROGRAM(branch_taken),
    PROGRAM(branch_not_taken),
    PROGRAM(element_as_number),
    PROGRAM(element_at_the_end),
    PROGRAM(two_elements),
    PROGRAM(break_between_aliases),
    PROGRAM(while_on_data),

    PROGRAM(counted_loop),
    PROGRAM(calls_helper),
    PROGRAM(calls_recursive),
    PROGRAM(loop_over_parts),
    PROGRAM(caught_inside),
    PROGRAM(matrices),
    PROGRAM(types),
    PROGRAM(mixed_numbers),
    PROGRAM(reductions),
    PROGRAM(choose),
    PROGRAM(joined),
    PROGRAM(made_inside),
    PROGRAM(no_gradient),
    PROGRAM(twice_the_same),
    PROGRAM(in_place_chain),
};

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        for (const Program& program : kPrograms) std::puts(program.name);
        return 0;
    }
    std::vector<float> left(24), right(24);
    for (int i = 0; i < 24; ++i) {
        left[static_cast<std::size_t>(i)] = 0.25F * static_cast<float>(i % 7) - 0.6F;
        right[static_cast<std::size_t>(i)] = 0.5F * static_cast<float>(i % 5) - 0.9F;
    }
#ifdef WHITTLE
    const Tensor a = t::tensor(left, {4, 6}), b = t::tensor(right, {4, 6});
#else
    const Tensor a = t::from_blob(left.data(), {4, 6}), b = t::from_blob(right.data(), {4, 6});
#endif
    for (const Program& program : kPrograms)
        if (std::strcmp(program.name, argv[1]) == 0) {
            const Tensor result = program.function(a, b).contiguous();
            const float* data = result.data_ptr<float>();
            for (std::int64_t i = 0; i < result.numel(); ++i) std::printf("%.5f ", static_cast<double>(data[i]));
            std::printf("\n");
            return 0;
        }
    return 2;
}
