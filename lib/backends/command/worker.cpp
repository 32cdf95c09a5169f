#include "backends/command/worker.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

#include "backends/command/exchange.h"
#include "backends/command/optimized_model.h"
#include "backends/command/repro_code.h"
#include "backends/command/short_programs.h"
#include "backends/command/worker_pools.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/words.h"
#include "formats/json_text.h"
#include "frontends/onnx/copy.h"
#include "graph/abilities.h"
#include "graph/backend_options.h"
#include "graph/joint_forward.h"
#include "graph/onnx_file.h"
#include "ops/core/memory.h"
#include "printers/short_program.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

using nlohmann::json;

constexpr std::string_view kWorkerPrefix = "worker:";
constexpr const char *kFormat = "format", *kTraining = "training";
constexpr const char *kOnnxModel = "model.onnx", *kOptimizedModel = "optimized.onnx";

std::vector<std::string> names_of(const WorkerHello& hello, const BackendOptions& given) {
    std::vector<std::string> names = {kFormat, "disable", "pass-limit"};
    if (!hello.releases.empty()) names.emplace_back(kRelease);
    if (hello.trains) names.emplace_back(kTraining);
    for (const auto& [name, option] : hello.options) names.push_back(name);
    for (const auto& [name, value] : given)
        if (hello.takes_any_option || hello.option(name)) names.push_back(name);
    return names;
}

/// The options as the worker is told them: "off", "most", "options", where there are some. Throws Error for what it
/// does not have; what it does not know at all is left out.
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

/// What the worker is asked about a folder in which model and inputs are.
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

/// The same of a forward graph and its gradients. The worker gets the inputs and, behind them, the tangents.
void ask_for_gradients(json& question, const JointShape& shape) {
    question["training"] = {{"tangents", shape.tangents}, {"gradients", shape.gradients}};
}

bool is_asked_to_train(const BackendOptions& options, const WorkerHello& hello) {
    const auto given = options.find(kTraining);
    if (!hello.trains || given == options.end()) return false;
    expect_known(kTraining, given->second, {"off", "on"});
    return given->second == "on";
}

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

bool reads_onnx(const WorkerHello& said, const BackendOptions& options) {
    return said.onnx && wants_onnx(options, said.onnx);
}

/// What a compiler did to a graph: of each pass a text for each application.
using Applied = std::map<std::string, std::vector<std::string>>;

// ---- a query --------------------------------------------------------------------------------------------------------

class WorkerQuery final : public Apart::Query, public TakesOnnxFile, public OwnGradients {
  public:
    WorkerQuery(WorkerPool& pool, std::string name, const BackendOptions& options, const ProcessOptions& limits)
        : pool_(pool), name_(std::move(name)), limits_(limits), held_(pool.take(limits)) {
        settings_ = settings_of(options, held_.worker->hello());
    }
    ~WorkerQuery() override { pool_.give_back(std::move(held_)); }

    std::string name() const override { return name_; }
    std::string description() const override { return "a query of " + name_; }
    const std::optional<Apart::Ended>& ended() const override { return ended_; }
    /// The applications of passes, of those that the worker counts.
    const Applied& applied() const { return applied_; }

    CompileResult compile(const Graph& graph, const BackendOptions& options) override {
        return compile(graph, graph.outputs().size(), options);
    }

    bool computes_gradients(const BackendOptions& options) override {
        return is_asked_to_train(options, held_.worker->hello());
    }
    CompileResult compile_joint(const Graph& joint, const JointShape& shape, const BackendOptions& options) override {
        CompileResult compiled = compile(forward_of(joint, shape), shape.outputs + shape.gradients.size(), options);
        if (auto* const run = std::get_if<std::unique_ptr<Executable>>(&compiled))
            ask_for_gradients(static_cast<Run&>(**run).question, shape);
        return compiled;
    }

    bool takes_file(const BackendOptions& options) override { return reads_onnx(held_.worker->hello(), options); }

    CompileResult compile_file(const OnnxFile& file, const BackendOptions&) override {
        auto run = std::make_unique<Run>(*this, pool_.new_folder(), file.outputs.size());
        if (auto failure = failure_to_write([&] { copy_onnx(file.model, run->folder / kOnnxModel, &pool_.weights()); }))
            return std::move(*failure);
        run->question = question_of(file.inputs, file.outputs, run->folder.string(), true, settings_);
        return run;
    }

