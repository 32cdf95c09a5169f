#include "backends/command/opencv_node.h"

#include <algorithm>

#include "base/program_text.h"
#include "base/words.h"
#include "tensor/alike.h"

namespace whittle {
namespace {

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

}  // namespace

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

std::string not_in_opencv_node(const ShortRequest& request) {
    const std::string& kind = request.graph.failure->signature.kind;
    if (kind == "timeout" || kind == "crash") return "Node.js cannot stop a run that hangs or crashes";
    const auto other = [](const Tensor& value) { return value.rank() != 2 && !is_image(value); };
    if (std::ranges::any_of(request.graph.failure->inputs, other))
        return "OpenCV in JavaScript supports only inputs with two dimensions, and images";
    return {};
}

}  // namespace whittle
