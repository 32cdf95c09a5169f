#include "backends/command/worker_query.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "backends/command/exchange.h"
#include "backends/command/optimized_model.h"
#include "backends/command/worker_question.h"
#include "base/error.h"
#include "base/log.h"
#include "frontends/onnx/copy.h"
#include "graph/joint_forward.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

using nlohmann::json;

constexpr const char* kOptimizedModel = "optimized.onnx";
constexpr const char* kOutputs = "outputs.safetensors";
constexpr std::chrono::hours kLongest{24};

/// The worker's own account of a failure.
BackendFailure answered_failure(const json& answer, const std::string& stage) {
    const auto text = [&](const char* key, const std::string& otherwise) {
        const auto found = answer.find(key);
        return found != answer.end() && found->is_string() ? found->get<std::string>() : otherwise;
    };
    BackendFailure failure{.stage = text("stage", stage), .op = text("op", ""), .message = text("error", "")};
    if (failure.message.empty()) failure.message = "failed without a message";
    if (failure.stage != "compile" && failure.stage != "run") {
        failure.message += "; found stage '" + failure.stage + "', expected 'compile' or 'run'";
        failure.stage = stage;
    }
    if (const auto found = answer.find("unsupported"); found != answer.end() && found->is_boolean())
        failure.unsupported = found->get<bool>();
    return failure;
}

/// Adds the "run_seconds" that a worker tells. A failure where it was asked for them and tells none.
std::optional<BackendFailure> add_seconds(const json& said, std::vector<double>& seconds) {
    const auto told = said.find("run_seconds");
    const auto is_time = [](const json& number) { return number.is_number() && number.get<double>() > 0; };
    if (told == said.end() || !told->is_array() || told->empty() || !std::ranges::all_of(*told, is_time))
        return BackendFailure{
            .stage = "run",
            .message =
                "the worker does not measure run times: found no list of positive numbers as \"run_seconds\" in "
                "the answer to a query with \"timed_runs\"",
            .unsupported = true};
    for (const json& number : *told) seconds.push_back(number.get<double>());
    return std::nullopt;
}

}  // namespace

/// A graph in a folder of its own: a forward and a backward graph may be compiled before either runs.
struct WorkerQuery::Run final : Executable, TimesRuns {
    Run(WorkerQuery& query, fs::path folder, std::size_t outputs)
        : query(query), folder(std::move(folder)), outputs(outputs) {}
    ~Run() override {
        std::error_code ignored;
        fs::remove_all(folder, ignored);
    }
    RunResult run(std::span<const Tensor> inputs) override { return query.ask(*this, inputs, question); }
    std::optional<BackendFailure> time(std::span<const Tensor> inputs, int runs,
                                       std::vector<double>& seconds) override {
        json timed = question;
        timed["timed_runs"] = runs;
        RunResult result = query.ask(*this, inputs, timed, &seconds);
        auto* const failure = std::get_if<BackendFailure>(&result);
        return failure ? std::optional(std::move(*failure)) : std::nullopt;
    }
    WorkerQuery& query;
    const fs::path folder;
    const std::size_t outputs;
    json question = {};
};

WorkerQuery::WorkerQuery(WorkerPool& pool, std::string name, const BackendOptions& options,
                         const ProcessOptions& limits)
    : pool_(pool), name_(std::move(name)), limits_(limits), held_(pool.take(limits)) {
    settings_ = settings_of(options, held_.worker->hello());
}

CompileResult WorkerQuery::compile(const Graph& graph, const BackendOptions& options) {
    return compile(graph, graph.outputs().size(), options);
}

bool WorkerQuery::computes_gradients(const BackendOptions& options) {
    return is_asked_to_train(options, held_.worker->hello());
}
CompileResult WorkerQuery::compile_joint(const Graph& joint, const JointShape& shape, const BackendOptions& options) {
    CompileResult compiled = compile(forward_of(joint, shape), shape.outputs + shape.gradients.size(), options);
    if (auto* const run = std::get_if<std::unique_ptr<Executable>>(&compiled))
        ask_for_gradients(static_cast<Run&>(**run).question, shape);
    return compiled;
}

bool WorkerQuery::takes_file(const BackendOptions& options) { return reads_onnx(held_.worker->hello(), options); }

