#include "repro/schedule/program_text.h"

#include "backends/halide/build_info.h"
#include "base/number_text.h"
#include "base/program_text.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "printers/short_program.h"
#include "repro/schedule/expressions.h"
#include "tensor/dtype.h"
#include "text/language.h"

namespace whittle::repro {

using language::short_cpp;

namespace {

std::string run_function(const PipelineCode& code) {
    return "static " + code.result + " run(bool scheduled, bool with_culprit) {\n" + code.inputs + code.algorithm +
           "\n" + code.schedule + code.realize + "}\n";
}

Tolerance tolerance_of(const std::string& type, const Accuracy& accuracy) {
    if (!is_float(type)) return {.rtol = 0, .atol = 0};
    return accuracy.tolerance(type == "float64"    ? DType::f64
                              : type == "float16"  ? DType::f16
                              : type == "bfloat16" ? DType::bf16
                                                   : DType::f32);
}

/// Statements that end with a condition: the element of `got` is not that of `expected`.
std::string differs(const std::string& type, const Accuracy& accuracy, const std::string& got,
                    const std::string& expected) {
    const Tolerance tolerance = tolerance_of(type, accuracy);
    if (tolerance.rtol == 0 && tolerance.atol == 0)
        return "        if (" + got + "(at) != " + expected + "(at) && wrong++ == 0)\n";
    return "        const double value = " + got + "(at), right = " + expected +
           "(at);\n        const bool same = value == right || (std::isnan(value) && std::isnan(right)) ||\n"
           "                          std::fabs(value - right) <= " +
           shortest(tolerance.atol) + " + " + shortest(tolerance.rtol) +
           " * std::fabs(right);\n        if (!same && wrong++ == 0)\n";
}

/// printf's conversion and argument.
std::pair<std::string, std::string> printed(const std::string& type, const std::string& value) {
    if (is_float(type)) return {"%.9g", "double(" + value + ")"};
    if (type == "int64") return {"%lld", "(long long)" + value};
    if (type == "uint64") return {"%llu", "(unsigned long long)" + value};
    return {type == "uint32" ? "%u" : "%d", type == "uint32" || type == "int32" ? value : "int(" + value + ")"};
}

/// Compares one output: prints the first element that is wrong.
std::string comparison(const PipelineCode& code, std::size_t i, const Accuracy& accuracy, const std::string& got,
                       const std::string& expected) {
    std::string places, arguments;
    for (std::size_t d = 0; d < code.dimensions[i]; ++d) {
        places += (d ? ", %d" : "%d");
        arguments += "at[" + std::to_string(d) + "], ";
    }
    const auto [format, value] = printed(code.types[i], got + "(at)");
    const std::string right = printed(code.types[i], expected + "(at)").second;
    return "    " + got + ".for_each_element([&](const int *at) {\n" + differs(code.types[i], accuracy, got, expected) +
           "            printf(\"" + code.outputs[i] + "(" + places + ") = " + format + ", expected " + format +
           "\\n\", " + arguments + value + ", " + right + ");\n    });\n";
}

/// With the results of the pipeline without directives.
bool compares(const Failure& failure) { return failure.signature.kind == "mismatch"; }

/// Statements that return 1 where the pipeline fails. `with_culprit`: an expression.
std::string test_of(const PipelineCode& code, const Failure& failure, const std::string& with_culprit) {
    if (!compares(failure)) return "    run(true, " + with_culprit + ");\n";
    std::string text = "    " + code.result + " expected = run(false, false), got = run(true, " + with_culprit +
                       ");\n    int wrong = 0;\n";
    if (code.outputs.size() == 1)
        return text + comparison(code, 0, failure.accuracy, "got", "expected") + "    if (wrong) return 1;\n";
    for (std::size_t i = 0; i < code.outputs.size(); ++i) {
        const std::string number = std::to_string(i), type = "Buffer<" + cpp_type(code.types[i]) + "> ";
        text += "    " + type + "expected" + number + " = expected[" + number + "], got" + number + " = got[" + number +
                "];\n" + comparison(code, i, failure.accuracy, "got" + number, "expected" + number);
    }
    return text + "    if (wrong) return 1;\n";
}

std::string culprits_of(const PipelineCode& code) { return join(code.culprits, " and "); }

std::string header(const PipelineCode& code, const ScheduleProgramRequest& request, const std::string& message) {
    const std::string what = message.empty() ? request.failure.signature.text() : message;
    const std::string program = shell_quote({"./" + request.file.stem().string()});
    const bool races = code.schedule.find("allow_race_conditions()") != std::string::npos;
    std::string text =
        short_cpp.comment(halide::version() + ": " + what + ", with " + culprits_of(code) + ".") + "//\n" +
        short_cpp.comment(std::string("Without ") + (code.culprits.size() > 1 ? "these directives" : "this directive") +
                          " (" + program + " control), " +
                          (compares(request.failure) ? "the result is right." : "the pipeline runs to its end.") +
                          (races ? " This is not a bug in Halide: the schedule allows races between "
                                   "updates (allow_race_conditions())."
                                 : ""));
    while (text.ends_with('\n')) text.pop_back();
    return text;
}

std::string includes(const std::string& code) {
    return standard_includes(code) + (code.find("abort()") == code.npos ? "" : "\n#include <cstdlib>");
}

}  // namespace

ReproProgram schedule_program(const PipelineCode& code, const ScheduleProgramRequest& request,
                              const std::string& message) {
    const Failure& failure = request.failure;
    const bool throws = failure.signature.kind == "exception";
    const std::string before = ends_by_failure(failure.signature, request.alarm), run = run_function(code),
                      compare = test_of(code, failure, "argc == 1");
    const std::vector<std::string> flags = halide::compile_flags();
    ReproProgram program{
        .text = fill_template(
            "repro_halide_schedule.cpp",
            {{"HEADER", header(code, request, message)},
             {"BUILD", build_line(request.file, flags)},
             {"INCLUDES", includes(before + run + compare)},
             {"RUN", run},
             {"TRY", throws ? " try" : ""},
             {"BEFORE", before.empty() ? "" : before + "\n"},
             {"COMPARE", compare},
             {"CATCH", throws ? " catch (const Error &e) {\n    printf(\"%s\\n\", e.what());\n    return 1;\n}" : ""}}),
        .summary = failure.signature.text() + " with " + culprits_of(code),
        .compiler = halide::host_description(),
        .compile_flags = flags,
        .control_argument = culprits_of(code) + " switched off",
        .tracker = "halide"};
    return program;
}

std::string candidates_program(std::span<const PipelineCode> candidates, const ScheduleProgramRequest& request) {
    std::string text, cases;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const std::string space = "candidate" + std::to_string(i);
        text += "namespace " + space + " {\n" + run_function(candidates[i]) + "static int test(bool with_culprit) {\n" +
                test_of(candidates[i], request.failure, "with_culprit") + "    return 0;\n}\n}\n";
        cases += "    case " + std::to_string(i) + ": return " + space + "::test(argc == 2);\n";
    }
    const std::string before = ends_by_failure(request.failure.signature, request.alarm);
    // An error of Halide that is not the failure ends the process by abort().
    const bool throws = request.failure.signature.kind == "exception";
    return "#include \"Halide.h\"\n" + includes(before + text + "abort()") + "\nusing namespace Halide;\n" + text +
           "int main(int argc, char **argv)" + (throws ? " try" : "") + " {\n" + before +
           "    switch (atoi(argv[1])) {\n" + cases + "    }\n    return 2;\n}" +
           (throws ? " catch (const Error &e) { printf(\"%s\\n\", e.what()); return 1; }" : "") + "\n";
}

