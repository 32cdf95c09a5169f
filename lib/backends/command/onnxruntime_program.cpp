#include <algorithm>
#include <array>
#include <cstddef>

#include "backends/command/script_text.h"
#include "backends/command/short_onnx.h"
#include "backends/command/short_programs.h"
#include "base/program_text.h"
#include "base/words.h"
#include "printers/near_text.h"
#include "printers/short_program.h"
#include "tensor/scalars.h"

namespace whittle {
namespace {

/// A level as node's binding and as Python's call it.
struct Level {
    const char *node, *python;
};
constexpr std::array<Level, 5> kLevels = {{{"disabled", "ORT_DISABLE_ALL"},
                                           {"basic", "ORT_ENABLE_BASIC"},
                                           {"extended", "ORT_ENABLE_EXTENDED"},
                                           {"layout", "ORT_ENABLE_LAYOUT"},
                                           {"all", "ORT_ENABLE_ALL"}}};

/// As node's binding calls a dtype.
std::string node_type(DType dtype) { return lower_case(std::string(info_of(dtype).torch)); }

std::string bytes_of(const Tensor& tensor) {
    return std::to_string(tensor.numel() * static_cast<std::int64_t>(size_of(tensor.dtype())));
}

class OnnxRuntimeProgram {
  public:
    OnnxRuntimeProgram(const ShortRequest& request, const WorkerHello& said)
        : request_(request),
          failure_(*request.graph.failure),
          said_(said),
          model_(short_model(request)),
          compared_(compared(request)),
          output_(model_.outputs.at(compared_.output)) {}

    ReproProgram write() {
        // Without the package's own script, which fetches the libraries of CUDA and fails where it cannot.
        const std::string get = "npm install --ignore-scripts " + said_.package;
        ReproProgram program;
        std::string inputs = node_inputs();
        const bool reads = inputs.find("fs.") != std::string::npos;
        program.text = fill_template("repro_onnxruntime.mjs", {{"HEADER", header(javascript)},
                                                               {"GET", get},
                                                               {"IMPORTS", reads ? "import fs from 'node:fs';\n" : ""},
                                                               {"INPUTS", inputs},
                                                               {"RUN", node_run()}});
        program.summary = title_of(request_, model_, words(numpy));
        program.compiler = "ONNX Runtime " + said_.version;
        program.files = model_.files;
        ProgramFolder folder{.name = "run.mjs", .run = {"node", "run.mjs"}, .get = get};
        if (!said_.modules.empty()) folder.lent["node_modules"] = said_.modules;
        const std::string run = python_run();
        const bool exits = run.find("sys.") != std::string::npos;
        program.others.push_back({"run.py",
                                  fill_template("repro_onnxruntime.py", {{"HEADER", header(numpy)},
                                                                         {"RELEASE", first_word(said_.version)},
                                                                         {"SYSTEM", exits ? "import sys\n\n" : ""},
                                                                         {"INPUTS", python_inputs()},
                                                                         {"RUN", run}}),
                                  {"python3", "run.py"},
                                  {"python3", "-c", "import numpy, onnxruntime"}});
        program.folder = std::move(folder);
        if (failure_.signature.kind == "crash") program.ends_by = failure_.signature.detail;
        program.control = control();
        program.facts = facts();
        if (request_.near) program.near = near_text(model_.graph, *request_.near);
        program.model = model_text(model_, is("mismatch") && control().empty());
        program.tracker = "onnxruntime";
        return program;
    }

  private:
    bool is(const char* kind) const { return failure_.signature.kind == kind; }
    bool by_level() const { return !request_.blame.level.empty() && request_.blame.passes_to >= 0; }
    const Level& level(int number) const {
        return kLevels.at(static_cast<std::size_t>(std::clamp(number, 0, static_cast<int>(kLevels.size()) - 1)));
    }
    static const char* called(const Level& level, const Language& language) {
        return language.family == Language::Family::javascript ? level.node : level.python;
    }
    /// Right at `passing`, wrong at `failing`.
    const Level& passing() const { return level(request_.blame.passes_to); }
    const Level& failing() const { return level(request_.blame.fails_at); }

