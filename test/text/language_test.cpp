// Literals of each language, which its compiler or interpreter reads back.
#include "text/language.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "base/files.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "comma_locale.h"
#include "tensor/scalars.h"

using namespace whittle;

namespace {

/// The values that a text loses first.
std::vector<double> special(DType dtype) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    std::vector<double> values = {0.0, -0.0, 1.0, -1.5, 100000.0, 1e6, -1234567.0, kInfinity, -kInfinity, std::nan("")};
    if (dtype == DType::f64)
        values.insert(values.end(),
                      {0.1 + 0.2, 5e-324, 1e-4, std::numeric_limits<double>::max(), std::numeric_limits<float>::max()});
    else
        values.insert(values.end(), {0.1F, 1.4012985e-45F, 16777217.0F, std::numeric_limits<float>::max(),
                                     -std::numeric_limits<float>::max()});
    return values;
}

constexpr DType kIntegers[] = {DType::i64, DType::i32, DType::i16, DType::i8,
                               DType::u8,  DType::u16, DType::u32, DType::u64};

std::vector<Scalar> extremes(DType dtype) {
    return visit_dtype(dtype, []<class T>(T) -> std::vector<Scalar> {
        using Limits = std::numeric_limits<T>;
        if constexpr (!std::is_integral_v<T>)
            return {};
        else if constexpr (std::is_unsigned_v<T>)
            return {Scalar(std::uint64_t{Limits::max()}), Scalar(7), Scalar(std::uint64_t{Limits::max()} / 2 + 1)};
        else
            return {Scalar(std::int64_t{Limits::min()}), Scalar(std::int64_t{Limits::max()}), Scalar(-7)};
    });
}

/// "%a" of a number, which every language can print in some way: its bits as those of an f64.
std::string bits(double value) {
    if (std::isnan(value)) return "nan";
    std::uint64_t word = 0;
    std::memcpy(&word, &value, sizeof word);
    char text[32];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(word));
    return text;
}

std::string hex(const std::string& text) {
    return join(
        text,
        [](char c) {
            char digits[4];
            std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
            return std::string(digits);
        },
        "");
}

const std::string kTexts[] = {"plain",
                              "two 'kinds' of \"quotes\"",
                              "a\nline, and its end\n",
                              "back\\slash\\",
                              "tab\tand \x01"
                              "2 \r",
                              "%d ${x} {}",
                              "\xC3\xA4"};

/// A program in a language: what it prints line by line, and what is expected.
struct Lines {
    std::string code, expected;
    void add(const std::string& statement, const std::string& prints) {
        code += statement + "\n";
        expected += prints + "\n";
    }
};

/// All literals of a language in calls of NUMBER, SINGLE, INTEGER and TEXT.
Lines lines_of(const Language& language, const std::string& end) {
    Lines lines;
    const auto call = [&](const std::string& function, const std::string& literal) {
        return function + "(" + literal + ")" + end;
    };
    for (const double value : special(DType::f64)) lines.add(call("number", language.number(value)), bits(value));
    for (const double value : special(DType::f32))
        lines.add(call("single", language.number(value, DType::f32)),
                  bits(static_cast<double>(static_cast<float>(value))));
    for (const DType dtype : kIntegers)
        for (const Scalar& value : extremes(dtype))
            lines.add(call("integer", language.value(value, dtype)), value.integer_text());
    for (const bool value : {false, true}) lines.add(call("truth", language.boolean(value)), value ? "1" : "0");
    for (const std::string& text : kTexts) lines.add(call("text", language.quoted(text)), hex(text));
    return lines;
}

void check_output(const std::vector<std::string>& command, const Lines& lines) {
    const ProcessResult ran = run_process(command, {});
    INFO(ran.err);
    CHECK(ran.exit_code == 0);
    CHECK(ran.out == lines.expected);
}

}  // namespace

