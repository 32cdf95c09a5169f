#include "replay/profile.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "base/seconds.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "compile/compile.h"
#include "compile/observer.h"
#include "expr/cost.h"
#include "formats/fields.h"
#include "formats/json_text.h"
#include "formats/shared_fields.h"
#include "graph/abilities.h"
#include "graph/run_observer.h"
#include "ops/aten/random.h"
#include "passes/liveness.h"
#include "passes/no_grad.h"

namespace whittle {
namespace {

constexpr double kRunSeconds = 0.3;  // for all measured runs of a graph
constexpr int kMostRuns = 50, kLeastRuns = 3;
constexpr std::size_t kMostText = 64 << 10;  // of one text of a kernel
constexpr std::size_t kMostTexts = 8 << 20;  // of all kernels of a graph
constexpr std::size_t kMostAlive = 50;       // values named at the peak

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
    return values[values.size() / 2];
}

// ---- what the compilation shows

/// The node that an origin's line is about: "%conv = aten.…".
std::string node_of(const expr::Stage& stage) {
    if (!stage.origin.starts_with('%')) return {};
    return stage.origin.substr(1, stage.origin.find(' ') - 1);
}

/// Gathers kernels while a compilation makes them.
class Kernels final : public program::CompileObserver {
  public:
    explicit Kernels(bool code) : code_(code) {}

    void made(program::Stage, const Graph&) override {}
    void generated(const program::Kernel&, const std::string&) override {}
    bool wants_code() const override { return code_; }

    void planned(const program::Plan& plan, const program::SourceNames& sources) override {
        first_ = all.size();  // of several plans, one for each piece of a graph with control flow
        for (const program::Kernel& kernel : plan.kernels) all.push_back(told(plan, kernel, sources));
    }

    void compiled(std::size_t of, const program::KernelTexts& texts) override {
        KernelProfile& kernel = all.at(first_ + of);
        if (texts.code_of != of) kernel.code_of = all.at(first_ + texts.code_of).name;
        kernel.loop_nest = bounded(texts.loop_nest, kernel);
        kernel.output_code = bounded(texts.output_code, kernel);
        kernel.assembly = bounded(texts.assembly, kernel);
    }

    std::vector<KernelProfile> all;

  private:
    static KernelProfile told(const program::Plan& plan, const program::Kernel& kernel,
                              const program::SourceNames& sources) {
        const expr::Cost cost = expr::cost(kernel.group);
        KernelProfile result{
            .name = kernel.group.name, .graph = plan.graph.name, .flops = cost.flops, .bytes = cost.bytes};
        for (const NodeId id : kernel.nodes) add(result.nodes, sources.at(static_cast<std::size_t>(id)));
        for (const expr::Stage& stage : kernel.group.stages)
            result.stages.push_back({.name = stage.name,
                                     .dtype = stage.dtype,
                                     .sizes = stage.sizes(),
                                     .updates = static_cast<std::int64_t>(stage.updates.size())});
        for (const NodeId id : kernel.nodes)
            for (const std::size_t stage : stages_of(plan.graph, kernel, id))
                add(result.stages[stage].nodes, sources.at(static_cast<std::size_t>(id)));
        for (const expr::Directive* directive : expr::active(kernel.schedule))
            result.schedule.push_back(expr::print(*directive));
        return result;
    }

    /// That compute the call; of one that was inlined, those that compute its readers, as far as they are in the
    /// kernel.
    static std::vector<std::size_t> stages_of(const Graph& graph, const program::Kernel& kernel, NodeId call) {
        std::vector<std::size_t> found;
        const std::string& name = graph.node({call}).name;
        const auto is_output = [&](const expr::Stage& stage) {  // whatever was lowered last when it was stored
            for (std::size_t i = 0; i < kernel.outputs.size(); ++i)
                if (kernel.group.outputs[i] == stage.name) return std::optional(kernel.outputs[i].node);
            return std::optional<NodeId>();
        };
        for (std::size_t s = 0; s < kernel.group.stages.size(); ++s) {
            const expr::Stage& stage = kernel.group.stages[s];
            const std::optional<NodeId> output = is_output(stage);
            if (output ? *output == call : node_of(stage) == name) found.push_back(s);
        }
        if (!found.empty()) return found;
        for (const NodeId reader : kernel.nodes) {
            bool reads = false;
            for_each_input(graph.node({reader}),
                           [&](NodeRef ref) { reads = reads || value_of(graph, ref).node == call; });
            if (reads)
                for (const std::size_t stage : stages_of(graph, kernel, reader)) found.push_back(stage);
        }
        return found;
    }

