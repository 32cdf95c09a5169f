#include <algorithm>
#include <string>

#include "backends/command/script_text.h"
#include "backends/command/short_onnx.h"
#include "backends/command/short_programs.h"
#include "base/program_text.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "graph/emitter.h"
#include "printers/near_text.h"
#include "printers/short_program.h"
#include "tensor/scalars.h"

namespace whittle {
namespace {

// --- npm's builds of OpenCV for JavaScript ---

/// [1, 1, rows, columns], which the binding makes of a matrix.
bool is_image(const Tensor& value) { return value.rank() == 4 && value.sizes()[0] == 1 && value.sizes()[1] == 1; }

/// One input: the matrix of two dimensions that the binding makes of an array, or an image of it.
std::string matrix_text(const Tensor& value, std::size_t input) {
    const std::string count = std::to_string(value.numel());
    std::string data = "[" + (value.numel() > kMostInPlace ? "" : javascript.elements(value)) + "]";
    if (value.numel() > kMostInPlace && all_alike(value))
        data = "new Float32Array(" + count + ").fill(" +
               javascript.element(value.as_strided({1}, {1}, value.offset()).contiguous(), 0) + ")";
    else if (value.numel() > kMostInPlace)
        data = "new Float32Array(new Uint8Array(fs.readFileSync('test_data_set_0/input_" + std::to_string(input) +
               ".pb')).slice(-" + std::to_string(4 * value.numel()) + ").buffer)";
    const Sizes sizes = value.sizes();
    const auto size = [&](std::size_t from_end) { return std::to_string(sizes.at(sizes.size() - from_end)); };
    const std::string matrix = "cv.matFromArray(" + size(2) + ", " + size(1) + ", cv.CV_32F, " + data + ")";
    return is_image(value) ? "cv.blobFromImage(" + matrix + ")" : matrix;
}

/// What is expected, as the binding gives results.
std::string given_text(const ShortRequest& request, const Compared& compared) {
    if (!compared.sizes.empty())
        return "Int32Array.of(" + join(request.expected[compared.output].sizes()) + ").join('x')";
    const std::string elements = javascript.elements(compared.tensor), count = std::to_string(compared.element + 1);
    return value_in_javascript(compared, compared.one() ? "new Float32Array(" + count + ").fill(" + elements + ")"
                                                        : "Float32Array.of(" + elements + ")");
}

/// Computes y.
std::string run_text(const ShortRequest& request, const ShortModel& model, const Compared& compared) {
    std::string text = "const net = cv.readNetFromONNX('/model.onnx');\n";
    for (std::size_t i = 0; i < request.graph.failure->inputs.size(); i++)
        text +=
            "net.setInput(" + matrix_text(request.graph.failure->inputs[i], i) + ", '" + model.inputs.at(i) + "');\n";
    const std::string result = "net.forward('" + model.outputs.at(compared.output) + "')";
    if (request.given_expected) return text + "const y = " + given_text(request, compared) + ";\n";
    if (!compared.sizes.empty()) return text + "const y = Array.from(" + result + ".matSize).join('x');\n";
    return text + "const y = " + value_in_javascript(compared, result + ".data32F") + ";\n";
}

std::string verdict_text(const Compared& compared) {
    const std::string expected = expected_text(javascript, compared);
    const std::string print = print_in_javascript(compared, {{"y", "y"}});
    if (compared.one()) return print + "process.exit(" + wrong_text(javascript, compared, "y", expected) + " ? 1 : 0);";
    return "const expected = [" + expected + "];\n" + print + "process.exit(y.some((a, i) => " +
           wrong_text(javascript, compared, "a", "expected[i]") + ") ? 1 : 0);";
}

/// run.mjs. `header`: its first lines, comments; `package`: what npm installs, "@techstark/opencv-js@5.0.0-release.1".
std::string opencv_in_node(const ShortRequest& request, const ShortModel& model, const Compared& compared,
                           const std::string& header, const std::string& package) {
    const std::string run = run_text(request, model, compared);
    // What C++ throws is a number in JavaScript.
    const std::string tried = "try {\n" + indented(run) +
                              "  console.log('no error');\n} catch (error) {\n  console.log(typeof error === 'number' "
                              "? cv.exceptionFromPtr(error).msg : error.message);\n  process.exitCode = 1;\n}";
    const bool throws = request.graph.failure->signature.kind == "exception";
    return fill_template("repro_opencv.mjs", {{"HEADER", header},
                                              {"GET", "npm install " + package},
                                              {"MODULE", package.substr(0, package.rfind('@'))},
                                              {"RUN", throws ? tried : run + "\n" + verdict_text(compared)}});
}

/// Why there is none, as a clause; empty: there may be one.
std::string not_in_opencv_node(const ShortRequest& request) {
    const std::string& kind = request.graph.failure->signature.kind;
    if (kind == "timeout" || kind == "crash") return "Node.js cannot stop a run that hangs or crashes";
    const auto other = [](const Tensor& value) { return value.rank() != 2 && !is_image(value); };
    if (std::ranges::any_of(request.graph.failure->inputs, other))
        return "OpenCV in JavaScript supports only inputs with two dimensions, and images";
    return {};
}

// --- All programs ---

const std::vector<std::string> kBuild = {
    "g++", "-std=c++17", "-O1", "run.cpp", "-o", "run", "-I/usr/include/opencv4", "-lopencv_dnn", "-lopencv_core"};

class OpenCvProgram {
  public:
    OpenCvProgram(const ShortRequest& request, const WorkerHello& said)
        : request_(request),
          failure_(*request.graph.failure),
          said_(said),
          model_(short_model(request)),
          compared_(compared(request)) {}

