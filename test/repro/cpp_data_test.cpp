// Tensors as C++ text.
#include <catch2/catch.hpp>
#include <cstring>
#include <limits>
#include <set>

#include "base/files.h"
#include "base/program_text.h"
#include "expr/loops.h"
#include "repro/cpp_data.h"
#include "repro/failing.h"
#include "tensor/complex.h"

using namespace whittle;
using namespace whittle::repro;

namespace {

namespace fs = std::filesystem;

/// The values that text loses first, as far as the dtype has them.
Tensor special(DType dtype) {
    if (is_complex(dtype)) {
        const Tensor parts = special(real_of(dtype));
        return as_complex(parts.as_strided({parts.numel() / 2, 2}, {2, 1}, 0));
    }
    if (!is_floating(dtype))
        return visit_dtype(dtype, []<class T>(T) {
            std::vector<T> values;
            if constexpr (std::is_integral_v<T>)
                values = {T(0), T(1), std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
            Tensor tensor(dtype_of<T>, {static_cast<std::int64_t>(values.size())});
            for (std::size_t i = 0; i < values.size(); i++) tensor.mutable_data<T>()[i] = values[i];
            return tensor;
        });
    constexpr double inf = std::numeric_limits<double>::infinity();
    std::vector<double> values = {0.0, -0.0, 1.0 / 3, -1.5, inf, -inf, std::numeric_limits<double>::quiet_NaN(), 1e-7};
    if (dtype == DType::f64) values.insert(values.end(), {5e-324, std::numeric_limits<double>::max(), 0.1 + 0.2});
    if (dtype == DType::f32) values.insert(values.end(), {1.401298464324817e-45, 3.4028234663852886e38, 16777217.0});
    return Tensor::of(values, {static_cast<std::int64_t>(values.size())}).to(dtype);
}

std::string hex_of(const Tensor& tensor) {
    std::string text;
    const Tensor contiguous = tensor.contiguous();
    for (const std::byte byte : contiguous.contiguous_bytes()) {
        char digits[4];
        std::snprintf(digits, sizeof digits, "%02x", std::to_integer<unsigned>(byte));
        text += digits;
    }
    return text;
}

/// A program with the definitions that prints the bytes of each tensor's memory, one line each.
class Printer {
  public:
    explicit Printer(const fs::path& folder) : folder_(folder), writer_("data") {}

    void add(const std::string& name, const Tensor& tensor, const std::string& definition) {
        definitions_ += definition;
        const auto bytes = tensor.numel() * static_cast<std::int64_t>(size_of(tensor.dtype()));
        prints_ += "    print(" + name + ", " + std::to_string(bytes) + ");\n";
        expected_ += hex_of(tensor) + "\n";
    }
    DataWriter& writer() { return writer_; }
    const std::string& definitions() const { return definitions_; }
    const std::string& expected() const { return expected_; }

    std::string run() const {
        std::string text =
            "#include <algorithm>\n#include <cmath>\n#include <complex>\n#include <cstdint>\n#include "
            "<cstdio>\n#include <cstdlib>\n"
            "#include <cstring>\n#include <string>\n#include <type_traits>\n";
        for (const DType dtype : kAllDTypes)
            if (is_reduced(dtype)) text += expr::half_support_cpp(dtype);
        text += fill_template("repro_sidecar.cpp", {}) + fill_template("repro_values.cpp", {}) + definitions_ +
                "static void print(const void* data, long count) {\n"
                "    for (long i = 0; i < count; i++) std::printf(\"%02x\", ((const unsigned char*)data)[i]);\n"
                "    std::printf(\"\\n\");\n}\nint main() {\n" +
                prints_ + "}\n";
        write_file(folder_ / "repro.cpp", text);
        for (const ReproProgram::File& file : writer_.sidecars()) write_file(folder_ / file.name, file.text);
        const ProcessResult built = build(folder_, {}, {"-Wall", "-Wextra", "-Werror"});
        INFO(built.err);
        REQUIRE(built.exit_code == 0);
        const ProcessResult ran = run_process({"./repro"}, {.folder = folder_});
        INFO(ran.err);
        CHECK(ran.exit_code == 0);
        return ran.out;
    }

  private:
    fs::path folder_;
    DataWriter writer_;
    std::string definitions_, prints_, expected_;
};

}  // namespace

TEST_CASE("a program has the bits of tensors of every dtype, in every form") {
    const TempDir folder("whittle-test");
    Printer printer(folder.path());
    for (const DType dtype : kAllDTypes) {
        const std::string name = "x_" + std::string(whittle::name(dtype));
        const Tensor values = special(dtype);
        printer.add(name, values, printer.writer().define(name, values));
        const Tensor alike = values.as_strided({20}, {0}, 2).clone();
        printer.add(name + "_alike", alike, printer.writer().define(name + "_alike", alike));
        const Tensor drawn = made_up(values, Data::random, 7);
        printer.add(name + "_drawn", drawn, printer.writer().define_random(name + "_drawn", values, 7));
    }
    const Tensor large = made_up(Tensor(DType::f16, {5000}), Data::random, 3);
    printer.add("large", large, printer.writer().define("large", large));
    CHECK(printer.writer().sidecars().size() == 1);
    CHECK(printer.run() == printer.expected());
}

TEST_CASE("data: the text of an array says what it holds") {
    DataWriter writer("stem");
    CHECK(writer.define("x", Tensor::of<float>({1, -0.0f, 0.1f})) ==
          "static const float x[] = {1.f, -0.f, 0.1f};  // f32[3]\n");
    CHECK(writer.define("h", Tensor::of<float>({1, 2}).to(DType::f16)) ==
          "static const uint16_t h_data[] = {0x3c00, 0x4000};\n"
          "static const half* const h = reinterpret_cast<const half*>(h_data);  // f16[2]\n");
    CHECK(writer.define("none", Tensor(DType::i64, {0, 3})) == "static const int64_t none[] = {0};  // i64[0, 3]\n");
    CHECK_FALSE(writer.made_up());
    CHECK(writer.define("ones", Tensor::of(std::vector<float>(16, 1.f), {4, 4})) ==
          "static const float* const ones = filled<float>(16, 1.f);  // f32[4, 4]\n");
    CHECK(writer.made_up());
}

TEST_CASE("data: memory keeps its strides, from its lowest address on") {
    DataWriter writer("stem");
    const Tensor six = Tensor::of<float>({0, 1, 2, 3, 4, 5});
    CHECK(writer.define("t", six.as_strided({2, 2}, {1, 2}, 1)) ==
          "static const float t[] = {1.f, 2.f, 3.f, 4.f};  // f32[2, 2] strides [1, 2]\n");
    CHECK(writer.define("back", six.as_strided({3}, {-2}, 5)) ==
          "static const float back_data[] = {1.f, 2.f, 3.f, 4.f, 5.f};\n"
          "static const float* const back = back_data + 4;  // f32[3] strides [-2]\n");
}

TEST_CASE("data: a large tensor is a file named by its content") {
    DataWriter writer("stem");
    const Tensor large = made_up(Tensor(DType::f32, {4097}), Data::random, 0);
    const std::string text = writer.define("x", large);
    REQUIRE(writer.sidecars().size() == 1);
    const ReproProgram::File& sidecar = writer.sidecars().front();
    CHECK(sidecar.name.starts_with("stem."));
    CHECK(sidecar.name.ends_with(".bin"));
    CHECK(sidecar.text.size() == 4 * 4097);
    CHECK(text == "static const float* const x = sidecar<float>(\"" + sidecar.name + "\", 4097, 0x" +
                      sidecar.name.substr(5, 16) + "ull);  // f32[4097]\n");
    DataWriter inside("stem");
    CHECK(
        inside.define("x", made_up(Tensor(DType::f32, {4096}), Data::random, 0)).starts_with("static const float x["));
    CHECK(inside.sidecars().empty());
}

TEST_CASE("data: made-up values are few, exact in every float, and follow from the seed") {
    const Tensor shape(DType::bf16, {100});
    for (const float value : made_up(shape, Data::random, 5).values<float>()) {
        CHECK(value * 64 == static_cast<float>(static_cast<int>(value * 64)));
        CHECK(value >= -2);
        CHECK(value < 2);
    }
    std::set<float> inputs, parameters;
    for (const float value : made_up(shape, Data::small, 5).values<float>()) inputs.insert(value);
    for (const float value : made_up(shape, Data::small, 5, Role::parameter).values<float>()) parameters.insert(value);
    CHECK(inputs == std::set<float>{-4, -3, -2, -1, 1, 2, 3, 4});
    CHECK(parameters == std::set<float>{1, 2, 3, 4});
    CHECK(same_bits(made_up(shape, Data::random, 5), made_up(shape, Data::random, 5)));
    CHECK_FALSE(same_bits(made_up(shape, Data::random, 5), made_up(shape, Data::random, 6)));
    CHECK(made_up(Tensor(DType::i8, {2}), Data::ones, 0).values<std::int64_t>() == std::vector<std::int64_t>{1, 1});
    const Tensor real = Tensor::of<float>({3, 4});
    CHECK(made_up(real, Data::real, 1).raw() == real.raw());
    CHECK(data_called("zeros") == Data::zeros);
    CHECK_FALSE(data_called("Zeros"));
}
