// register_op(): an operation of the program's own, with a schema that the debug backends hold it to.
#include <whittle/whittle.h>

#include <catch2/catch.hpp>

using namespace whittle;
using Catch::Contains;

namespace {

Tensor cubed(const Tensor& x, double by) {
    std::vector<float> values = x.contiguous().to_vector<float>();
    for (float& value : values) value = static_cast<float>(by) * value * value * value;
    return tensor(values, x.sizes());
}

Tensor cubed_backward(const Tensor& grad, const Tensor& x, double by) { return grad * x * x * (3 * by); }

auto cube(const std::string& name) { return register_op("my::" + name + "(Tensor x, float by=0.5) -> Tensor", cubed); }

/// What a call of a compiled function says that fails.
template <class F, class... Args>
std::string words(const F& f, const char* backend, const Args&... args) {
    try {
        compile(f, {.backend = backend})(args...);
    } catch (const std::exception& error) {
        return error.what();
    }
    return "";
}

constexpr const char* kCrossref = "aot_eager_decomp_partition_crossref";

}  // namespace

TEST_CASE("a declared op runs eagerly, with the defaults of its schema", "[register_op]") {
    const auto op = cube("cube");
    CHECK(op(full({2}, 2.F)).equal(full({2}, 4.F)));
    CHECK(op(full({2}, 2.F), 1).equal(full({2}, 8.F)));
    const auto named = register_op("my::named.two(Tensor x, *, int[] dims=[1], str how='up') -> Tensor",
                                   [](Tensor x, const std::vector<std::int64_t>& dims, const std::string& how) {
                                       return x * static_cast<double>(dims.at(0)) + static_cast<int>(how.size());
                                   });
    CHECK(named(ones({1})).item<float>() == 3);
    CHECK(named(ones({1}), {5}, "abc").item<float>() == 8);
    const auto parts = register_op("my::parts(Tensor x, Tensor? y, Tensor[] more, ScalarType t) -> (Tensor, Tensor)",
                                   [](Tensor x, OptionalTensor y, const TensorList& more, ScalarType t) {
                                       return std::make_tuple((y ? x + *y : x).to(t), stack(more).sum());
                                   });
    const auto [sum, all] = parts(ones({2}), ones({2}), {ones({2}), ones({2})}, kDouble);
    CHECK(sum.dtype() == kDouble);
    CHECK(all.item<float>() == 4);
    CHECK(std::get<0>(parts(ones({2}), None, {ones({1})}, kFloat)).equal(ones({2})));
}

TEST_CASE("a declared op is one node, and every backend compiles what is around it", "[register_op]") {
    const auto op = cube("cube");
    const auto f = [&](const Tensor& x) { return op(x + 1, 2.0) - 1; };
    for (const char* backend : {"eager", "eager_debug", "halide", "aot_eager", kCrossref}) {
        CAPTURE(backend);
        const auto compiled = compile(f, {.backend = backend, .fullgraph = true, .verify = true});
        CHECK(compiled(ones({3})).equal(full({3}, 15.F)));
        CHECK(compiled(full({3}, 2.F)).equal(full({3}, 53.F)));
        CHECK(compiled.stats().graphs == 1);
        CHECK(compiled.stats().ops == 3);
    }
}

TEST_CASE("what a declared op writes is written, in graphs too", "[register_op]") {
    const auto bump = register_op("my::bump_(Tensor(a!) x, Tensor y, float by=1) -> (Tensor(a!), Tensor)",
                                  [](Tensor& x, const Tensor& y, double by) {
                                      x.add_(y, by);
                                      return std::make_tuple(x, x.sum());
                                  });
    const auto only = register_op("my::zero_(Tensor(a!) x) -> ()", [](Tensor& x) { x.zero_(); });
    const auto f = [&](Tensor x, const Tensor& y) {
        const Tensor row = x[0];
        const auto [same, sum] = bump(row, y, 2.0);
        only(x[1]);
        return same + sum;
    };
    Tensor expected_x = ones({2, 2});
    const Tensor y = tensor({1.F, 2.F});
    const Tensor expected = f(expected_x, y);
    CHECK(expected.equal(tensor({11.F, 13.F})));
    CHECK(expected_x.equal(tensor(std::vector{3.F, 5.F, 0.F, 0.F}, {2, 2})));
    for (const char* backend : {"eager", "eager_debug", "halide", "aot_eager", kCrossref}) {
        CAPTURE(backend);
        const Tensor x = ones({2, 2});
        const auto compiled = compile(f, {.backend = backend, .fullgraph = true});
        CHECK(compiled(x, y).equal(expected));
        CHECK(x.equal(expected_x));
    }
}