    ReproProgram write() {
        ReproProgram program = in_node() ? node_program() : cpp_program();
        program.compiler = "OpenCV " + said_.version;
        program.files = model_.files;
        if (is("mismatch")) program.others.push_back(python_program());
        const bool why = is("mismatch") && program.control_argument.empty();
        if (request_.near) program.near = near_text(model_.graph, *request_.near);
        program.model = model_text(model_, why);
        program.tracker = "opencv";
        return program;
    }

  private:
    /// It is npm's build.
    bool in_node() const { return !said_.package.empty(); }

    ReproProgram node_program() const {
        ReproProgram program;
        program.text = opencv_in_node(request_, model_, compared_, header(language::cpp), said_.package);
        program.summary = title_of(request_, model_, words());
        program.folder = {.name = "run.mjs", .run = {"node", "run.mjs"}, .get = "npm install " + said_.package};
        if (!said_.modules.empty()) program.folder->lent["node_modules"] = said_.modules;
        return program;
    }

    ReproProgram cpp_program() const {
        const bool culprit = !request_.blame.off.empty();
        std::map<std::string, std::string> values = {
            {"HEADER", header(language::cpp)},
            {"BUILD", shell_quote(kBuild) + " && ./run"},
            {"ARGUMENTS", culprit ? "int argc, char **" : ""},
            {"TRY", is("exception") ? " try" : ""},
            {"CATCH", is("exception")
                          ? " catch (const cv::Exception &e) {\n    printf(\"%s\\n\", e.err.c_str());\n    return 1;\n}"
                          : ""},
            {"BEFORE", (culprit ? "    const bool fusion = argc == 1;\n" : "") +
                           ends_by_failure(failure_.signature, request_.alarm)},
            {"OPTIONS", culprit ? "    if (!fusion) net.enableFusion(false);\n" : ""},
            {"INPUTS", inputs()},
            {"OUTPUT", model_.outputs.at(compared_.output)},
            {"COMPARE", is("mismatch") ? compare() : ""}};
        values["INCLUDES"] = standard_includes(values["BEFORE"] + values["INPUTS"] + values["COMPARE"]);
        ReproProgram program;
        program.text = fill_template("repro_opencv.cpp", values);
        program.summary = title_of(request_, model_, words());
        program.folder = {.name = "run.cpp", .build = kBuild, .run = {"./run"}};
        program.control_argument = culprit ? request_.blame.off + " switched off" : "";
        return program;
    }

