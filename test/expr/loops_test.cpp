#include "expr/loops.h"

#include <dlfcn.h>

#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/subprocess.h"
#include "expr/builder.h"
#include "expr/interpret.h"
#include "expr/random_group.h"

using namespace whittle;
using namespace whittle::expr;

namespace {

/// A function that calls `name` with its pointers taken from arrays.
std::string wrapper(const Group& group, const std::string& name) {
    std::string args;
    for (std::size_t i = 0; i < group.inputs.size(); ++i)
        args += (args.empty() ? "" : ", ") +
                ("static_cast<const " + cpp_type(group.inputs[i].dtype) + "*>(in[" + std::to_string(i) + "])");
    for (std::size_t i = 0; i < group.outputs.size(); ++i)
        args += (args.empty() ? "" : ", ") + ("static_cast<" + cpp_type(group.stage(group.outputs[i])->dtype) +
                                              "*>(out[" + std::to_string(i) + "])");
    return "extern \"C\" void run_" + name + "(const void* const* in, void* const* out) {\n    " + name + "(" + args +
           ");\n    (void)in;\n    (void)out;\n}\n";
}

/// The loops of many groups in one shared library, compiled as a user would, with warnings as errors.
class Library {
  public:
    explicit Library(const std::vector<Group>& groups) {
        std::vector<const Group*> pointers;
        for (const Group& group : groups) pointers.push_back(&group);
        std::string text = std::string(kLoopsIncludes) + "\n" + support_cpp(pointers);
        for (std::size_t i = 0; i < groups.size(); ++i) {
            const std::string name = "f" + std::to_string(i);
            text += "\n" + to_loops_cpp(groups[i], name) + wrapper(groups[i], name);
        }
        const auto source = folder_.path() / "loops.cpp", library = folder_.path() / "loops.so";
        write_file(source, text);
        const ProcessResult result = run_process({WHITTLE_CXX, "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror",
                                                  "-shared", "-fPIC", source.string(), "-o", library.string()});
        INFO(result.err);
        REQUIRE(result.exit_code == 0);
        handle_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
        REQUIRE(handle_);
    }
    ~Library() {
        if (handle_) dlclose(handle_);
    }

    std::vector<Tensor> run(std::size_t i, const Group& group, const std::vector<Tensor>& inputs) const {
        std::vector<const void*> in;
        std::vector<Tensor> results;
        std::vector<void*> out;
        for (const Tensor& t : inputs) in.push_back(t.raw());
        for (const std::string& name : group.outputs)
            results.emplace_back(group.stage(name)->dtype, group.stage(name)->sizes());
        for (Tensor& t : results) out.push_back(t.mutable_raw());
        using Run = void(const void* const*, void* const*);
        auto* function = reinterpret_cast<Run*>(dlsym(handle_, ("run_f" + std::to_string(i)).c_str()));
        REQUIRE(function);
        function(in.data(), out.data());
        return results;
    }

  private:
    TempDir folder_;
    void* handle_ = nullptr;
};

/// Equal bits, except that any NaN equals any other.
bool same_values(const Tensor& a, const Tensor& b) {
    if (a.dtype() != b.dtype() || a.sizes() != b.sizes()) return false;
    if (!is_floating(a.dtype())) return same_bits(a, b);
    const std::vector<double> x = a.values<double>(), y = b.values<double>();
    for (std::size_t i = 0; i < x.size(); ++i)
        if (!(x[i] == y[i] && std::signbit(x[i]) == std::signbit(y[i])) && !(std::isnan(x[i]) && std::isnan(y[i])))
            return false;
    return true;
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

TEST_CASE("half types of the loops convert as Eigen's") {
    std::vector<Group> groups;
    for (const DType half : {DType::f16, DType::bf16}) {
        GroupBuilder b;
        const Value h = b.input("h", half, {65536}, {1}), f = b.input("f", DType::f32, {65536}, {1});
        b.output(Value(DType::f32, {65536}, [&](const Index& at) { return cast(DType::f32, h(at)); }));
        b.output(Value(half, {65536}, [&](const Index& at) { return cast(half, f(at)); }));
        groups.push_back(b.finish());
    }
    const Library library(groups);
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
        const std::vector<Tensor> expected = interpret(groups[i], inputs), got = library.run(i, groups[i], inputs);
        CHECK(same_values(got[0], expected[0]));
        CHECK(same_values(got[1], expected[1]));
    }
}

TEST_CASE("loops agree with the interpreter on random groups") {
    Random random(20240601);
    std::vector<Group> groups;
    for (int i = 0; i < 200; ++i) groups.push_back(random_group(random, {.empty = i % 4 == 0}));
    const Library library(groups);
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const std::vector<Tensor> inputs = random_inputs(groups[i], random);
        const std::vector<Tensor> expected = interpret(groups[i], inputs), got = library.run(i, groups[i], inputs);
        INFO(print(groups[i]) << to_loops_cpp(groups[i], "f"));
        for (std::size_t k = 0; k < expected.size(); ++k) {
            INFO("output " << groups[i].outputs[k]);
            CHECK(same_values(got[k], expected[k]));
        }
    }
}