TEST_CASE("register_autograd gives gradients, eagerly and compiled", "[register_op]") {
    const auto op = cube("cube_with_gradient").register_autograd(cubed_backward);
    const auto gradient = [&](const auto& f) {
        Tensor x = full({2, 1}, 2.F);
        x.requires_grad_();
        f(x).backward();
        return x.grad();
    };
    const auto loss = [&](const Tensor& x) { return (op(x + 0, 2.0) * 3).sum(); };
    const Tensor expected = full({2, 1}, 72.F);  // 3 * 2 * 3 x²
    CHECK(gradient(loss).equal(expected));
    for (const char* backend : {"eager", "halide", "aot_eager", kCrossref}) {
        CAPTURE(backend);
        CHECK(gradient(compile(loss, {.backend = backend, .verify = true})).equal(expected));
    }
    const auto several =
        register_op("my::several(Tensor x, Tensor? bias, int[] by) -> (Tensor, Tensor)",
                    [](Tensor x, OptionalTensor bias, std::vector<std::int64_t> by) {
                        return std::make_tuple(x * static_cast<double>(by.at(0)) + *bias, x * 2);
                    })
            .register_autograd([](Tensor one, Tensor two, Tensor, OptionalTensor, std::vector<std::int64_t> by) {
                return std::make_tuple(one * static_cast<double>(by.at(0)) + two * 2, Tensor());
            });
    Tensor x = ones({2}), bias = ones({2});
    x.requires_grad_();
    bias.requires_grad_();
    const auto [a, b] = several(x, bias, {5});
    (a + b * 10).sum().backward();
    CHECK(x.grad().equal(full({2}, 25.F)));
    CHECK(bias.grad().equal(zeros({2})));  // undefined stands for zeros
}

TEST_CASE("an op without a gradient says so", "[register_op]") {
    const auto op = cube("cube");
    Tensor x = ones({2});
    x.requires_grad_();
    CHECK_THROWS_WITH(op(x).sum().backward(), Contains("derivative for my.cube.default is not implemented"));
    // It is asked again when one was registered.
    const auto later = cube("cube_later");
    Tensor y = ones({2});
    y.requires_grad_();
    CHECK_THROWS_WITH(later(y).sum().backward(), Contains("is not implemented"));
    cube("cube_later").register_autograd(cubed_backward);
    later(y).sum().backward();
    CHECK(y.grad().equal(full({2}, 1.5F)));
    CHECK_THROWS_WITH(
        register_op("my::zero_(Tensor(a!) x) -> ()", [](Tensor& x) { x.zero_(); }).register_autograd([](Tensor x) {
            return x;
        }),
        Contains("an operation that writes"));
    CHECK_THROWS_WITH(cube("cube").register_autograd([](Tensor x) { return x; }),
                      Contains("of the type (Tensor) -> 1 tensor, expected (Tensor, Tensor, float) -> 1 tensor"));
    const auto wrong = cube("wrong_gradient").register_autograd([](Tensor grad, Tensor, double) { return grad.sum(); });
    CHECK_THROWS_WITH(wrong(y).sum().backward(), Contains("gradient 0 is f32[], expected f32[2]"));
}

TEST_CASE("eager_debug holds declared ops to what they write and share", "[register_op]") {
    const auto writes = register_op("my::writes(Tensor x, Tensor y) -> Tensor", [](Tensor x, Tensor y) {
        y.mul_(-1);
        return x + y;
    });
    const auto shares = register_op("my::shares(Tensor x) -> Tensor", [](Tensor x) { return x.t(); });
    const auto shares_written =
        register_op("my::shares_written_(Tensor(a!) x) -> Tensor", [](Tensor& x) { return x.add_(1); });
    const auto of = [](const auto& op, const auto&... args) {
        return words([&](const Tensor&) { return op(args...); }, "eager_debug", ones({1}));
    };
    CHECK_THAT(
        of(writes, ones({2}), ones({2})),
        Contains("my.writes.default wrote to the operand 'y', which the schema of the op does not declare as written"));
    CHECK_THAT(
        of(shares, ones({2, 2})),
        Contains(
            "result 0 of my.shares.default shares memory with the operand 'x', which the schema of the op does not"));
    CHECK_THAT(of(shares_written, ones({2})), Contains("found a result that shares memory with operand 'x'"));
    CHECK(of(cube("cube"), ones({2})).empty());
}