    static void add(std::vector<std::string>& names, const std::vector<std::string>& more) {
        for (const std::string& name : more) add_once(names, name);
    }

    std::string bounded(const std::string& text, KernelProfile& kernel) {
        const std::size_t room = std::min(kMostText, kMostTexts - std::min(kMostTexts, texts_));
        if (text.size() > room) kernel.cut = true;
        std::string kept = text.size() <= room ? text : text.substr(0, text.rfind('\n', room) + 1);
        texts_ += kept.size();
        return kept;
    }

    const bool code_;
    std::size_t first_ = 0, texts_ = 0;
};

// ---- what runs show

/// Gathers times and memory of steps.
class Steps final : public RunObserver {
  public:
    void begin_run() { position_ = 0; }

    void ran(std::string_view step, double seconds, std::span<const Held> held) override {
        if (position_ == names.size()) {
            names.emplace_back(step);
            times.emplace_back();
            note_memory(held);
        }
        times.at(position_++).push_back(seconds);
    }

    std::vector<std::string> names;
    std::vector<std::vector<double>> times;
    MemoryProfile memory;

  private:
    void note_memory(std::span<const Held> held) {
        std::int64_t bytes = 0;
        for (const Held& value : held) bytes += value.bytes;
        memory.at.push_back(names.back());
        memory.bytes.push_back(bytes);
        if (bytes <= memory.peak) return;
        memory.peak = bytes;
        memory.peak_at = names.back();
        memory.alive.clear();
        for (const Held& value : held)
            if (value.bytes) memory.alive.push_back({std::string(value.value), value.bytes});
    }