TEST_CASE("C++ reads its literals back", "[language]") {
    const TempDir folder("whittle-test");
    Lines all;
    for (const Language* language :
         {&language::cpp, &language::array_cpp, &language::short_cpp, &language::torch_cpp, &language::api_cpp}) {
        const Lines lines = lines_of(*language, ";");
        all.code += lines.code, all.expected += lines.expected;
    }
    for (const std::string& text : kTexts) all.add("text(" + language::cpp.quoted_lines(text) + ");", hex(text));
    const std::string comment =
        language::cpp.comment("it ends in a backslash\\\nfail();\n" + std::string(200, 'x') + " y\\");
    write_file(folder.path() / "literals.cpp",
               "#include <cmath>\n#include <cstdint>\n#include <cstdio>\n#include <cstring>\n#include <string>\n"
               "static void number(double v) {\n"
               "    unsigned long long word;\n    std::memcpy(&word, &v, sizeof v);\n"
               "    v != v ? std::printf(\"nan\\n\") : std::printf(\"%016llx\\n\", word);\n}\n"
               "static void single(float v) { number(v); }\n"
               "template <class T>\nstatic void integer(T v) { std::printf(\"%s\\n\", std::to_string(v).c_str()); }\n"
               "static void truth(bool v) { std::printf(\"%d\\n\", v); }\n"
               "static void text(const char* v) {\n"
               "    for (; *v; v++) std::printf(\"%02x\", (unsigned char)*v);\n    std::printf(\"\\n\");\n}\n"
               "int main() {\n" +
                   comment + all.code + "}\n");
    const std::string program = (folder.path() / "literals").string();
    const ProcessResult built =
        run_process({WHITTLE_CXX, "-std=c++17", "-Wall", "-Wextra", "-Werror", program + ".cpp", "-o", program}, {});
    INFO(built.err);
    REQUIRE(built.exit_code == 0);
    check_output({program}, all);
}

TEST_CASE("Python reads its literals back", "[language]") {
    const std::string helpers =
        "import struct\nclass np:\n    inf = float('inf')\n    nan = float('nan')\n"
        "def number(v): print('nan' if v != v else struct.pack('>d', v).hex())\n"
        "def single(v): number(v if v != v else struct.unpack('f', struct.pack('f', v))[0])\n"
        "integer = print\n"
        "def truth(v): print(int(v is True))\n"
        "def text(v): print(v.encode().hex())\n";
    for (const Language* language : {&language::python, &language::numpy, &language::plain_python}) {
        const Lines lines = lines_of(*language, "");
        check_output({"python3", "-c", helpers + language->comment("a comment\nfail()") + lines.code}, lines);
    }
}

TEST_CASE("JavaScript reads its literals back", "[language]") {
    if (run_process({"sh", "-c", "command -v node"}).exit_code != 0) {
        WARN("there is no node");
        return;
    }
    const TempDir folder("whittle-test");
    const std::string helpers =
        "const number = (v) => {\n  const bytes = Buffer.alloc(8);\n  bytes.writeDoubleBE(v);\n"
        "  console.log(Number.isNaN(v) ? 'nan' : bytes.toString('hex'));\n};\n"
        "const single = (v) => number(Math.fround(v));\n"
        "const integer = (v) => console.log(String(v));\n"
        "const truth = (v) => console.log(v === true ? '1' : '0');\n"
        "const text = (v) => console.log(Buffer.from(v).toString('hex'));\n";
    const Lines lines = lines_of(language::javascript, ";");
    const auto file = folder.path() / "literals.mjs";
    write_file(file, helpers + language::javascript.comment("a comment\nfail()") + lines.code);
    check_output({"node", file.string()}, lines);
}