    /// Where it is run, Python's OpenCV is of the same release.
    OtherProgram python_program() const {
        const std::string release = first_word(said_.version);
        const std::string get = in_node() ? "pip install opencv-python==" + release + ".* && " : "";
        // The binding of JavaScript names none.
        const std::string backend = in_node() ? "" : "net.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)\n";
        const std::string same = in_node() ? "; assert cv2.__version__ == '" + release + "'" : "";
        return {"run.py",
                fill_template("repro_opencv.py", {{"HEADER", header(language::python)},
                                                  {"GET", get},
                                                  {"BACKEND", backend},
                                                  {"INPUTS", python_inputs()},
                                                  {"OUTPUT", model_.outputs.at(compared_.output)},
                                                  {"FLAT", compared_.sizes.empty() ? ".ravel()" : ""},
                                                  {"COMPARE", python_compare()}}),
                {"python3", "run.py"},
                {"python3", "-c", "import cv2, numpy" + same}};
    }

    bool is(const char* kind) const { return failure_.signature.kind == kind; }
    /// Of an exception what cv::Exception calls the error, without the place before it.
    std::string message() const {
        constexpr std::string_view kPlace = ": error: ";
        const std::size_t place = failure_.message.find(kPlace);
        return place == std::string::npos ? failure_.message : failure_.message.substr(place + kPlace.size());
    }

    TitleWords words() const {
        const std::string& off = request_.blame.off;
        return {.message = message(), .when = off.empty() ? "" : ", with " + off};
    }

    std::string header(const Language& language) const {
        const std::string& off = request_.blame.off;
        std::string text = language.comment("OpenCV " + first_word(said_.version) +
                                            " dnn, CPU: " + as_sentence(statement_of(request_, model_, words())));
        if (!off.empty() && language.mark() == "//")
            text += language.comment("With " + off + " switched off (./run control), the result is right.");
        return text;
    }

    std::string file_of(std::size_t i) const { return "test_data_set_0/input_" + std::to_string(i) + ".pb"; }

    std::string inputs() const {
        std::string text;
        for (std::size_t i = 0; i < failure_.inputs.size(); i++) {
            const Tensor& value = failure_.inputs[i];
            const std::string &name = model_.inputs.at(i), count = std::to_string(value.numel());
            if (value.numel() <= kMostInPlace)
                text += "    float " + name + "[] = {" + short_cpp.elements(value) + "};\n";
            else if (all_alike(value))
                text += "    std::vector<float> " + name + "(" + count + ", " + first(short_cpp, value) + ");\n";
            else
                text += "    std::vector<float> " + name + "(" + count + ");\n    FILE *" + name + "_file = fopen(\"" +
                        file_of(i) + "\", \"rb\");\n    fseek(" + name + "_file, -4 * " + count +
                        "L, SEEK_END);\n    if (fread(" + name + ".data(), 4, " + count + ", " + name +
                        "_file) != " + count + ") return 2;\n";
            const bool array = value.numel() <= kMostInPlace;
            text += "    net.setInput(cv::Mat(std::vector<int>{" + shape(value) + "}, CV_32F, " + name +
                    (array ? "" : ".data()") + "), \"" + name + "\");\n";
        }
        return text;
    }

    /// OpenCV's matrices have a dimension at least.
    static std::string shape(const Tensor& value) { return value.rank() ? join(value.sizes()) : "1"; }
    static std::string first(const Language& language, const Tensor& value) {
        return language.element(value.as_strided({1}, {1}, value.offset()).contiguous(), 0);
    }

    const Tensor& expected() const { return request_.expected[compared_.output]; }

    std::string compare() const {
        const std::string count = std::to_string(compared_.element + compared_.tensor.numel());
        const std::string given = request_.given_expected ? "    y = cv::Mat(1, " + count + ", CV_32F);\n" : "";
        if (!compared_.sizes.empty())
            return (given.empty() ? given
                                  : "    y = cv::Mat(std::vector<int>{" + join(expected().sizes()) + "}, CV_32F);\n") +
                   "    std::string sizes;\n    for (int d = 0; d < y.dims; d++) sizes += (d ? \"x\" : \"\") + "
                   "std::to_string(y.size[d]);\n    if (sizes != \"" +
                   compared_.sizes + "\") {\n        printf(\"y is %s, expected " + compared_.sizes +
                   "\\n\", sizes.c_str());\n        return 1;\n    }\n";
        const std::string list = short_cpp.elements(compared_.tensor);
        if (compared_.one()) {
            const std::string got = "y.ptr<float>()[" + std::to_string(compared_.element) + "]";
            const std::string expected = list;
            return "    const float expected = " + expected + ";\n" +
                   (given.empty() ? "" : given + "    " + got + " = expected;\n") + "    if (" +
                   wrong_text(short_cpp, compared_, got, "expected") +
                   ") {\n        printf(\"y = %g, expected %g\\n\", " + got +
                   ", expected);\n        return 1;\n    }\n";
        }
        const std::string each = "    for (int i = 0; i < " + count + "; i++) y.ptr<float>()[i] = expected[i];\n";
        return "    const float expected[] = {" + list + "};\n" + (given.empty() ? "" : given + each) +
               "    for (int i = 0; i < " + std::to_string(compared_.tensor.numel()) + "; i++)\n        if (" +
               wrong_text(short_cpp, compared_, "y.ptr<float>()[i]", "expected[i]") +
               ") {\n            printf(\"y[%d] = %g, expected %g\\n\", i, y.ptr<float>()[i], expected[i]);\n"
               "            return 1;\n        }\n";
    }