    /// Of an exception what the kernel or the optimizer says, without the session's frame around it.
    std::string message() const {
        constexpr std::string_view kFrame = "Status Message: ";
        const std::size_t frame = failure_.message.find(kFrame);
        return frame == std::string::npos ? failure_.message : failure_.message.substr(frame + kFrame.size());
    }

    /// As it is called for any provider.
    std::string pass() const {
        constexpr std::string_view kProvider = "_CPUExecutionProvider";
        const std::string& name = request_.blame.off;
        return name.ends_with(kProvider) ? name.substr(0, name.size() - kProvider.size()) : name;
    }

    /// ", from ORT_ENABLE_BASIC on".
    TitleWords words(const Language& language) const {
        TitleWords words{.message = message(), .pass = pass()};
        if (by_level()) words.when = std::string(", from ") + called(failing(), language) + " on";
        return words;
    }

    std::string control() const {
        if (!by_level()) return {};
        return passing().python;
    }

    std::string header(const Language& language) const {
        std::string text = language.comment("ONNX Runtime " + first_word(said_.version) +
                                            ", CPU: " + as_sentence(statement_of(request_, model_, words(language))));
        if (!request_.blame.off.empty())
            text += language.comment(
                "The result is right with optimization.disable_specified_optimizers = " + request_.blame.off + ".");
        return text;
    }

    // ---- JavaScript -------------------------------------------------------------------------------------------------

    std::string node_inputs() const {
        std::string text;
        for (std::size_t i = 0; i < failure_.inputs.size(); i++) {
            const Tensor& value = failure_.inputs[i];
            const bool half = value.dtype() == DType::f16;  // its bits: node has no such numbers
            std::string data =
                half ? "Uint16Array.of(" + javascript.elements(value) + ")" : "[" + javascript.elements(value) + "]";
            const std::string count = std::to_string(value.numel());
            if (value.numel() > kMostInPlace && all_alike(value) && !half)
                data = "new " + javascript.type(value.dtype()) + "(" + count + ").fill(" +
                       javascript.element(first(value), 0) + ")";
            else if (value.numel() > kMostInPlace)
                data = "new " + javascript.type(value.dtype()) +
                       "(new Uint8Array(fs.readFileSync('test_data_set_0/input_" + std::to_string(i) +
                       ".pb')).slice(-" + bytes_of(value) + ").buffer)";
            text += "const " + model_.inputs.at(i) + " = new ort.Tensor('" + node_type(value.dtype()) + "', " + data +
                    ", [" + join(value.sizes()) + "]);\n";
        }
        return text;
    }

    static Tensor first(const Tensor& tensor) { return tensor.as_strided({1}, {1}, tensor.offset()).contiguous(); }

    std::string node_session(const std::string& options) const {
        return "const session = await ort.InferenceSession.create('model.onnx', { " + options + " });\n";
    }
    std::string node_call() const {
        return "session.run({" + (model_.inputs.empty() ? "" : " " + join(model_.inputs) + " ") + "})";
    }
    /// What is expected, as the binding of node gives results.
    std::string node_given() const {
        if (!compared_.sizes.empty()) return "({ dims: [" + join(request_.expected[compared_.output].sizes()) + "] })";
        const std::string array = javascript.type(compared_.tensor.dtype());
        const std::string elements = javascript.elements(compared_.tensor);
        return "({ data: " +
               (compared_.one()
                    ? "new " + array + "(" + std::to_string(compared_.element + 1) + ").fill(" + elements + ")"
                    : array + ".of(" + elements + ")") +
               " })";
    }
    std::string node_value() const {
        const std::string result = request_.given_expected ? node_given() : "(await " + node_call() + ")." + output_;
        if (!compared_.sizes.empty()) return result + ".dims.join('x')";
        return value_in_javascript(compared_, result + ".data");
    }