TEST_CASE("elements of tensors as each language has them", "[language]") {
    const Tensor half = Tensor::of<float>({1.5, -0.0F}).to(DType::f16);
    CHECK(language::cpp.elements(half) == "half(1.5f), half(-0.0f)");
    CHECK(language::short_cpp.elements(half) == "float16_t(1.5f), float16_t(-0.0f)");
    CHECK(language::array_cpp.elements(half) == "0x3e00, 0x8000");
    CHECK(language::javascript.elements(half) == "0x3e00, 0x8000");
    CHECK(language::torch_cpp.elements(half) == "1.5, -0.0");
    CHECK(language::python.elements(half) == "1.5, -0.0");
    const Tensor complex = Tensor::of<Complex64>({{1, -0.0F}});
    CHECK(language::python.elements(complex) == "complex(1.0, -0.0)");
    CHECK(language::array_cpp.elements(complex) == "std::complex<float>(1.f, -0.f)");
    CHECK(language::array_cpp.elements(Tensor::of<float>({1, 0.1F})) == "1.f, 0.1f");
    CHECK(language::short_cpp.elements(Tensor::of<float>({1, 0.1F})) == "1, 0.1f");
    CHECK(language::javascript.elements(Tensor::of<std::int64_t>({-1, 2})) == "-1n, 2n");
    const Tensor six = Tensor::of<float>({0, 1, 2, 3, 4, 5});
    CHECK(language::numpy.nested(six.as_strided({2, 3}, {1, 2}, 0)) == "[[0, 2, 4], [1, 3, 5]]");
    CHECK(language::numpy.nested(six.as_strided({}, {}, 4)) == "4");
}

TEST_CASE("lists, data types, names and comments", "[language]") {
    const std::vector<std::string> one = {"a"}, two = {"a", "b"};
    CHECK(language::cpp.list(two) == "{a, b}");
    CHECK(language::python.list(two) == "[a, b]");
    CHECK(Language::tuple(one) == "(a,)");
    CHECK(Language::tuple({}) == "()");
    CHECK(language::python.sizes(Sizes{2}) == "(2,)");
    CHECK(language::python.sizes(Sizes{2, 3}) == "(2, 3)");
    CHECK(language::cpp.sizes(Sizes{}) == "{}");
    CHECK(language::javascript.sizes(Sizes{2, 3}) == "[2, 3]");

    CHECK(language::cpp.type(DType::bf16) == "bfloat");
    CHECK(language::short_cpp.type(DType::bf16) == "bfloat16_t");
    CHECK(language::torch_cpp.type(DType::boolean) == "torch::kBool");
    CHECK(language::api_cpp.type(DType::i64) == "kLong");
    CHECK(language::python.type(DType::c64) == "torch.complex64");
    CHECK_THROWS(language::python.type(DType::f8_e5m2));
    CHECK(language::numpy.type(DType::boolean) == "np.bool_");
    CHECK(language::javascript.type(DType::u64) == "BigUint64Array");

    CHECK(language::python.variable("lambda") == "lambda_");
    CHECK(language::cpp.variable("lambda") == "lambda");
    CHECK(language::cpp.variable("xor") == "xor_");
    CHECK(language::cpp.variable("expected", "expected") == "expected_");

    UniqueNames names;
    CHECK(names.unique("x") == "x");
    CHECK(names.unique("x") == "x_1");
    CHECK(names.unique("x") == "x_2");

    CHECK(language::cpp.comment("two words") == "// two words\n");
    CHECK(language::python.comment("") == "#\n");
    CHECK(language::cpp.comment(std::string(100, 'a') + " " + std::string(100, 'b')) ==
          "// " + std::string(100, 'a') + "\n// " + std::string(100, 'b') + "\n");
    CHECK(Language::remark("a\nb \\ ") == "a b");
    CHECK(language_of("run.py").mark() == "#");
    CHECK(language_of("repro.cpp").mark() == "//");
}

TEST_CASE("program text has no decimal comma, whatever the locale", "[language][process]") {
    test::check_in_comma_locale(
        [] { return language::cpp.number(0.5, DType::f32) == "0.5f" && language::python.number(0.5) == "0.5"; });
}
