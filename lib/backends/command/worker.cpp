#include "backends/command/worker.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <mutex>
#include <utility>

#include "backends/command/exchange.h"
#include "backends/command/repro_code.h"
#include "backends/command/short_programs.h"
#include "backends/command/worker_pools.h"
#include "backends/command/worker_query.h"
#include "backends/command/worker_question.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/words.h"
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
    std::string installer() override { return pools_.any_hello().install; }
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
