#include "backends/halide/abilities.h"

#include <algorithm>
#include <cmath>

#include "backends/halide/build_info.h"
#include "backends/halide/plain_text.h"
#include "base/program_text.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "printers/short_program.h"
#include "tensor/scalars.h"
#include "text/language.h"

namespace whittle::halide {
namespace {

using language::short_cpp;

class HalideProgram {
  public:
    HalideProgram(const program::KernelRequest& request, const PlainText& text)
        : request_(request),
          failure_(request.failure),
          text_(text),
          output_(*request.kernel.group.stage(request.kernel.group.outputs[0])),
          expected_(scalars_of(request.expected)),
          flags_(compile_flags()) {}

    ReproProgram write() {
        const std::string& kind = failure_.signature.kind;
        if (kind == "mismatch") compare();
        if (kind == "exception") caught();
        if (const std::string ends = ends_by_failure(failure_.signature, request_.alarm); !ends.empty())
            before_ = ends + "\n";
        const bool culprit = !text_.culprit.empty();  // who computes functions is no word of a schedule
        if (culprit) before_ = "    const bool with_directive = argc == 1;\n\n" + before_;
        values_["ARGUMENTS"] = culprit ? "int argc, char **" : "";
        values_["HEADER"] = header();
        values_["BUILD"] = build_line(request_.file, flags_);
        values_["HELPERS"] = text_.helpers;
        values_["BEFORE"] = before_;
        values_["STATEMENTS"] = text_.statements;
        values_["REALIZE"] = realize_.empty() ? "    " + text_.realize + ";\n" : realize_;
        for (const char* key : {"TRY", "CATCH", "COMPARE"}) values_.try_emplace(key, "");
        values_["INCLUDES"] = standard_includes(values_["BEFORE"] + values_["STATEMENTS"] + values_["COMPARE"]);
        return {.text = fill_template("repro_halide.cpp", values_),
                .summary = what(),
                .compiler = names_target() ? description() : host_description(),
                .compile_flags = flags_,
                .control_argument = culprit ? text_.culprit + " switched off" : "",
                .expected = right(),
                .tracker = "halide"};
    }

  private:
    // ---- what the program does --------------------------------------------------------------------------------------

    /// Whether `got` is wrong: an expression over two names.
    std::string wrong(const std::string& got, const std::string& expected) const {
        const std::string value = is_reduced(output_.dtype) ? "float(" + got + ")" : got;
        std::vector<double> values;
        for (const Scalar& one : expected_) values.push_back(one.to_double());
        const bool exact = request_.exact || !is_floating(output_.dtype);
        return differs_in_cpp(values, exact ? 0 : tolerance(), value, expected);
    }

    double tolerance() const {
        double largest = 0;
        for (const Scalar& value : expected_)
            if (is_finite(value)) largest = std::max(largest, std::fabs(value.to_double()));
        const Tolerance own = failure_.accuracy.tolerance(output_.dtype);
        return own.atol + own.rtol * largest;
    }

    std::string expected_type() const { return is_reduced(output_.dtype) ? "float" : text_.type; }
    std::string expected_literal(const Scalar& value) const { return short_cpp.value(value, expected_dtype()); }
    DType expected_dtype() const { return is_reduced(output_.dtype) ? DType::f32 : output_.dtype; }

    static bool is_nan(const Scalar& value) { return std::isnan(value.to_double()); }
    static bool is_finite(const Scalar& value) { return std::isfinite(value.to_double()); }
    bool any(bool (*is)(const Scalar&)) const { return std::ranges::any_of(expected_, is); }

    void compare() {
        realize_ = "    Buffer<" + text_.type + "> out = " + text_.realize + ";\n";
        if (expected_.size() == 1) {
            const std::string at = join(Sizes(output_.vars.size(), 0));
            const auto [format, got] = printed_element(output_.dtype, "out(" + at + ")");
            const std::string expected = expected_literal(expected_[0]);
            if (request_.given_expected)
                realize_ += "    out(" + at + ") = " + short_cpp.value(expected_[0], output_.dtype) + ";\n";
            values_["COMPARE"] = "    if (" + wrong("out(" + at + ")", expected) + ") {\n        printf(\"" +
                                 text_.func + "(" + at + ") = " + format + ", expected " + short_number(expected_[0]) +
                                 "\\n\", " + got + ");\n        return 1;\n    }\n";
            return;
        }
        const bool alike = all_alike(request_.expected) && !any(is_nan);
        const std::string literals = join(expected_, [&](const Scalar& value) { return expected_literal(value); });
        const std::string expected = alike ? expected_literal(expected_[0]) : "expected[i]";
        const auto [format, got] = printed_element(output_.dtype, "out.data()[i]");
        const auto [same_format, right] = printed_element(expected_dtype(), "expected[i]");
        const std::string count = std::to_string(expected_.size());
        const std::string given =
            "    for (int i = 0; i < " + count + "; i++) out.data()[i] = " + text_.type + "(" + expected + ");\n";
        values_["COMPARE"] = (alike ? "" : "    const " + expected_type() + " expected[] = {" + literals + "};\n") +
                             (request_.given_expected ? given : "") + "    for (int i = 0; i < " + count +
                             "; i++)\n        if (" + wrong("out.data()[i]", expected) +
                             ") {\n            printf(\"element %d: " + format + ", expected " +
                             (alike ? short_number(expected_[0]) : same_format) + "\\n\", i, " + got +
                             (alike ? "" : ", " + right) + ");\n            return 1;\n        }\n";
    }