    /// Of the model that the worker makes of the graph: see WritesOptimized.
    std::variant<std::unique_ptr<OptimizedModel>, BackendFailure> optimized(const Graph& graph,
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

  private:
    CompileResult compile(const Graph& graph, std::size_t outputs, const BackendOptions& options) {
        const bool onnx = wants_onnx(options, held_.worker->hello().onnx);
        auto run = std::make_unique<Run>(*this, pool_.new_folder(), outputs);
        ModelNames names;
        auto failure = failure_to_write([&] {
            names = write_model(graph, onnx, run->folder,
                                held_.worker->hello().external_data ? &pool_.weights() : nullptr, &pool_.tensors());
        });
        if (failure) return std::move(*failure);
        run->question = question_of(graph, names, run->folder.string(), onnx, settings_);
        return run;
    }

    /// A graph in a folder of its own: a forward and a backward graph may be compiled before either runs.
    struct Run final : Executable, TimesRuns {
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

    /// Adds the "run_seconds" that a worker tells. A failure where it was asked for them and tells none.
    static std::optional<BackendFailure> add_seconds(const json& said, std::vector<double>& seconds) {
        const auto told = said.find("run_seconds");
        const auto is_time = [](const json& number) { return number.is_number() && number.get<double>() > 0; };
        if (told == said.end() || !told->is_array() || told->empty() || !std::ranges::all_of(*told, is_time))
            return BackendFailure{
                .stage = "run", .message = "the worker cannot measure run times (timed_runs)", .unsupported = true};
        for (const json& number : *told) seconds.push_back(number.get<double>());
        return std::nullopt;
    }

    RunResult ask(const Run& run, std::span<const Tensor> inputs, const json& question,
                  std::vector<double>* seconds = nullptr) {
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
    std::variant<json, BackendFailure> answer_to(const Run& run, const json& question) {
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
            return BackendFailure{
                stage_, {}, std::string("the worker answered with a bad \"applied\": ") + error.what()};
        }
        if (said.contains("error")) return answered_failure(said, stage_);
        return std::move(said);
    }

    static constexpr std::chrono::hours kLongest{24};
    static constexpr const char* kOutputs = "outputs.safetensors";

    WorkerPool& pool_;
    const std::string name_;
    const ProcessOptions limits_;
    WorkerPool::Held held_;
    json settings_;
    Applied applied_;
    std::string stage_;
    std::optional<Apart::Ended> ended_;
};

// ---- the backend ----------------------------------------------------------------------------------------------------

class WorkerBackend final : public Backend,
                            public Apart,
                            public Versioned,
                            public Releases,
                            public Switchable,
                            public Optioned,
                            public Emitter,
                            public Tracked,
                            public TakesOnnxFile,
                            public AsksByLine,
                            public OwnGradients,
                            public WritesOptimized,
                            public ForeignOps {
  public:
    WorkerBackend(std::string name, std::string description, const std::vector<std::string>& argv,
                  const std::vector<std::string>& arguments)
        : name_(std::move(name)), description_(std::move(description)), pools_(argv, arguments) {
        expect_program("worker:", shell_quote(argv), argv);
    }

    std::string name() const override { return name_; }
    std::string description() const override { return description_; }

    std::unique_ptr<Query> query(const BackendOptions& options, const ProcessOptions& limits) override {
        {
            const std::lock_guard lock(mutex_);
            limits_ = limits;
        }
        return std::make_unique<WorkerQuery>(pools_.of(options), name_, options, limits);
    }
    std::string version() override { return pools_.any_hello().version; }
    std::optional<Tracker> tracker() override {
        const KnownApi* const api = known_api(pools_.any_hello().api);
        return api ? std::optional(Tracker{api->project, api->issues}) : std::nullopt;
    }
    std::vector<std::string> option_names(const BackendOptions& given) override {
        std::vector<std::string> names = names_of(pools_.hello(given), given);
        names.insert(names.end(), pools_.arguments().begin(), pools_.arguments().end());
        return names;
    }
    void check(const BackendOptions& options) override {
        const WorkerHello said = pools_.hello(options);
        wants_onnx(options, said.onnx);
        is_asked_to_train(options, said);
        settings_of(options, said);
    }

    std::vector<std::string> releases() override { return pools_.any_hello().releases; }
    std::string release_of(const BackendOptions& options) override { return pools_.hello(options).release; }
    BackendOptions in_release(BackendOptions options, const std::string& release) const override {
        options[kRelease] = release;
        return options;
    }
    std::string version_in(const BackendOptions& options) override { return pools_.hello(options).version; }

    /// For who isolates nothing: every run is a query.
    CompileResult compile(const Graph& graph, const BackendOptions& options) override {
        return std::make_unique<Runs>(*this, options,
                                      [graph, options](Query& query) { return query.compile(graph, options); });
    }
    bool computes_gradients(const BackendOptions& options) override {
        return options.contains(kTraining) && is_asked_to_train(options, pools_.hello(options));
    }
    CompileResult compile_joint(const Graph& joint, const JointShape& shape, const BackendOptions& options) override {
        return std::make_unique<Runs>(*this, options, [joint, shape, options](Query& query) {
            return offered<OwnGradients>(query)->compile_joint(joint, shape, options);
        });
    }
    bool takes_file(const BackendOptions& options) override { return reads_onnx(pools_.hello(options), options); }
    CompileResult compile_file(const OnnxFile& file, const BackendOptions& options) override {
        return std::make_unique<Runs>(*this, options, [file, options](Query& query) {
            return offered<TakesOnnxFile>(query)->compile_file(file, options);
        });
    }

    bool writes_optimized(const BackendOptions& options) override {
        return takes_file(options) && pools_.hello(options).optimized;
    }
    std::variant<std::unique_ptr<OptimizedModel>, BackendFailure> optimized(const Graph& graph,
                                                                            const BackendOptions& options,
                                                                            const fs::path& folder) override {
        return static_cast<WorkerQuery&>(*query(options, last_limits())).optimized(graph, folder);
    }
    BackendOptions as_they_are(BackendOptions options) override {
        const WorkerHello hello = pools_.hello(options);
        for (const auto& [level, most] : hello.optimized.value()) options = limited_to(std::move(options), level, most);
        return options;
    }

    std::unique_ptr<Inspection> inspect(const Graph& graph, const BackendOptions& options) override {
        const WorkerHello said = pools_.hello(options);
        const json settings = settings_of(options, said), off = settings.value("off", json::array()),
                   limits = settings.value("most", json::object());
        auto look = std::make_unique<Look>();
        look->found.directive_is = said.switch_is;
        for (const std::string& name : said.switches)
            if (std::find(off.begin(), off.end(), name) == off.end()) look->found.directives.push_back({name});
        const Applied applied = said.counted.empty() ? Applied() : applications(graph, options);
        for (const Limitable& level : said.levels) {
            Pass pass{level.name, limits.value(level.name, level.most)};
            if (!applied.empty() && said.counted.contains(level.name)) {
                const auto found = applied.find(level.name);
                if (found != applied.end()) pass.each = found->second;
                pass.applications = std::min(pass.applications, static_cast<int>(pass.each.size()));
            }
            look->found.passes.push_back(std::move(pass));
        }
        return look;
    }
    BackendOptions without(BackendOptions options, const std::vector<std::string>& directives) const override {
        return switched_off(std::move(options), directives);
    }
    BackendOptions limited(BackendOptions options, const std::string& pass, int most) const override {
        return limited_to(std::move(options), pass, most);
    }

    AskedByLine asked_by_line(const Graph& graph, const BackendOptions& options, const fs::path& folder) override {
        WorkerPool& pool = pools_.of(options);
        const WorkerHello said = pool.hello();
        const bool onnx = wants_onnx(options, said.onnx);
        const ModelNames names = write_model(graph, onnx, folder);
        write_inputs(graph.failure->inputs, folder);
        json question = question_of(graph, names, "{}", onnx, settings_of(options, said));
        question["id"] = 1;
        return {pool.argv(), question.dump()};
    }

    SuspectCode emit(const EmitRequest& request) override {
        const Failure& failure = *request.graph.failure;
        WorkerPool& pool = pools_.of(failure.options);
        const WorkerHello said = pool.hello();
        const bool onnx = wants_onnx(failure.options, said.onnx);
        const TempDir folder("whittle-repro");
        const Graph asked = request.gradients ? forward_of(request.graph, *request.gradients) : request.graph;
        const ModelNames names = write_model(asked, onnx, folder.path());
        write_inputs(failure.inputs, folder.path());
        const auto text = [&](const BackendOptions& options) {
            json question = question_of(asked, names, "{}", onnx, settings_of(options, said));
            if (request.gradients) ask_for_gradients(question, *request.gradients);
            question["id"] = 1;
            return question.dump() + '\n';
        };
        WorkerQuestion question{text(failure.options), {}};
        if (failure.culprit && failure.culprit->component == "switch")
            question.text_without = text(without(failure.options, {failure.culprit->directive}));
        SuspectCode code = worker_code(request, pool.argv(), folder.path(), question);
        code.companions.insert(code.companions.end(), said.files.begin(), said.files.end());
        code.header = name_ + ", version " + said.version;
        if (!name_.starts_with(kWorkerPrefix)) code.spec_beside.clear();  // found by its name everywhere
        return code;
    }

    std::optional<ReproProgram> short_program(const ShortRequest& request, std::string& why_not) override {
        const Failure& failure = *request.graph.failure;
        WorkerPool& pool = pools_.of(failure.options);
        const WorkerHello said = pool.hello();
        if (const KnownApi* const api = known_api(said.api)) return api->write(request, said, why_not);
        const TempDir folder("whittle-repro");
        Scripted scripted{.name = name_, .words = pool.argv(), .files = {}, .version = said.version};
        scripted.companions.assign(said.files.begin(), said.files.end());
        if (request.graph.subgraphs.empty()) {
            const ShortGraph shown = short_graph(request, OutputNames::op);
            const bool onnx = wants_onnx(failure.options, said.onnx);
            const ModelNames names = write_model(shown.graph, onnx, folder.path());
            write_inputs(failure.inputs, folder.path());
            const auto asked = [&](const BackendOptions& options) {
                json question = question_of(shown.graph, names, "{}", onnx, settings_of(options, said));
                if (request.gradients)
                    ask_for_gradients(question,
                                      {request.gradients->outputs, request.gradients->tangents, shown.gradients});
                question["id"] = 1;
                return question.dump() + '\n';
            };
            scripted.files = files_of(folder.path());
            scripted.question = asked(failure.options);
            scripted.off = request.blame.off;
            if (!scripted.off.empty()) scripted.question_without = asked(without(failure.options, {scripted.off}));
        }
        return script_program(request, scripted, why_not);
    }

  private:
    /// How passes are applied to the graph, of one query; nothing where no answer says so. What a graph writes is made
    /// functional before the compiler gets it, so that passes are applied otherwise.
    Applied applications(const Graph& graph, const BackendOptions& options) {
        if (!graph.failure || graph.failure->inputs.size() != graph.placeholders().size() || has_writes(graph))
            return {};
        if (graph.failure->signature.at_gradients() && computes_gradients(options)) return {};  // of another question
        const std::unique_ptr<Query> query = this->query(options, last_limits());
        CompileResult compiled = query->compile(graph, options);
        if (auto* const executable = std::get_if<std::unique_ptr<Executable>>(&compiled))
            (*executable)->run(graph.failure->inputs);
        const Applied& applied = static_cast<const WorkerQuery&>(*query).applied();
        for (const auto& [pass, names] : applied)
            for (std::size_t i = 0; i < names.size(); i++)
                log_info(LogChannel::backend, pass + ", application " + std::to_string(i + 1) + ": " + names[i]);
        return applied;
    }
    ProcessOptions last_limits() {
        const std::lock_guard lock(mutex_);
        return limits_;
    }

    struct Look final : Inspection {
        const Parts& parts() const override { return found; }
        Parts found;
    };
    struct Runs final : Executable {
        using Compile = std::function<CompileResult(Query&)>;
        Runs(WorkerBackend& backend, BackendOptions options, Compile compile)
            : backend(backend), options(std::move(options)), compile(std::move(compile)) {}
        RunResult run(std::span<const Tensor> inputs) override {
            const auto query = backend.query(options, {});
            CompileResult compiled = compile(*query);
            if (auto* failure = std::get_if<BackendFailure>(&compiled)) return std::move(*failure);
            return std::get<std::unique_ptr<Executable>>(compiled)->run(inputs);
        }
        WorkerBackend& backend;
        const BackendOptions options;
        const Compile compile;
    };

    const std::string name_, description_;
    WorkerPools pools_;
    std::mutex mutex_;
    ProcessOptions limits_;  ///< of the last query
};

}  // namespace

std::unique_ptr<Backend> make_worker_backend(const std::string& name, const std::string& description,
                                             const std::vector<std::string>& argv,
                                             const std::vector<std::string>& arguments) {
    return std::make_unique<WorkerBackend>(name, description, argv, arguments);
}

}  // namespace whittle

/// What the registry looks for in this library.
extern "C" whittle::Backend* whittle_make_worker_backend(const std::string& name, const std::string& description,
                                                         const std::vector<std::string>& argv,
                                                         const std::vector<std::string>& arguments) {
    return whittle::make_worker_backend(name, description, argv, arguments).release();
}