    std::string python_inputs() const {
        std::string text;
        for (std::size_t i = 0; i < failure_.inputs.size(); i++) {
            const Tensor& value = failure_.inputs[i];
            std::string made = value.numel() > kMostInPlace ? "" : "np.array(" + numpy.nested(value) + ", np.float32)";
            if (made.empty() && all_alike(value))
                made = "np.full((" + shape(value) + (value.rank() > 1 ? "" : ",") + "), " + first(numpy, value) +
                       ", np.float32)";
            else if (made.empty())
                made = "np.frombuffer(open(\"" + file_of(i) + "\", \"rb\").read()[-" +
                       std::to_string(4 * value.numel()) + ":], np.float32).reshape(" + shape(value) + ")";
            text += "net.setInput(" + made + ", \"" + model_.inputs.at(i) + "\")\n";
        }
        return text;
    }

    /// What is expected, in place of what was computed.
    std::string python_given() const {
        if (!compared_.sizes.empty()) return "y = np.zeros([" + join(expected().sizes()) + "], np.float32)\n";
        const std::string elements = numpy.elements(compared_.tensor);
        if (!compared_.one()) return "y = np.array([" + elements + "], np.float32)\n";
        return "y = np.full(" + std::to_string(compared_.element + 1) + ", " + elements + ", np.float32)\n";
    }

    std::string python_compare() const { return (request_.given_expected ? python_given() : "") + python_verdict(); }

    std::string python_verdict() const {
        if (!compared_.sizes.empty())
            return "sizes = \"x\".join(map(str, y.shape))\nprint(cv2.__version__, sizes, \"expected:\", \"" +
                   compared_.sizes + "\")\nsys.exit(int(sizes != \"" + compared_.sizes + "\"))";
        const std::string literals = numpy.elements(compared_.tensor);
        if (compared_.one()) {
            const std::string got = "y[" + std::to_string(compared_.element) + "]";
            return "print(cv2.__version__, " + got + ", \"expected:\", " + literals + ")\nsys.exit(int(" +
                   wrong_text(numpy, compared_, got, literals) + "))";
        }
        return "expected = [" + literals + "]\nprint(cv2.__version__, y, \"expected:\", expected)\nsys.exit(int(any(" +
               wrong_text(numpy, compared_, "a", "e") + " for a, e in zip(y, expected))))";
    }

    const ShortRequest& request_;
    const Failure& failure_;
    const WorkerHello& said_;
    const ShortModel model_;
    const Compared compared_;
};

}  // namespace

std::optional<ReproProgram> opencv_program(const ShortRequest& request, const WorkerHello& said, std::string& why_not) {
    why_not = not_in_short_model(request);
    const Failure& failure = *request.graph.failure;
    for (const auto& [name, value] : failure.options)
        why_not = "a short program cannot set the backend option " + name + "=" + value;
    const auto unknown = [](const Tensor& tensor) { return tensor.dtype() != DType::f32; };
    if (std::ranges::any_of(failure.inputs, unknown) || std::ranges::any_of(request.expected, unknown))
        why_not = "a short program supports only inputs and outputs of type float";
    if (why_not.empty() && !said.package.empty()) why_not = not_in_opencv_node(request);
    if (!why_not.empty()) return std::nullopt;
    return OpenCvProgram(request, said).write();
}

}  // namespace whittle