CompileResult WorkerQuery::compile_file(const OnnxFile& file, const BackendOptions&) {
    auto run = std::make_unique<Run>(*this, pool_.new_folder(), file.outputs.size());
    if (auto failure = failure_to_write([&] { copy_onnx(file.model, run->folder / kOnnxModel, &pool_.weights()); }))
        return std::move(*failure);
    run->question = question_of(file.inputs, file.outputs, run->folder.string(), true, settings_);
    return run;
}

std::variant<std::unique_ptr<OptimizedModel>, BackendFailure> WorkerQuery::optimized(const Graph& graph,
                                                                                     const fs::path& folder) {
    const Run run(*this, pool_.new_folder(), 0);
    ModelNames names;
    if (auto failure = failure_to_write([&] { names = write_model(graph, true, run.folder); })) return *failure;
    json question = question_of(graph, names, run.folder.string(), true, settings_);
    question["optimized"] = kOptimizedModel;
    const std::variant<json, BackendFailure> answer = answer_to(run, question);
    if (const auto* failure = std::get_if<BackendFailure>(&answer)) return *failure;
    return optimized_model(graph, names, run.folder / kOptimizedModel, folder);
}

CompileResult WorkerQuery::compile(const Graph& graph, std::size_t outputs, const BackendOptions& options) {
    const bool onnx = wants_onnx(options, held_.worker->hello().onnx);
    auto run = std::make_unique<Run>(*this, pool_.new_folder(), outputs);
    ModelNames names;
    auto failure = failure_to_write([&] {
        names = write_model(graph, onnx, run->folder, held_.worker->hello().external_data ? &pool_.weights() : nullptr,
                            &pool_.tensors());
    });
    if (failure) return std::move(*failure);
    run->question = question_of(graph, names, run->folder.string(), onnx, settings_);
    return run;
}

RunResult WorkerQuery::ask(const Run& run, std::span<const Tensor> inputs, const json& question,
                           std::vector<double>* seconds) {
    const fs::path outputs = run.folder / kOutputs;
    write_inputs(inputs, run.folder);
    const std::variant<json, BackendFailure> answer = answer_to(run, question);
    if (const auto* failure = std::get_if<BackendFailure>(&answer)) return *failure;
    if (seconds)
        if (auto failure = add_seconds(std::get<json>(answer), *seconds)) return std::move(*failure);
    if (!fs::exists(outputs)) return BackendFailure{"run", {}, "succeeded but wrote no outputs.safetensors"};
    return read_outputs(outputs, run.outputs);
}

/// What it says that is no failure.
std::variant<json, BackendFailure> WorkerQuery::answer_to(const Run& run, const json& question) {
    const fs::path outputs = run.folder / kOutputs;
    fs::remove(outputs);
    const bool fresh = held_.worker->fresh();
    const auto once = [&] {
        stage_ = "compile";
        return held_.worker->ask(question, limits_.timeout.value_or(kLongest), stage_);
    };
    WorkerProcess::Answer answer = once();
    if (!std::holds_alternative<json>(answer) && !fresh) {
        log_info(LogChannel::backend, name_ + ": the worker ended; a new worker gets the same query");
        fs::remove(outputs);
        try {
            held_ = {};
            held_ = pool_.take_fresh(limits_);
            answer = once();
        } catch (const Error& error) {  // says nothing of the graph
            ended_.emplace().process.ended_from_outside = true;
            ended_->process.err = error.what();
            return BackendFailure{stage_, {}, error.what()};
        }
    }
    if (auto* ended = std::get_if<Service::Ended>(&answer)) {
        ended_ = {std::move(ended->process), stage_};
        return BackendFailure{stage_, {}, "the worker " + ending_of(ended_->process)};
    }
    if (const auto* broken = std::get_if<WorkerProcess::Broken>(&answer))
        return BackendFailure{stage_, {}, "the worker " + broken->how};
    json& said = std::get<json>(answer);
    try {
        applied_ = said.value("applied", applied_);
    } catch (const json::exception& error) {
        return BackendFailure{stage_, {}, std::string("the worker answered with a bad \"applied\": ") + error.what()};
    }
    if (said.contains("error")) return answered_failure(said, stage_);
    return std::move(said);
}

}  // namespace whittle