    void caught() {
        values_["TRY"] = " try";
        values_["CATCH"] = " catch (const Error &e) {\n    printf(\"%s\\n\", e.what());\n    return 1;\n}";
    }

    // ---- what it says -----------------------------------------------------------------------------------------------

    bool names_target() const { return (text_.statements + text_.realize).find("Target(") != std::string::npos; }

    /// The first element that is wrong, and what it is.
    std::optional<std::pair<std::size_t, Scalar>> first_wrong() const {
        const bool values = failure_.signature.kind == "mismatch" && request_.got;
        const std::vector<Scalar> got = values ? scalars_of(*request_.got) : std::vector<Scalar>();
        for (std::size_t i = 0; i < got.size(); i++)
            if (differs(got[i], expected_[i])) return std::pair(i, got[i]);
        return std::nullopt;
    }

    /// "f(0) is 1".
    std::string right() const {
        const auto wrong = first_wrong();
        return wrong ? element(wrong->first) + " is " + short_number(expected_[wrong->first]) : "";
    }

    /// What is wrong, in one line.
    std::string what() const {
        const std::string& kind = failure_.signature.kind;
        const std::string with = text_.culprit.empty() ? "" : ", with " + text_.culprit;
        if (const auto wrong = first_wrong())
            return defined() + element(wrong->first) + " is " + short_number(wrong->second) + ", expected " +
                   short_number(expected_[wrong->first]) + with + ".";
        if (kind == "mismatch") return defined() + "values are wrong" + with + ".";
        const std::string when = failure_.signature.stage == "run" ? "running" : "compiling";
        if (kind == "crash") return defined() + failure_.signature.detail + " while " + when + with + ".";
        if (kind == "timeout")
            return defined() + when + " takes more than " + std::to_string(request_.alarm) + " s" + with + ".";
        std::string message = request_.message;
        std::replace(message.begin(), message.end(), '\n', ' ');
        return defined() + when + " fails" + with + ": " + message;
    }

    /// "f(x) = exp(in(x)): ".
    std::string defined() const { return text_.definition.empty() ? "" : text_.definition + ": "; }

    bool differs(const Scalar& seen, const Scalar& right) const {
        if (!is_floating(output_.dtype)) return seen != right;
        const double got = seen.to_double(), expected = right.to_double();
        if (std::isnan(got) || std::isnan(expected)) return std::isnan(got) != std::isnan(expected);
        if (std::isinf(got) || std::isinf(expected)) return got != expected;
        return request_.exact ? got != expected : std::fabs(got - expected) > tolerance();
    }

    /// "f(1, 0)", in Halide's order.
    std::string element(std::size_t index) const {
        std::string at;
        for (std::size_t d = output_.vars.size(); d-- > 0;) {
            const auto extent = static_cast<std::size_t>(output_.vars[d].extent);
            at += (at.empty() ? "" : ", ") + std::to_string(index % extent);
            index /= extent;
        }
        return text_.func + "(" + at + ")";
    }

    std::string header() const {
        std::string text = short_cpp.comment(version() + ": " + what());
        std::string facts;
        if (!text_.culprit.empty()) facts += "Without this directive (" + program() + " control), the result is right.";
        if (races())
            facts +=
                " This is not a bug in Halide: the schedule allows races between updates (allow_race_conditions()), so "
                "some updates are lost.";
        text += "//\n";
        if (!facts.empty()) text += short_cpp.comment(facts);
        if (failure_.signature.kind == "exception")
            text += short_cpp.comment("To see where the program throws: gdb -ex 'catch throw' -ex run " + program());
        if (failure_.signature.kind == "timeout")
            text +=
                short_cpp.comment("To see where the program hangs: gdb -ex 'handle SIGALRM stop' -ex run " + program());
        while (text.ends_with('\n') || text.ends_with("//")) text.erase(text.find_last_not_of("\n/") + 1);
        return text;
    }

    bool races() const {
        return std::ranges::any_of(request_.kernel.schedule, [](const expr::Directive& directive) {
            return directive.kind == expr::Directive::Kind::allow_race;
        });
    }

    std::string program() const { return shell_quote({"./" + request_.file.stem().string()}); }

    const program::KernelRequest& request_;
    const Failure& failure_;
    const PlainText& text_;
    const expr::Stage& output_;
    const std::vector<Scalar> expected_;
    const std::vector<std::string> flags_;
    std::string before_, realize_;
    std::map<std::string, std::string> values_;
};

}  // namespace

std::optional<ReproProgram> short_program_of(const program::KernelRequest& request) {
    if (request.failure.signature.kind == "mismatch" && request.expected.numel() > kMostInPlace) return std::nullopt;
    const std::optional<PlainText> text = plain_text(request.kernel);
    return text ? std::optional(HalideProgram(request, *text).write()) : std::nullopt;
}

}  // namespace whittle::halide