TEST_CASE("crossref holds what a fake says against what the op gives", "[register_op]") {
    const auto message = [](const auto& fake) {
        const auto op = cube("faked").register_fake(fake);
        return words([&](const Tensor& x) { return op(x); }, kCrossref, ones({2, 3}));
    };
    CHECK(message([](Tensor x, double) { return empty_like(x); }).empty());
    CHECK_THAT(message([](Tensor x, double) { return empty_like(x, kDouble); }),
               Contains("result 0 of my.faked.default is f32[2, 3], inferred is f64[2, 3]"));
    CHECK_THAT(message([](Tensor x, double) { return x.t(); }), Contains("is f32[2, 3], inferred is f32[3, 2]"));
    bool ran = false;
    const auto op = register_op("my::only_faked(Tensor x) -> Tensor", [&](Tensor x) {
                        return ran = true, x * 2;
                    }).register_fake([](Tensor x) { return empty_like(x); });
    const auto f = [&](const Tensor& x) {
        const Tensor y = op(x);
        CHECK_FALSE(ran);  // when it is recorded, the fake is asked
        return y;
    };
    CHECK(compile(f)(ones({1})).item<float>() == 2);
    CHECK(ran);
    CHECK_THROWS_WITH(cube("cube").register_fake([](Tensor x) { return x; }), Contains("expected (Tensor, float)"));
}

TEST_CASE("schemas that do not fit the function name the column", "[register_op]") {
    const auto same = [](Tensor x, double) { return x * 1; };
    const auto message = [&](const std::string& schema) -> std::string {
        try {
            register_op(schema, same);
        } catch (const std::exception& error) {
            return error.what();
        }
        return "";
    };
    CHECK(message("my::fits(Tensor x, float y) -> Tensor").empty());
    CHECK_THAT(message("my::f(Tensor x, flaot y) -> Tensor"),
               Contains("column 17: found 'flaot y) -> ', expected a type"));
    CHECK_THAT(message("f(Tensor x, float y) -> Tensor"), Contains("column 1: found 'f', expected NAMESPACE::NAME"));
    CHECK_THAT(message("my::f(Tensor x) -> Tensor"), Contains("column 7: found 1 parameter, expected 2"));
    CHECK_THAT(message("my::f(Tensor x, int y) -> Tensor"), Contains("column 17: found 'int y', expected float"));
    CHECK_THAT(message("my::f(Tensor x, float? y) -> Tensor"), Contains("column 17: found 'float? y', expected float"));
    CHECK_THAT(message("my::f(Tensor x, float y) -> (Tensor, Tensor)"),
               Contains("column 30: found 2 results, expected 1"));
    CHECK_THAT(message("my::f(Tensor x, float y) -> Tensor[]"), Contains("column 29: found a list of results"));
    CHECK_THAT(message("my::f(Tensor(a) x, float y) -> Tensor(a)"),
               Contains("column 32") && Contains("a view of a parameter"));
    CHECK_THAT(message("aten::f(Tensor x, float y) -> Tensor"), Contains("a namespace other than aten"));
    CHECK_THAT(message("my::fits(Tensor x, float z) -> Tensor"), Contains("expected fits.default(Tensor x, float y)"));
    CHECK_THROWS_WITH(register_op("my::f(Tensor x) -> ()", [](Tensor) {}),
                      Contains("no result and writes to no parameter"));
    CHECK_THROWS_WITH(register_op("my::f(Tensor(a!)[] x) -> ()", [](TensorList) {}),
                      Contains("column 7: found a parameter of type Tensor[] that the op writes to"));
    CHECK_THROWS_WITH(register_op("my::f(Tensor x, str y='\"') -> Tensor", [](Tensor x, std::string) { return x; }),
                      Contains("column 17"));
}
