#include "repro/schedule/shrink.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "backends/halide/build_info.h"
#include "base/error.h"
#include "base/files.h"
#include "base/interrupt.h"
#include "base/parallel_runs.h"
#include "base/pattern.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "frontends/halide/capture/neutral.h"

namespace whittle::repro {

using halide_program::CapturedCall;
using halide_program::CapturedFunc;
using halide_program::CapturedPipeline;
using halide_program::Equation;
using halide_program::Node;
using halide_program::Range;

namespace {

constexpr std::size_t kAtOnce = 2, kBatch = 24;
constexpr std::chrono::seconds kBuildLimit{300};

/// Changes a pipeline to a smaller one; where another one has been applied that changes the same, nothing.
using Edit = std::function<void(CapturedPipeline&)>;

/// What is computed for the outputs.
struct Reached {
    std::vector<std::string> funcs;  ///< the outputs first
    std::vector<bool> nodes;         ///< by number
};

Reached reached(const CapturedPipeline& pipeline) {
    Reached all{.funcs = pipeline.outputs, .nodes = std::vector<bool>(pipeline.nodes.size())};
    const std::function<void(int)> use = [&](int number) {
        if (number < 0 || all.nodes[static_cast<std::size_t>(number)]) return;
        all.nodes[static_cast<std::size_t>(number)] = true;
        const Node& node = pipeline.nodes[static_cast<std::size_t>(number)];
        std::ranges::for_each(node.of, use);
        if (node.op == "call" && node.kind == "func") add_once(all.funcs, node.name);
    };
    for (std::size_t i = 0; i < all.funcs.size(); ++i) {
        const CapturedFunc* const func = pipeline.func(all.funcs[i]);
        if (!func) continue;
        for (const Equation& equation : func->definitions) {
            std::ranges::for_each(equation.arguments, use);
            std::ranges::for_each(equation.values, use);
            for (const Range& range : equation.domain) use(range.min), use(range.extent);
            use(equation.predicate);
        }
    }
    return all;
}

/// An error's text without what changes with the pipeline.
std::string kind_of(const std::string& message) {
    static const Pattern varying(R"("[^"]*"|'[^']*'|[\w.$]*[\d$.][\w.$]*)");
    return varying.replaced(message.substr(0, message.find('\n')), "…").substr(0, 60);
}

// ---- edits ----------------------------------------------------------------------------------------------------------

/// In place of what is realized now, a Func that it calls; of those that fail, the farthest.
void add_output_edits(std::vector<Edit>& edits, const CapturedPipeline& pipeline, const Reached& reached) {
    for (auto name = reached.funcs.rbegin(); name != reached.funcs.rend(); ++name) {
        const CapturedFunc* const func = pipeline.func(*name);
        if (!func || func->definitions.empty() || pipeline.outputs == std::vector<std::string>{*name}) continue;
        edits.push_back([name = *name, now = pipeline.outputs,
                         dimensions = func->definitions[0].arguments.size()](CapturedPipeline& changed) {
            constexpr std::int64_t kExtent = 8;  // of a dimension that was not realized before
            if (changed.outputs != now) return;
            changed.outputs = {name};
            changed.shapes.resize(1);
            changed.shapes[0].resize(dimensions, {0, kExtent});
        });
    }
}

/// All extents at once, then each.
void add_size_edits(std::vector<Edit>& edits, const CapturedPipeline& pipeline) {
    const auto& shape = pipeline.shapes.at(0);
    for (const std::int64_t extent : {1, 2, 4, 8, 16, 32, 64})
        if (std::ranges::all_of(shape, [&](const auto& one) { return one[1] > extent; }) && shape.size() > 1)
            edits.push_back([extent](CapturedPipeline& changed) {
                for (auto& one : changed.shapes.at(0)) one[1] = std::min(one[1], extent);
            });
    for (std::size_t i = 0; i < shape.size(); ++i)
        for (const std::int64_t extent : {1, 2, 3, 4, 8, 16, 32, 64})
            if (shape[i][1] > extent)
                edits.push_back([i, extent](CapturedPipeline& changed) {
                    auto& extents = changed.shapes.at(0);
                    if (i < extents.size()) extents[i][1] = std::min(extents[i][1], extent);
                });
}

/// The node becomes another one, everywhere.
Edit replaces(std::size_t number, const Node& node, Node by) {
    return [number, now = std::tuple(node.op, node.value, node.of), by = std::move(by)](CapturedPipeline& changed) {
        Node& one = changed.nodes.at(number);
        if (std::tie(one.op, one.value, one.of) == now) one = by;
    };
}

void add_number_edits(std::vector<Edit>& edits, std::size_t number, const Node& node) {
    if (node.op != "integer" || node.value.size() > 6) return;
    const int value = std::stoi(node.value);
    for (const int smaller : {0, 1, 2, 4, 8, 16})
        if (smaller < std::abs(value)) {
            Node by = node;
            by.value = std::to_string(smaller);
            edits.push_back(replaces(number, node, by));
        }
}

/// An expression becomes one of its operands, or 1; a number a smaller one. From the roots.
void add_definition_edits(std::vector<Edit>& edits, const CapturedPipeline& pipeline, const Reached& reached) {
    for (std::size_t i = pipeline.nodes.size(); i-- > 0;) {
        const Node& node = pipeline.nodes[i];
        if (!reached.nodes[i]) continue;
        add_number_edits(edits, i, node);
        for (const int operand : node.of)
            if (const Node& by = pipeline.nodes[static_cast<std::size_t>(operand)];
                by.type == node.type && by.op != "integer")
                edits.push_back(replaces(i, node, by));
        if (node.of.empty()) continue;
        Node one{.op = node.type.find("float") == std::string::npos ? "integer" : "float", .type = node.type};
        one.value = "1";
        edits.push_back(replaces(i, node, one));
    }
}

/// Without one of the directives, or with a Func inlined that no directive names. The last directive first: of several
/// that go, each has its place until then.
void add_schedule_edits(std::vector<Edit>& edits, const CapturedPipeline& pipeline) {
    for (std::size_t i = pipeline.schedule.size(); i-- > 0;)
        if (!pipeline.schedule[i].culprit && pipeline.schedule[i].returned.empty())
            edits.push_back([i](CapturedPipeline& changed) {
                changed.schedule.erase(changed.schedule.begin() + static_cast<std::ptrdiff_t>(i));
            });
    for (const CapturedFunc& func : pipeline.funcs) {
        const bool placed = std::ranges::any_of(pipeline.schedule, [&](const CapturedCall& call) {
            return call.culprit && call.owner == func.name &&
                   (call.name == "compute_at" || call.name.starts_with("store_"));
        });
        if (!placed && func.compute.place != "inlined" && func.definitions.size() == 1)
            edits.push_back([name = func.name](CapturedPipeline& changed) {
                changed.func(name)->compute = changed.func(name)->store = {};
            });
    }
}

std::vector<Edit> edits_of(const CapturedPipeline& pipeline) {
    const Reached funcs_and_nodes = reached(pipeline);
    std::vector<Edit> edits;
    add_output_edits(edits, pipeline, funcs_and_nodes);
    add_schedule_edits(edits, pipeline);
    add_size_edits(edits, pipeline);
    add_definition_edits(edits, pipeline, funcs_and_nodes);
    return edits;
}

// ---- the search -----------------------------------------------------------------------------------------------------

class Shrinker {
  public:
    Shrinker(CapturedPipeline pipeline, const ShrinkRequest& request)
        : pipeline_(std::move(pipeline)), request_(request), kind_(kind_of(request.message)) {}

    CapturedPipeline run() {
        adopt(pipeline_);
        while (!stopped() && improve()) {
        }
        return std::move(pipeline_);
    }

    std::size_t tried = 0;

  private:
    bool stopped() const { return interrupt_signal() || std::chrono::steady_clock::now() >= request_.end; }

    /// Applies what can be applied of the edits; true where something could.
    bool improve() {
        bool improved = false;
        std::vector<Edit> edits = edits_of(pipeline_);
        for (std::size_t begin = 0; begin < edits.size() && !stopped();) {
            const std::size_t end = std::min(edits.size(), begin + kBatch);
            std::vector<CapturedPipeline> candidates;
            for (std::size_t i = begin; i < end; ++i) candidates.push_back(changed({edits[i]}));
            const std::vector<bool> fails = ask(candidates);
            std::vector<Edit> good;
            for (std::size_t i = begin; i < end; ++i)
                if (fails[i - begin]) good.push_back(edits[i]);
            begin = end;
            if (good.empty()) continue;
            apply(good);
            improved = true;
            edits = edits_of(pipeline_);  // others than before: from the front
            begin = std::min(begin, edits.size());
        }
        return improved;
    }

    CapturedPipeline changed(const std::vector<Edit>& edits) const {
        CapturedPipeline candidate = pipeline_;
        for (const Edit& edit : edits) edit(candidate);
        return candidate;
    }

    /// As many of these as fail together, from the first: each alone does.
    void apply(const std::vector<Edit>& good) {
        std::vector<CapturedPipeline> candidates;
        for (std::size_t count = good.size(); count > 1; count = count / 2)
            candidates.push_back(changed({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(count)}));
        const std::vector<bool> fails = ask(candidates);
        const auto best = std::ranges::find(fails, true);
        adopt(best == fails.end() ? changed({good[0]}) : candidates[static_cast<std::size_t>(best - fails.begin())]);
    }

    /// What is no smaller is no candidate any more.
    void adopt(const CapturedPipeline& pipeline) {
        pipeline_ = pipeline;
        if (const std::optional<PipelineCode> now = code(pipeline_)) known_[text_of(*now)] = false;
    }

    /// Its code; nothing where it has lost a culprit.
    std::optional<PipelineCode> code(const CapturedPipeline& candidate) const {
        try {
            PipelineCode code =
                code_of(candidate, request_.values, request_.inputs, request_.program.file.stem().string());
            return code.culprits.size() == request_.culprits ? std::optional(std::move(code)) : std::nullopt;
        } catch (const Error&) {  // an external function computes its output
            return std::nullopt;
        }
    }

    static std::string text_of(const PipelineCode& code) {
        return code.inputs + code.algorithm + code.schedule + code.realize;
    }

    /// Those that fail. Of two that are the same program, one is run.
    std::vector<bool> ask(const std::vector<CapturedPipeline>& candidates) {
        std::vector<PipelineCode> codes;
        std::vector<std::string> texts;
        for (const CapturedPipeline& candidate : candidates) {
            const std::optional<PipelineCode> made = code(candidate);
            texts.push_back(made ? text_of(*made) : "");
            if (known_.emplace(texts.back(), false).second && made) codes.push_back(*made);
        }
        tried += codes.size();
        run(codes);
        std::vector<bool> fails;
        for (const std::string& text : texts) fails.push_back(known_[text]);
        return fails;
    }

    /// Where the program of all cannot be built, one of them is to blame.
    void run(std::span<const PipelineCode> codes) {
        if (codes.empty() || stopped()) return;
        const TempDir folder("whittle-shrink");
        if (!build(codes, folder.path())) {
            const std::size_t half = codes.size() / 2;
            if (half > 0) run(codes.first(half)), run(codes.subspan(half));
            return;
        }
        std::vector<ParallelRuns<bool>::Run> planned;
        for (std::size_t i = 0; i < codes.size(); ++i)
            planned.emplace_back([&, i] { return failing(folder.path(), std::to_string(i)); });
        ParallelRuns<bool> runs(std::move(planned), kAtOnce);
        for (const PipelineCode& one : codes) known_[text_of(one)] = runs.next();
    }

    bool build(std::span<const PipelineCode> codes, const std::filesystem::path& folder) const {
        write_file(folder / "candidates.cpp", candidates_program(codes, request_.program));
        for (const PipelineCode& one : codes)
            for (const PipelineCode::File& file : one.files)
                std::filesystem::copy_file(file.from, folder / file.name, std::filesystem::copy_options::skip_existing);
        std::vector<std::string> argv{"g++", "-std=c++17", "-w", "candidates.cpp", "-o", "candidates"};
        const std::vector<std::string> flags = halide::compile_flags();
        append(argv, flags);
        const ProcessResult built =
            run_process(argv, {.folder = folder, .timeout = kBuildLimit, .remove_if_killed = folder});
        return built.good();
    }

    bool failing(const std::filesystem::path& folder, const std::string& number) const {
        const auto run = [&](std::vector<std::string> argv) {
            return run_process(argv, {.folder = folder,
                                      .timeout = std::chrono::seconds(2 * request_.program.alarm),
                                      .remove_if_killed = folder});
        };
        const ProcessResult result = run({"./candidates", number});
        if (result.signal || result.timed_out || result.exit_code != 1) return false;
        if (request_.program.failure.signature.kind == "exception" && kind_of(result.out) != kind_) return false;
        const ProcessResult control = run({"./candidates", number, "control"});
        return control.good() && !control.timed_out;
    }

    CapturedPipeline pipeline_;
    const ShrinkRequest& request_;
    const std::string kind_;
    std::map<std::string, bool> known_;  ///< whether a program fails, and is smaller; by its text
};

}  // namespace

CapturedPipeline shrink(CapturedPipeline pipeline, const ShrinkRequest& request, std::size_t& tried) {
    Shrinker shrinker(std::move(pipeline), request);
    CapturedPipeline smaller = shrinker.run();
    tried += shrinker.tried;
    return smaller;
}

}  // namespace whittle::repro