    std::size_t position_ = 0;
};

void finish(MemoryProfile& memory, const Graph& graph) {
    memory.graph = graph.name;
    for (const auto& [name, attribute] : graph.attributes)
        memory.parameter_bytes += attribute.numel() * static_cast<std::int64_t>(size_of(attribute.dtype()));
    std::ranges::stable_sort(memory.alive, [](const HeldValue& a, const HeldValue& b) { return a.bytes > b.bytes; });
    if (memory.alive.size() > kMostAlive) memory.alive.resize(kMostAlive);
}

/// Throws Error with the backend's words where it fails.
std::unique_ptr<Executable> compiled(const Graph& graph, Backend& backend, const BackendOptions& options) {
    CompileResult result = program::compile(backend, graph, options);
    if (auto* executable = std::get_if<std::unique_ptr<Executable>>(&result)) return std::move(*executable);
    if (const auto* failure = std::get_if<BackendFailure>(&result)) throw Error(failure->message);
    if (const auto* request = std::get_if<BreakRequest>(&result))
        throw Error("the backend requests a graph break: " + request->reason);
    throw Error("the backend asks to skip the graph: " + std::get<SkipRequest>(result).reason);
}

void run_once(Executable& executable, std::span<const Tensor> inputs) {
    seed_random_ops(0);
    const RunResult result = executable.run(inputs);
    if (const auto* failure = std::get_if<BackendFailure>(&result)) throw Error(failure->message);
}

using Clock = std::chrono::steady_clock;

/// Runs it until the figures are good, and notes them.
void measure_runs(Executable& executable, std::span<const Tensor> inputs, Steps& steps, GraphProfile& told) {
    run_once(executable, inputs);
    std::vector<double> times;
    const auto begin = Clock::now();
    while (told.runs < kLeastRuns || (told.runs < kMostRuns && seconds_since(begin) < kRunSeconds)) {
        const auto start = Clock::now();
        run_once(executable, inputs);  // nobody looks on: that takes time
        times.push_back(seconds_since(start));
        steps.begin_run();
        const ObservingRuns observing(&steps);
        run_once(executable, inputs);
        ++told.runs;
    }
    told.seconds = median(times);
}

void note_times(std::vector<KernelProfile>& kernels, const Steps& steps, const MachineSpeed& machine) {
    std::size_t step = 0;
    for (KernelProfile& kernel : kernels) {
        if (step == steps.names.size() || steps.names[step] != kernel.name) continue;  // of a piece that did not run
        kernel.runs = static_cast<std::int64_t>(steps.times[step].size());
        kernel.seconds = median(steps.times[step++]);
        if (kernel.seconds > 0) kernel.roofline = least_seconds(machine, kernel.flops, kernel.bytes) / kernel.seconds;
    }
}

/// In the child.
Profile measured_profile(const Graph& graph, std::span<const Tensor> inputs, Backend& backend,
                         const BackendOptions& options, bool code) {
    const Timeline timeline;
    Kernels kernels(code);
    Steps steps;
    Profile result;
    GraphProfile told{.graph = graph.name};
    std::unique_ptr<Executable> executable;
    const auto begin = Clock::now();
    {
        const program::Observing observing(code ? nullptr : &kernels);
        const TimedSpan span(SpanKind::backend, backend.name(), graph.name);
        executable = compiled(graph, backend, options);
    }
    told.compile_seconds = seconds_since(begin);
    result.spans = whittle::told(timeline.spans());
    if (code) {  // what is compiled once more for its texts is no time of the compilation's
        const program::Observing observing(&kernels);
        compiled(graph, backend, options);
    }
    measure_runs(*executable, inputs, steps, told);
    if (!kernels.all.empty()) {
        result.machine = machine_speed();
        note_times(kernels.all, steps, *result.machine);
    }
    result.kernels = std::move(kernels.all);
    if (!steps.names.empty()) {
        steps.memory.how = "measured";
        finish(steps.memory, graph);
        result.memory.push_back(std::move(steps.memory));
    }
    result.graphs.push_back(std::move(told));
    return result;
}

Profile failed(const Graph& graph, const std::string& why) {
    Profile result;
    result.graphs.push_back({.graph = graph.name, .failure = as_line(why, 500)});
    return result;
}

}  // namespace

MemoryProfile memory_by_liveness(const Graph& graph) {
    const Liveness live(graph);
    MemoryProfile memory{.how = "liveness"};
    std::optional<NodeId> peak;
    for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
        if (graph.node({id}).kind != NodeKind::call) continue;
        memory.at.push_back(graph.node({id}).name);
        memory.bytes.push_back(live.bytes(id));
        if (peak && live.bytes(id) <= memory.peak) continue;
        peak = id;
        memory.peak = live.bytes(id);
        memory.peak_at = graph.node({id}).name;
    }
    if (peak)
        for (const NodeId id : live.held(*peak)) memory.alive.push_back({graph.node({id}).name, own_bytes(graph, id)});
    finish(memory, graph);
    return memory;
}

Profile profile(const Graph& graph, std::span<const Tensor> inputs, Backend& backend, const BackendOptions& options,
                const ProfileOptions& how) {
    const Graph plain = without_requires_grad(graph);
    if (WarmUp* cold = offered<WarmUp>(backend)) cold->warm_up();
    if (backend.consumes() == CompileStage::plan) machine_speed();  // once, for all children
    Apart* const apart = apart_for(backend, options);
    std::unique_ptr<Apart::Query> query;
    if (apart) query = apart->query(options, {.timeout = how.limits.timeout, .memory_limit = how.limits.memory});
    const ForkedAnswer asked = ask_forked(
        [&]() -> std::string {
            try {
                return json_of(measured_profile(plain, inputs, query ? *query : backend, options, how.code));
            } catch (const std::exception& error) {
                return json_of(failed(plain, error.what()));
            }
        },
        {.timeout = how.limits.timeout});
    const bool good = asked.process.good() && !asked.answer.empty();
    Profile result = good ? profile_of_json(asked.answer) : failed(plain, "the process " + ending_of(asked.process));
    if (result.memory.empty()) result.memory.push_back(memory_by_liveness(plain));
    return result;
}

}  // namespace whittle
