// A worker (share/doc/how-to/compiler.md) around OpenCV's DNN module.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <opencv2/core/version.hpp>
#include <opencv2/dnn.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using nlohmann::json;

struct Unsupported : std::runtime_error {
    using std::runtime_error::runtime_error;
};

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// The tensors "0", "1", … of a safetensors file; the module computes in 32-bit floats.
std::vector<cv::Mat> load_tensors(const std::string& path, std::size_t count) {
    const std::string bytes = read_file(path);
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof length);
    const json header = json::parse(bytes.substr(8, length));
    std::vector<cv::Mat> tensors;
    for (std::size_t i = 0; i < count; i++) {
        const json& entry = header.at(std::to_string(i));
        if (entry.at("dtype") != "F32")
            throw Unsupported("found an input of " + entry.at("dtype").get<std::string>() + ", expected F32");
        std::vector<int> shape = entry.at("shape").get<std::vector<int>>();
        if (shape.empty()) shape = {1};
        cv::Mat tensor(static_cast<int>(shape.size()), shape.data(), CV_32F);
        std::memcpy(tensor.data, bytes.data() + 8 + length + entry.at("data_offsets").at(0).get<std::size_t>(),
                    tensor.total() * sizeof(float));
        tensors.push_back(tensor);
    }
    return tensors;
}

/// OpenCV's matrices have two dimensions or more: a shape of the model's with as many elements is the model's.
json shape_of(const cv::Mat& tensor, const json& expected) {
    std::vector<int> shape(tensor.size.p, tensor.size.p + tensor.dims);
    std::size_t elements = 1;
    for (const json& size : expected) elements *= size.get<std::size_t>();
    const bool padded = tensor.dims == 2 && expected.size() < 2 && elements == tensor.total();
    return padded ? expected : json(shape);
}

void save_tensors(const std::string& path, const std::vector<cv::Mat>& tensors, const json& outputs) {
    json header;
    std::string data;
    for (std::size_t i = 0; i < tensors.size(); i++) {
        const cv::Mat tensor = tensors[i].isContinuous() ? tensors[i] : tensors[i].clone();
        if (tensor.type() != CV_32F || outputs.at(i).at("dtype") != "f32")
            throw Unsupported("found an output of another type, expected f32");
        const std::size_t begin = data.size();
        data.append(reinterpret_cast<const char*>(tensor.data), tensor.total() * sizeof(float));
        header[std::to_string(i)] = {{"dtype", "F32"},
                                     {"shape", shape_of(tensor, outputs.at(i).at("shape"))},
                                     {"data_offsets", {begin, data.size()}}};
    }
    const std::string text = header.dump();
    const std::uint64_t length = text.size();
    std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(&length), 8) << text << data;
}

std::vector<std::string> names_of(const json& values) {
    std::vector<std::string> names;
    for (const json& value : values) names.push_back(value.at("name").get<std::string>());
    return names;
}

/// What says that something is not there, and not that it is wrong.
bool is_not_there(const std::string& message) {
    for (const char* words : {"Can't create layer", "Unknown layer", "not implemented", "Not implemented",
                              "StsNotImplemented", "not supported", "Unsupported"})
        if (message.find(words) != std::string::npos) return true;
    return false;
}

int target_of(const std::string& name) {
    if (name == "cpu") return cv::dnn::DNN_TARGET_CPU;
    if (name == "opencl") return cv::dnn::DNN_TARGET_OPENCL;
    if (name == "opencl_fp16") return cv::dnn::DNN_TARGET_OPENCL_FP16;
    throw std::runtime_error("found the target '" + name + "', expected cpu, opencl or opencl_fp16");
}

class Worker {
  public:
    explicit Worker(int answers) : answers_(answers) {}

    void say(const json& line) const {
        const std::string text = line.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
        for (std::size_t done = 0; done < text.size();) {
            const ssize_t count = ::write(answers_, text.data() + done, text.size() - done);
            if (count < 0) std::exit(1);
            done += static_cast<std::size_t>(count);
        }
    }

    void answer(const json& question) const {
        const json id = question.at("id");
        std::string stage = "compile";
        const auto failed = [&](const std::string& message, bool unsupported) {
            say({{"id", id}, {"error", message}, {"stage", stage}, {"unsupported", unsupported}});
        };
        try {
            double compiler_ms = 0;  // for benchmarks
            const auto timed = [&](const auto& f) {
                const auto begin = std::chrono::steady_clock::now();
                f();
                compiler_ms +=
                    std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
            };
            const std::string folder = question.at("folder").get<std::string>() + "/";
            cv::dnn::Net net;
            timed([&] { net = cv::dnn::readNetFromONNX(folder + question.at("model").get<std::string>()); });
            net.setPreferableBackend(cv::dnn::DNN_BACKEND_OPENCV);
            const json options = question.value("options", json::object()), off = question.value("off", json::array());
            net.setPreferableTarget(target_of(options.value("target", "cpu")));
            for (const json& name : off)
                if (name == "fusion") net.enableFusion(false);
            stage = "run";
            say({{"id", id}, {"stage", stage}});
            const std::vector<std::string> inputs = names_of(question.at("inputs")),
                                           outputs = names_of(question.at("outputs"));
            const std::vector<cv::Mat> values = load_tensors(folder + "inputs.safetensors", inputs.size());
            for (std::size_t i = 0; i < inputs.size(); i++) net.setInput(values[i], inputs[i]);
            std::vector<cv::Mat> results;
            timed([&] { net.forward(results, std::vector<cv::String>(outputs.begin(), outputs.end())); });
            save_tensors(folder + "outputs.safetensors", results, question.at("outputs"));
            json done = {{"id", id}, {"ok", true}, {"compiler_ms", compiler_ms}};
            for (int left = question.value("timed_runs", 0); left > 0; --left) {
                const auto begin = std::chrono::steady_clock::now();
                for (std::size_t i = 0; i < inputs.size(); i++) net.setInput(values[i], inputs[i]);
                net.forward(results, std::vector<cv::String>(outputs.begin(), outputs.end()));
                const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
                done["run_seconds"].push_back(took.count());
            }
            say(done);
        } catch (const Unsupported& error) {
            failed(error.what(), true);
        } catch (const cv::Exception& error) {
            failed(error.err, error.code == cv::Error::StsNotImplemented || is_not_there(error.err));
        } catch (const std::exception& error) {
            failed(error.what(), false);
        }
    }

  private:
    int answers_;
};

}  // namespace

int main() {
    // What OpenCV prints must not get between the answers.
    const int answers = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (answers < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return 1;
    const Worker worker(answers);
    cv::setNumThreads(1);
    worker.say(
        {{"whittle", 1},
         {"name", "opencv"},
         {"version", CV_VERSION},
         {"format", "onnx"},
         {"repro", {{"api", "opencv"}}},
         {"switches", {{"kind", "switch"}, {"names", {"fusion"}}}},
         {"options",
          {{"target",
            {{"what", "the device that computes; default: cpu"}, {"one_of", {"cpu", "opencl", "opencl_fp16"}}}}}}});
    for (std::string line; std::getline(std::cin, line);) worker.answer(json::parse(line));
    return 0;
}