namespace {

std::string store_function(const PipelineCode& code) {
    std::string text = "static void store() {\n    " + code.result + " results = run(true, true);\n";
    for (std::size_t i = 0; i < code.outputs.size(); ++i) {
        const std::string number = std::to_string(i), type = cpp_type(code.types[i]), result = "result" + number;
        text += "    Buffer<" + type + "> " + result + " = results" +
                (code.outputs.size() > 1 ? "[" + number + "]" : "") + ";\n    FILE *file" + number + " = fopen(\"" +
                number + ".bin\", \"wb\");\n    " + result + ".for_each_element([&](const int *at) { fwrite(&" +
                result + "(at), sizeof(" + type + "), 1, file" + number + "); });\n    fclose(file" + number + ");\n";
    }
    return text + "}\n";
}

}  // namespace

std::string runs_program(std::span<const PipelineCode> runs) {
    std::string text, cases;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const std::string space = "run" + std::to_string(i);
        text += "namespace " + space + " {\n" + run_function(runs[i]) + store_function(runs[i]) + "}\n";
        cases += "    case " + std::to_string(i) + ": " + space + "::store(); return 0;\n";
    }
    return "#include \"Halide.h\"\n" + includes(text + "abort()") + "\nusing namespace Halide;\n" + text +
           "int main(int, char **argv) try {\n    switch (atoi(argv[1])) {\n" + cases +
           "    }\n    return 2;\n} catch (const Error &e) { printf(\"%s\\n\", e.what()); return 1; }\n";
}

}  // namespace whittle::repro