    std::string node_run() const {
        const std::string fixed = std::string("graphOptimizationLevel: '") + fixed_level().node + "'";
        if (is("crash")) {
            if (!by_level()) return node_session(fixed) + "await " + node_call() + ";\nconsole.log('no crash');\n";
            return node_rows("  await " + node_call() +
                             ";\n  console.log(graphOptimizationLevel, 'does not crash');\n");
        }
        if (is("exception")) {
            const std::string tried = "try {\n  " + node_session(by_level() ? "graphOptimizationLevel" : fixed) +
                                      "  await " + node_call() + ";\n";
            if (!by_level())
                return tried +
                       "  console.log('no error');\n} catch (error) {\n  console.log(error.message);\n"
                       "  process.exitCode = 1;\n}\n";
            return "const results = {};\nfor (const graphOptimizationLevel of " + node_levels() + ") {\n" +
                   indented(tried) +
                   "    results[graphOptimizationLevel] = 'no error';\n  } catch (error) {\n"
                   "    results[graphOptimizationLevel] = error.message;\n  }\n"
                   "  console.log(`${graphOptimizationLevel}: ${results[graphOptimizationLevel]}`);\n}\n"
                   "process.exit(results." +
                   passing().node + " !== 'no error' ? 2 : results." + failing().node + " !== 'no error' ? 1 : 0);\n";
        }
        if (!by_level()) return node_session(fixed) + "const y = " + node_value() + ";\n" + node_verdict("y");
        return "const y = {};\n" + node_rows("  y[graphOptimizationLevel] = " + node_value() + ";\n") +
               node_verdict("");
    }

    /// The one at which it fails, where it fails at all of them; the least.
    const Level& fixed_level() const { return request_.blame.level.empty() ? kLevels.back() : level(0); }

    /// At which the switches were tried: all of it, but for a limit of the failure's.
    const Level& tried() const {
        constexpr std::string_view kLimit = "level=";
        const auto limit = failure_.options.find("pass-limit");
        const bool limited = limit != failure_.options.end() && limit->second.starts_with(kLimit);
        return limited ? level(std::stoi(limit->second.substr(kLimit.size()))) : kLevels.back();
    }

    std::string node_levels() const { return std::string("['") + passing().node + "', '" + failing().node + "']"; }
    std::string node_rows(const std::string& body) const {
        return "for (const graphOptimizationLevel of " + node_levels() + ") {\n  " +
               node_session("graphOptimizationLevel") + body + "}\n";
    }

    /// `value`: the only one, or, empty, those of both levels.
    std::string node_verdict(const std::string& value) const {
        const std::string literals = expected_text(javascript, compared_);
        const bool one = compared_.one();
        const auto wrong = [&](const std::string& got) {
            return one ? wrong_text(javascript, compared_, got, literals) : "wrong(" + got + ")";
        };
        std::string text;
        if (!one)
            text = "const expected = [" + literals + "];\nconst wrong = (v) => v.some((a, i) => " +
                   wrong_text(javascript, compared_, "a", "expected[i]") + ");\n";
        std::vector<std::pair<std::string, std::string>> shown = {{value, value}};
        if (value.empty())
            shown = {{passing().node, std::string("y.") + passing().node},
                     {failing().node, std::string("y.") + failing().node}};
        text += print_in_javascript(compared_, shown);
        if (!value.empty()) return text + "process.exit(" + wrong(value) + " ? 1 : 0);\n";
        return text + "process.exit(" + wrong(std::string("y.") + passing().node) +
               " ? 2 : " + wrong(std::string("y.") + failing().node) + " ? 1 : 0);\n";
    }

    // ---- Python -----------------------------------------------------------------------------------------------------

    std::string python_inputs() const {
        std::string text;
        for (std::size_t i = 0; i < failure_.inputs.size(); i++) {
            const Tensor& value = failure_.inputs[i];
            const std::string type = numpy.type(value.dtype());
            std::string made;
            if (value.numel() <= kMostInPlace)
                made = "np.array(" + numpy.nested(value) + ", " + type + ")";
            else if (all_alike(value))
                made = "np.full((" + join(value.sizes()) + (value.rank() == 1 ? "," : "") + "), " +
                       numpy.element(first(value), 0) + ", " + type + ")";
            else
                made = "np.frombuffer(open(\"test_data_set_0/input_" + std::to_string(i) + ".pb\", \"rb\").read()[-" +
                       bytes_of(value) + ":], " + type + ").reshape(" + join(value.sizes()) + ")";
            text += model_.inputs.at(i) + " = " + made + "\n";
        }
        return text;
    }

