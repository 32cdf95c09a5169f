#include "expr/loops.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "expr/batch.h"
#include "expr/builder.h"
#include "expr/interpret.h"
#include "expr/random/random_group.h"

using namespace whittle;
using namespace whittle::expr;

namespace {

/// The loops of all groups, f0 f1 …, compiled as a user would.
void compile(Batch& batch, const std::vector<Group>& groups) {
    std::vector<const Group*> pointers;
    for (const Group& group : groups) pointers.push_back(&group);
    batch.add_text(support_cpp(pointers));
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const std::string name = "f" + std::to_string(i);
        batch.add(groups[i], name, to_loops_cpp(groups[i], name));
    }
    batch.compile({"-O1"});
}

}  // namespace

TEST_CASE("loops read like the computation") {
    GroupBuilder b("softmax");
    const Value x = b.input("x", DType::f32, {2, 3}, {1, 2});
    b.set_origin("sum", "%sum = aten.sum.dim_IntList(%x, [1])");
    const Value sum = b.reduce(
        DType::f32, {2}, {3}, [](const Index&) { return constant(DType::f32, 0); },
        [&](const Index& at, const Index& r, Expr self) {
            return self + unary(Op::exp, x({at[0], r[0]}));
        });
    b.set_origin("div", "%div = aten.div.Tensor(%x, %sum)");
    b.output(Value(DType::f32, {2, 3}, [&](const Index& at) {
        const Expr e = unary(Op::exp, x(at)) / sum({at[0]});
        return select(e < constant(DType::f32, 0.1), constant(DType::f32, -INFINITY), e);
    }));
    Group group = b.finish();
    group.inputs.push_back({.name = "unused"});
    CHECK(to_loops_cpp(group, "loops") ==
          "static void loops(const float* x, const float* unused, float* div) {\n"
          "    (void)unused;\n"
          "    // %sum = aten.sum.dim_IntList(%x, [1])\n"
          "    std::vector<float> sum(2);\n"
          "    for (int i = 0; i < 2; i++)\n"
          "        sum[i] = 0.0f;\n"
          "    for (int i = 0; i < 2; i++)\n"
          "        for (int r0 = 0; r0 < 3; r0++)\n"
          "            sum[i] += std::exp(x[i + r0 * 2]);\n"
          "    // %div = aten.div.Tensor(%x, %sum)\n"
          "    for (int i = 0; i < 2; i++)\n"
          "        for (int j = 0; j < 3; j++) {\n"
          "            const float t0 = std::exp(x[i + j * 2]) / sum[i];\n"
          "            div[i * 3 + j] = t0 < 0.1f ? -INFINITY : t0;\n"
          "        }\n"
          "}\n");
}

TEST_CASE("loops have helpers only for what they use") {
    const auto group = [](DType dtype, auto element) {
        GroupBuilder b;
        const Value x = b.input("x", dtype, {4}, {1});
        b.output(Value(dtype, {4}, [&](const Index& at) { return element(x(at), at[0]); }));
        return b.finish();
    };
    const Group plain = group(DType::f32, [](Expr x, Expr) { return x + x; });
    CHECK(support_cpp({&plain}).empty());
    const Group indices =
        group(DType::i32, [](Expr, Expr i) { return (i * index(7) + index(3)) / index(2) % index(3); });
    CHECK(support_cpp({&indices}).empty());
    CHECK(to_loops_cpp(indices, "f").find("(i * 7 + 3) / 2 % 3") != std::string::npos);
    const Group wraps = group(DType::i32, [](Expr x, Expr i) { return x + i; });
    CHECK(to_loops_cpp(wraps, "f").find("wrap_add<int>(x[i], i)") != std::string::npos);
    CHECK(support_cpp({&plain, &wraps}).find("wrap_add") != std::string::npos);
    CHECK(support_cpp({&wraps}).find("half") == std::string::npos);
    const Group half = group(DType::f16, [](Expr x, Expr) { return x; });
    CHECK(support_cpp({&half}).find("struct half") != std::string::npos);
}

TEST_CASE("half types of the loops convert as the tensors do") {
    std::vector<Group> groups;
    for (const DType half : {DType::f16, DType::bf16}) {
        GroupBuilder b;
        const Value h = b.input("h", half, {65536}, {1}), f = b.input("f", DType::f32, {65536}, {1});
        b.output(Value(DType::f32, {65536}, [&](const Index& at) { return cast(DType::f32, h(at)); }));
        b.output(Value(half, {65536}, [&](const Index& at) { return cast(half, f(at)); }));
        groups.push_back(b.finish());
    }
    Batch batch;
    compile(batch, groups);
    std::string error;
    Random random(1);
    for (std::size_t i = 0; i < groups.size(); ++i) {
        Tensor h(groups[i].inputs[0].dtype, {65536}), f(DType::f32, {65536});
        for (int bits = 0; bits < 65536; ++bits) {
            static_cast<std::uint16_t*>(h.mutable_raw())[bits] = static_cast<std::uint16_t>(bits);
            // Patterns at and next to the ties of both types, over all exponents.
            const auto noise = static_cast<std::uint32_t>(random.next());
            const std::uint32_t ties[] = {0x1000, 0x8000, 0x0fff,         0x7fff,
                                          0x1001, 0x8001, noise & 0xffff, noise & 0x3fff};
            static_cast<std::uint32_t*>(f.mutable_raw())[bits] =
                (static_cast<std::uint32_t>(bits) << 16 & ~(noise & 0x2000)) | ties[noise >> 29];
        }
        const std::vector<Tensor> inputs = {h, f};
        const std::vector<Tensor> expected = interpret(groups[i], inputs),
                                  got = batch.run("f" + std::to_string(i), groups[i], inputs, error);
        CHECK(difference(got[0], expected[0]) == "");
        CHECK(difference(got[1], expected[1]) == "");
    }
}

TEST_CASE("loops agree with the interpreter on random groups") {
    Random random(20240601);
    std::vector<Group> groups;
    for (int i = 0; i < 200; ++i) groups.push_back(random_group(random, {.empty = i % 4 == 0}));
    Batch batch;
    compile(batch, groups);
    std::string error;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const std::vector<Tensor> inputs = random_inputs(groups[i], random);
        const std::vector<Tensor> expected = interpret(groups[i], inputs),
                                  got = batch.run("f" + std::to_string(i), groups[i], inputs, error);
        INFO(print(groups[i]) << to_loops_cpp(groups[i], "f"));
        for (std::size_t k = 0; k < expected.size(); ++k) {
            INFO("output " << groups[i].outputs[k]);
            CHECK(difference(got[k], expected[k]) == "");
        }
    }
}
