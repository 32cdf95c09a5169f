#include "backends/command/worker_question.h"

#include <limits>
#include <utility>

#include "backends/command/worker_pools.h"
#include "base/words.h"
#include "graph/backend_options.h"

namespace whittle {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "format";

}  // namespace

std::vector<std::string> names_of(const WorkerHello& hello, const BackendOptions& given) {
    std::vector<std::string> names = {kFormat, "disable", "pass-limit"};
    if (!hello.releases.empty()) names.emplace_back(kRelease);
    if (hello.trains) names.emplace_back(kTraining);
    for (const auto& [name, option] : hello.options) names.push_back(name);
    for (const auto& [name, value] : given)
        if (hello.takes_any_option || hello.option(name)) names.push_back(name);
    return names;
}

json settings_of(const BackendOptions& options, const WorkerHello& hello) {
    json settings = json::object();
    if (hello.takes_any_option) {
        for (const auto& [key, value] : options)
            if (key != kFormat && key != kRelease && !(key == kTraining && hello.trains))
                settings["options"][key] = value;
        return settings;
    }
    for (const std::string& name : option_parts(options, "disable")) {
        expect_known("disable", name, hello.switches);
        settings["off"].push_back(name);
    }
    for (const OptionLimit& limit : option_limits(options, hello.levels)) settings["most"][limit.name] = limit.most;
    for (const auto& [key, value] : options) {
        const WorkerHello::Option* const known = hello.option(key);
        if (!known) continue;
        if (!known->one_of.empty()) expect_known(key, value, known->one_of);
        if (known->least) option_number(key, value, *known->least, std::numeric_limits<int>::max());
        settings["options"][key] = value;
    }
    return settings;
}

json question_of(const std::vector<OnnxFile::Value>& inputs, const std::vector<OnnxFile::Value>& outputs,
                 const std::string& folder, bool onnx, json settings) {
    json question = std::move(settings);
    question["folder"] = folder;
    question["model"] = onnx ? kOnnxModel : "graph.json";
    question["inputs"] = question["outputs"] = json::array();
    const auto list = [&](const char* key, const std::vector<OnnxFile::Value>& values) {
        for (const OnnxFile::Value& value : values) {
            json said = {{"name", value.name}};
            if (value.meta) said["dtype"] = std::string(name(value.meta->dtype)), said["shape"] = value.meta->sizes;
            question[key].push_back(std::move(said));
        }
    };
    list("inputs", inputs);
    list("outputs", outputs);
    return question;
}

json question_of(const Graph& graph, const ModelNames& names, const std::string& folder, bool onnx, json settings) {
    const auto values = [&](const std::vector<NodeId>& ids, const std::vector<std::string>& named) {
        std::vector<OnnxFile::Value> list;
        for (std::size_t i = 0; i < ids.size(); i++) list.push_back({named.at(i), graph.node({ids[i]}).meta()});
        return list;
    };
    return question_of(values(graph.placeholders(), names.inputs), values(graph.outputs(), names.outputs), folder, onnx,
                       std::move(settings));
}

void ask_for_gradients(json& question, const JointShape& shape) {
    question["training"] = {{"tangents", shape.tangents}, {"gradients", shape.gradients}};
}

bool is_asked_to_train(const BackendOptions& options, const WorkerHello& hello) {
    const auto given = options.find(kTraining);
    if (!hello.trains || given == options.end()) return false;
    expect_known(kTraining, given->second, {"off", "on"});
    return given->second == "on";
}

bool reads_onnx(const WorkerHello& said, const BackendOptions& options) {
    return said.onnx && wants_onnx(options, said.onnx);
}

}  // namespace whittle