    /// Of all outputs, as node's, or of the one that is compared.
    std::string python_call() const {
        const std::string feeds =
            join(model_.inputs, [](const std::string& name) { return numpy.quoted(name) + ": " + name; });
        if (!is("mismatch")) return "session.run(None, {" + feeds + "})";
        if (request_.given_expected) return python_given();
        return "session.run([\"" + output_ + "\"], {" + feeds + "})[0]";
    }
    /// What is expected, as the binding of Python gives results.
    std::string python_given() const {
        const Tensor& expected = request_.expected[compared_.output];
        const std::string type = ", " + numpy.type(expected.dtype()) + ")";
        if (!compared_.sizes.empty()) return "np.zeros([" + join(expected.sizes()) + "]" + type;
        const std::string elements = numpy.elements(compared_.tensor);
        return compared_.one() ? "np.full(" + std::to_string(compared_.element + 1) + ", " + elements + type
                               : "np.array([" + elements + "]" + type;
    }
    std::string python_value() const {
        if (!compared_.sizes.empty()) return "\"x\".join(map(str, " + python_call() + ".shape))";
        if (!compared_.one()) return python_call() + ".ravel().tolist()";
        return python_call() + (compared_.element ? ".flat[" + std::to_string(compared_.element) + "]" : "") +
               ".item()";
    }

    static std::string python_session(const std::string& level) {
        return "options = ort.SessionOptions()\n"
               "options.graph_optimization_level = " +
               level +
               "\n"
               "session = ort.InferenceSession(\"model.onnx\", options, providers=[\"CPUExecutionProvider\"])\n";
    }

    std::string python_run() const {
        const std::string fixed = std::string("ort.GraphOptimizationLevel.") + fixed_level().python;
        const std::string by_name = "getattr(ort.GraphOptimizationLevel, level)";
        const std::string levels =
            std::string("for level in (\"") + passing().python + "\", \"" + failing().python + "\"):\n";
        const auto each = [&](const std::string& body) {
            return levels + indented(python_session(by_name) + body, "    ");
        };
        if (is("crash")) {
            // A binding may give the values that another one crashes on.
            if (!by_level()) return python_session(fixed) + "print(\"no crash:\", " + python_call() + ")\n";
            return each("print(level, \"does not crash:\", " + python_call() + ")\n");
        }
        if (is("exception")) {
            const auto tried = [&](const std::string& level, const std::string& right, const std::string& wrong) {
                return "try:\n" + indented(python_session(level) + python_call() + "\n" + right, "    ") +
                       "except Exception as error:\n    " + wrong;
            };
            if (!by_level()) return tried(fixed, "print(\"no error\")\n", "print(error)\n    sys.exit(1)\n");
            const std::string right = std::string("\"") + passing().python + "\"",
                              wrong = std::string("\"") + failing().python + "\"";
            return "results = dict.fromkeys((" + right + ", " + wrong + "), \"no error\")\nfor level in results:\n" +
                   indented(tried(by_name, "", "results[level] = str(error)\n"), "    ") +
                   "print(results)\nsys.exit(2 if results[" + right + "] != \"no error\" else int(results[" + wrong +
                   "] != \"no error\"))\n";
        }
        if (!by_level()) return python_session(fixed) + "y = " + python_value() + "\n" + python_verdict("y");
        return "y = {}\n" + each("y[level] = " + python_value() + "\n") + python_verdict("");
    }

    std::string python_verdict(const std::string& value) const {
        const std::string literals = expected_text(numpy, compared_);
        const bool one = compared_.one();
        const auto wrong = [&](const std::string& got) {
            return one ? wrong_text(numpy, compared_, got, literals) : "wrong(" + got + ")";
        };
        std::string text;
        if (!one)
            text = "expected = [" + literals + "]\nwrong = lambda v: any(" + wrong_text(numpy, compared_, "a", "e") +
                   " for a, e in zip(v, expected))\n";
        text += "print(ort.__version__, y, \"expected:\", " + (one ? literals : std::string("expected")) + ")\n";
        if (!value.empty()) return text + "sys.exit(int(" + wrong(value) + "))\n";
        return text + "sys.exit(2 if " + wrong(std::string("y[\"") + passing().python + "\"]") + " else int(" +
               wrong(std::string("y[\"") + failing().python + "\"]") + "))\n";
    }

