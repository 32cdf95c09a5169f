#include "backends/command/worker.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "backends/command/exchange.h"
#include "backends/command/repro_code.h"
#include "backends/command/short_programs.h"
#include "backends/command/worker_process.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/words.h"
#include "frontends/onnx/copy.h"
#include "graph/abilities.h"
#include "graph/backend_options.h"
#include "graph/foreign_ops.h"
#include "graph/json_text.h"
#include "graph/onnx_file.h"
#include "graph/releases.h"
#include "graph/short_program.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

using nlohmann::json;

constexpr std::string_view kWorkerPrefix = "worker:";
constexpr const char *kRelease = "release", *kFormat = "format";
constexpr const char* kOnnxModel = "model.onnx";

std::vector<std::string> names_of(const WorkerHello& hello, const BackendOptions& given) {
    std::vector<std::string> names = {kFormat, "disable", "pass-limit"};
    if (!hello.releases.empty()) names.emplace_back(kRelease);
    for (const auto& [name, option] : hello.options) names.push_back(name);
    if (hello.takes_any_option)
        for (const auto& [name, value] : given) names.push_back(name);
    return names;
}

/// The options as the worker is told them: "off", "most", "options", where there are some. Throws Error for what it
/// does not have; what it does not know at all is left out.
json settings_of(const BackendOptions& options, const WorkerHello& hello) {
    json settings = json::object();
    if (hello.takes_any_option) {
        for (const auto& [key, value] : options)
            if (key != kFormat && key != kRelease) settings["options"][key] = value;
        return settings;
    }
    for (const std::string& name : option_parts(options, "disable")) {
        expect_known("disable", name, hello.switches);
        settings["off"].push_back(name);
    }
    for (const OptionLimit& limit : option_limits(options, hello.levels)) settings["most"][limit.name] = limit.most;
    for (const auto& [key, value] : options) {
        const auto known = hello.options.find(key);
        if (known == hello.options.end()) continue;
        if (!known->second.one_of.empty()) expect_known(key, value, known->second.one_of);
        if (known->second.least) option_number(key, value, *known->second.least, std::numeric_limits<int>::max());
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

/// The worker's own account of a failure.
BackendFailure answered_failure(const json& answer, const std::string& stage) {
    const auto text = [&](const char* key, const std::string& otherwise) {
        const auto found = answer.find(key);
        return found != answer.end() && found->is_string() ? found->get<std::string>() : otherwise;
    };
    BackendFailure failure{.stage = text("stage", stage), .op = text("op", ""), .message = text("error", "")};
    if (failure.message.empty()) failure.message = "gave no reason";
    if (failure.stage != "compile" && failure.stage != "run") {
        failure.message += "; found stage '" + failure.stage + "', expected 'compile' or 'run'";
        failure.stage = stage;
    }
    if (const auto found = answer.find("unsupported"); found != answer.end() && found->is_boolean())
        failure.unsupported = found->get<bool>();
    return failure;
}

// ---- releases -------------------------------------------------------------------------------------------------------

/// The workers of a backend: each release of the compiler has processes of its own, which were started as that one. May
/// be asked from several threads.
class WorkerPools {
  public:
    explicit WorkerPools(const std::vector<std::string>& argv) : usual_(argv) {}

    /// Of the release that the options choose. Throws Error for one that is not there.
    WorkerPool& of(const BackendOptions& options) {
        const auto chosen = options.find(kRelease);
        if (chosen == options.end()) return usual_;
        const WorkerHello said = usual_hello();
        if (said.options.contains(kRelease)) return usual_;  // an option of its own
        if (std::ranges::find(said.releases, chosen->second) == said.releases.end())
            throw no_release(chosen->second, said.releases, said.install);
        if (chosen->second == said.release) return usual_;
        const auto [pool, checked] = other(chosen->second);
        if (!checked) expect_release(*pool, chosen->second);
        return *pool;
    }

    WorkerHello hello(const BackendOptions& options = {}) { return of(options).hello(); }

  private:
    struct Other {
        std::unique_ptr<WorkerPool> pool;
        bool checked = false;  ///< it says that it is the release which it was started as
    };

    WorkerHello usual_hello() {
        {
            const std::lock_guard lock(mutex_);
            if (said_) return *said_;
        }
        WorkerHello said = usual_.hello();  // starts it, unlocked
        const std::lock_guard lock(mutex_);
        said_ = said;
        return said;
    }

    std::pair<WorkerPool*, bool> other(const std::string& release) {
        const std::lock_guard lock(mutex_);
        Other& other = others_[release];
        if (!other.pool) {
            std::vector<std::string> argv = usual_.argv();
            argv.insert(argv.end(), {std::string("--") + kRelease, release});
            other.pool = std::make_unique<WorkerPool>(std::move(argv));
        }
        return {other.pool.get(), other.checked};
    }

    /// Who takes no such argument is another one all the same.
    void expect_release(WorkerPool& pool, const std::string& release) {
        const std::string is = pool.hello().release;
        if (is != release)
            throw Error({"backend worker " + shell_quote(pool.argv()), {}},
                        "found release '" + is + "', expected '" + release + "'");
        const std::lock_guard lock(mutex_);
        others_[release].checked = true;
    }

    WorkerPool usual_;
    std::mutex mutex_;
    std::optional<WorkerHello> said_;
    std::map<std::string, Other> others_;  ///< by release
};

bool reads_onnx(const WorkerHello& said, const BackendOptions& options) {
    return said.onnx && wants_onnx(options, said.onnx);
}

// ---- a query --------------------------------------------------------------------------------------------------------

class WorkerQuery final : public Apart::Query, public TakesOnnxFile {
  public:
    WorkerQuery(WorkerPool& pool, std::string name, const BackendOptions& options, const ProcessOptions& limits)
        : pool_(pool), name_(std::move(name)), limits_(limits), held_(pool.take(limits)), folder_(pool.new_folder()) {
        settings_ = settings_of(options, held_.worker->hello());
    }
    ~WorkerQuery() override {
        pool_.give_back(std::move(held_));
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    }

    std::string name() const override { return name_; }
    std::string description() const override { return "a query of " + name_; }
    const std::optional<Apart::Ended>& ended() const override { return ended_; }

    CompileResult compile(const Graph& graph, const BackendOptions& options) override {
        const bool onnx = wants_onnx(options, held_.worker->hello().onnx);
        ModelNames names;
        auto failure = failure_to_write([&] {
            names = write_model(graph, onnx, folder_, held_.worker->hello().external_data ? &pool_.weights() : nullptr,
                                &pool_.tensors());
        });
        if (failure) return std::move(*failure);
        question_ = question_of(graph, names, folder_.string(), onnx, settings_);
        outputs_ = graph.outputs().size();
        return std::make_unique<Run>(*this);
    }

    bool takes_file(const BackendOptions& options) override { return reads_onnx(held_.worker->hello(), options); }

    CompileResult compile_file(const OnnxFile& file, const BackendOptions&) override {
        if (auto failure = failure_to_write([&] { copy_onnx(file.model, folder_ / kOnnxModel, &pool_.weights()); }))
            return std::move(*failure);
        question_ = question_of(file.inputs, file.outputs, folder_.string(), true, settings_);
        outputs_ = file.outputs.size();
        return std::make_unique<Run>(*this);
    }

  private:
    struct Run final : Executable, TimesRuns {
        explicit Run(WorkerQuery& query) : query(query) {}
        RunResult run(std::span<const Tensor> inputs) override { return query.ask(inputs, query.question_); }
        std::optional<BackendFailure> time(std::span<const Tensor> inputs, int runs,
                                           std::vector<double>& seconds) override {
            json question = query.question_;
            question["timed_runs"] = runs;
            RunResult result = query.ask(inputs, question, &seconds);
            auto* const failure = std::get_if<BackendFailure>(&result);
            return failure ? std::optional(std::move(*failure)) : std::nullopt;
        }
        WorkerQuery& query;
    };

    /// Adds the "run_seconds" that a worker tells. A failure where it was asked for them and tells none.
    static std::optional<BackendFailure> add_seconds(const json& said, std::vector<double>& seconds) {
        const auto told = said.find("run_seconds");
        const auto is_time = [](const json& number) { return number.is_number() && number.get<double>() > 0; };
        if (told == said.end() || !told->is_array() || told->empty() || !std::ranges::all_of(*told, is_time))
            return BackendFailure{.stage = "run",
                                  .message = "the worker does not take the times of runs (timed_runs)",
                                  .unsupported = true};
        for (const json& number : *told) seconds.push_back(number.get<double>());
        return std::nullopt;
    }

    RunResult ask(std::span<const Tensor> inputs, const json& question, std::vector<double>* seconds = nullptr) {
        write_inputs(inputs, folder_);
        fs::remove(folder_ / "outputs.safetensors");
        const bool fresh = held_.worker->fresh();
        const auto once = [&] {
            stage_ = "compile";
            return held_.worker->ask(question, limits_.timeout.value_or(kLongest), stage_);
        };
        WorkerProcess::Answer answer = once();
        if (!std::holds_alternative<json>(answer) && !fresh) {
            log_info(LogChannel::backend, name_ + ": the worker ended; a new worker gets the same query");
            fs::remove(folder_ / "outputs.safetensors");
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
        const json& said = std::get<json>(answer);
        if (said.contains("error")) return answered_failure(said, stage_);
        if (seconds)
            if (auto failure = add_seconds(said, *seconds)) return std::move(*failure);
        const fs::path outputs = folder_ / "outputs.safetensors";
        if (!fs::exists(outputs)) return BackendFailure{"run", {}, "succeeded but wrote no outputs.safetensors"};
        return read_outputs(outputs, outputs_);
    }

    static constexpr std::chrono::hours kLongest{24};

    WorkerPool& pool_;
    const std::string name_;
    const ProcessOptions limits_;
    WorkerPool::Held held_;
    const fs::path folder_;
    json settings_, question_;
    std::size_t outputs_ = 0;
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
                            public ForeignOps {
  public:
    WorkerBackend(std::string name, std::string description, const std::vector<std::string>& argv)
        : name_(std::move(name)), description_(std::move(description)), pools_(argv) {
        expect_program("worker:", shell_quote(argv), argv);
    }

    std::string name() const override { return name_; }
    std::string description() const override { return description_; }

    std::unique_ptr<Query> query(const BackendOptions& options, const ProcessOptions& limits) override {
        return std::make_unique<WorkerQuery>(pools_.of(options), name_, options, limits);
    }
    std::string version() override { return pools_.hello().version; }
    std::optional<Tracker> tracker() override {
        const KnownApi* const api = known_api(pools_.hello().api);
        return api ? std::optional(Tracker{api->project, api->issues}) : std::nullopt;
    }
    std::vector<std::string> option_names(const BackendOptions& given) override {
        return names_of(pools_.hello(given), given);
    }
    void check(const BackendOptions& options) override {
        const WorkerHello said = pools_.hello(options);
        wants_onnx(options, said.onnx);
        settings_of(options, said);
    }

    std::vector<std::string> releases() override { return pools_.hello().releases; }
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
    bool takes_file(const BackendOptions& options) override { return reads_onnx(pools_.hello(options), options); }
    CompileResult compile_file(const OnnxFile& file, const BackendOptions& options) override {
        return std::make_unique<Runs>(*this, options, [file, options](Query& query) {
            return offered<TakesOnnxFile>(query)->compile_file(file, options);
        });
    }

    std::unique_ptr<Inspection> inspect(const Graph&, const BackendOptions& options) override {
        const WorkerHello said = pools_.hello(options);
        const json settings = settings_of(options, said), off = settings.value("off", json::array()),
                   most = settings.value("most", json::object());
        auto look = std::make_unique<Look>();
        look->found.directive_is = said.switch_is;
        for (const std::string& name : said.switches)
            if (std::find(off.begin(), off.end(), name) == off.end()) look->found.directives.push_back({name});
        for (const Limitable& level : said.levels)
            look->found.passes.push_back({level.name, most.value(level.name, level.most)});
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
        const ModelNames names = write_model(request.graph, onnx, folder.path());
        write_inputs(failure.inputs, folder.path());
        const auto text = [&](const BackendOptions& options) {
            json question = question_of(request.graph, names, "{}", onnx, settings_of(options, said));
            question["id"] = 1;
            return question.dump() + '\n';
        };
        WorkerQuestion question{text(failure.options), {}};
        if (failure.culprit && failure.culprit->component == "switch")
            question.text_without = text(without(failure.options, {failure.culprit->directive}));
        SuspectCode code = worker_code(request, pool.argv(), folder.path(), question);
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
        if (request.graph.subgraphs.empty()) {
            const Graph graph = with_short_names(request.graph);
            const bool onnx = wants_onnx(failure.options, said.onnx);
            const ModelNames names = write_model(graph, onnx, folder.path());
            write_inputs(failure.inputs, folder.path());
            const auto asked = [&](const BackendOptions& options) {
                json question = question_of(graph, names, "{}", onnx, settings_of(options, said));
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
};

}  // namespace

std::unique_ptr<Backend> make_worker_backend(const std::string& name, const std::string& description,
                                             const std::vector<std::string>& argv) {
    return std::make_unique<WorkerBackend>(name, description, argv);
}

}  // namespace whittle

/// What the registry looks for in this library.
extern "C" whittle::Backend* whittle_make_worker_backend(const std::string& name, const std::string& description,
                                                         const std::vector<std::string>& argv) {
    return whittle::make_worker_backend(name, description, argv).release();
}