    // ---- for the report ---------------------------------------------------------------------------------------------

    /// What comes of each level, in values where they are few; an error's words the program prints. The title says what
    /// comes of all.
    std::string facts() const {
        if (!by_level() && request_.blame.off.empty())
            return request_.blame.level.empty()
                       ? ""
                       : std::string(is("mismatch") ? "The result is wrong" : "The model fails") +
                             " at all optimization levels.\n";
        std::string column = "result", right = "no error", seen = is("crash") ? failure_.signature.detail : "error";
        if (is("mismatch")) {
            const Tensor& expected = request_.expected[compared_.output];
            const bool has_got = compared_.output < request_.got.size();
            const Tensor* const got = has_got ? &request_.got[compared_.output] : nullptr;
            column = output_, right = "as expected", seen = "other values";
            if (!compared_.sizes.empty()) {
                column = "shape of " + output_;
                right = to_string(expected.sizes()), seen = got ? to_string(got->sizes()) : "another";
            } else if (expected.numel() <= kMostInTable || !got) {
                right = values_text(expected), seen = got ? values_text(*got) : seen;
            } else if (const auto wrong = first_wrong(request_)) {
                column += ", element " + std::to_string(wrong->element);
                right = wrong->expected, seen = wrong->got;
            }
        }
        std::string text = "| | " + column + " |\n|---|---|\n";
        const auto row = [&](const std::string& what, const std::string& value) {
            text += "| " + what + " | " + value + " |\n";
        };
        if (by_level()) row(std::string("`") + passing().python + "`", right);
        const std::string wrong = "**" + seen + "**";
        if (by_level()) row(std::string("`") + failing().python + "` and above", wrong);
        if (!by_level()) row(std::string("`") + tried().python + "`", wrong);
        if (!request_.blame.off.empty())
            row(std::string("`") + tried().python + "` with `optimization.disable_specified_optimizers` = `" +
                    request_.blame.off + "`",
                right);
        return text;
    }

    static constexpr std::int64_t kMostInTable = 6;

    /// "1"; "[1, 2]" of several.
    static std::string values_text(const Tensor& tensor) {
        std::string text;
        const Tensor contiguous = tensor.contiguous();
        for (std::int64_t i = 0; i < tensor.numel(); i++) text += (i ? ", " : "") + short_number_at(contiguous, i);
        return tensor.numel() == 1 ? text : "[" + text + "]";
    }

    const ShortRequest& request_;
    const Failure& failure_;
    const WorkerHello& said_;
    const ShortModel model_;
    const Compared compared_;
    const std::string output_;
};

}  // namespace

std::optional<ReproProgram> onnxruntime_program(const ShortRequest& request, const WorkerHello& said,
                                                std::string& why_not) {
    why_not = not_in_short_model(request);
    const Failure& failure = *request.graph.failure;
    if (failure.signature.kind == "timeout") why_not = "Node.js cannot stop a run that hangs";
    for (const auto& [name, value] : failure.options)
        if (name != "pass-limit" && name != "release")
            why_not = "a short program cannot set the backend option " + name + "=" + value;
    const auto unknown = [](const Tensor& tensor) { return javascript.type(tensor.dtype()).empty(); };
    const auto half = [](const Tensor& tensor) { return tensor.dtype() == DType::f16; };
    if (std::ranges::any_of(failure.inputs, unknown) || std::ranges::any_of(request.expected, unknown) ||
        (failure.signature.kind == "mismatch" && std::ranges::any_of(request.expected, half)))
        why_not = "Node.js has no arrays for the dtypes of the inputs or outputs";
    if (!why_not.empty()) return std::nullopt;
    return OnnxRuntimeProgram(request, said).write();
}

}  // namespace whittle
