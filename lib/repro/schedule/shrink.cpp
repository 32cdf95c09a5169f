#include "repro/schedule/shrink.h"

#include <algorithm>
#include <functional>
#include <optional>

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

/// Changes a pipeline to a smaller one.
using Edit = std::function<void(CapturedPipeline&)>;

/// An error's text without what changes with the pipeline.
std::string kind_of(const std::string& message) {
    static const Pattern varying(R"("[^"]*"|'[^']*'|[\w.$]*[\d$.][\w.$]*)");
    return varying.replaced(message.substr(0, message.find('\n')), "…").substr(0, 60);
}

// ---- edits ----------------------------------------------------------------------------------------------------------

/// A Func in place of what is realized now.
std::vector<Edit> output_edits(const CapturedPipeline& pipeline) {
    std::vector<Edit> edits;
    for (const CapturedFunc& func : pipeline.funcs) {
        if (func.definitions.empty() || pipeline.outputs == std::vector<std::string>{func.name}) continue;
        edits.push_back(
            [name = func.name, dimensions = func.definitions[0].arguments.size()](CapturedPipeline& changed) {
                constexpr std::int64_t kExtent = 8;  // of a dimension that was not realized before
                changed.outputs = {name};
                changed.shapes.resize(1);
                changed.shapes[0].resize(dimensions, {0, kExtent});
            });
    }
    return edits;
}

/// All extents at once, then each.
std::vector<Edit> size_edits(const CapturedPipeline& pipeline) {
    std::vector<Edit> edits;
    const auto& shape = pipeline.shapes.at(0);
    for (const std::int64_t extent : {1, 2, 4, 8, 16, 32, 64})
        if (std::ranges::all_of(shape, [&](const auto& one) { return one[1] > extent; }) && shape.size() > 1)
            edits.push_back([extent](CapturedPipeline& changed) {
                for (auto& one : changed.shapes.at(0)) one[1] = extent;
            });
    for (std::size_t i = 0; i < shape.size(); ++i)
        for (const std::int64_t extent : {1, 2, 3, 4, 8, 16, 32, 64})
            if (shape[i][1] > extent)
                edits.push_back([i, extent](CapturedPipeline& changed) { changed.shapes.at(0).at(i)[1] = extent; });
    return edits;
}

/// The node becomes another one, everywhere.
Edit replaces(std::size_t number, Node by) {
    return [number, by = std::move(by)](CapturedPipeline& changed) { changed.nodes.at(number) = by; };
}

void add_number_edits(std::vector<Edit>& edits, std::size_t number, const Node& node) {
    if (node.op != "integer" || node.value.size() > 6) return;
    const int value = std::stoi(node.value);
    for (const int smaller : {0, 1, 2, 4, 8, 16})
        if (smaller < std::abs(value)) {
            Node by = node;
            by.value = std::to_string(smaller);
            edits.push_back(replaces(number, by));
        }
}

/// An expression becomes one of its operands, or 1; a number a smaller one. From the roots.
std::vector<Edit> definition_edits(const CapturedPipeline& pipeline, const std::vector<bool>& used) {
    std::vector<Edit> edits;
    for (std::size_t i = pipeline.nodes.size(); i-- > 0;) {
        const Node& node = pipeline.nodes[i];
        if (!used[i]) continue;
        add_number_edits(edits, i, node);
        for (const int operand : node.of)
            if (const Node& by = pipeline.nodes[static_cast<std::size_t>(operand)];
                by.type == node.type && by.op != "integer")
                edits.push_back(replaces(i, by));
        if (node.of.empty()) continue;
        Node one{.op = node.type.find("float") == std::string::npos ? "integer" : "float", .type = node.type};
        one.value = "1";
        edits.push_back(replaces(i, one));
    }
    return edits;
}

/// Without one of the updates that no directive names, or one of the directives.
std::vector<Edit> schedule_edits(const CapturedPipeline& pipeline) {
    std::vector<Edit> edits;
    for (std::size_t i = 0; i < pipeline.schedule.size(); ++i)
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
    return edits;
}

// ---- the search -----------------------------------------------------------------------------------------------------

class Shrinker {
  public:
    Shrinker(CapturedPipeline pipeline, const ShrinkRequest& request)
        : pipeline_(std::move(pipeline)), request_(request), kind_(kind_of(request.message)) {}

    CapturedPipeline run() {
        bool changed = true;
        while (changed && !stopped()) {
            changed = false;
            changed |= improve([&] { return output_edits(pipeline_); });
            changed |= improve([&] { return schedule_edits(pipeline_); });
            changed |= improve([&] { return size_edits(pipeline_); });
            changed |= improve([&] { return definition_edits(pipeline_, used_nodes()); });
        }
        return std::move(pipeline_);
    }

    std::size_t tried = 0;

  private:
    bool stopped() const { return interrupt_signal() || std::chrono::steady_clock::now() >= request_.end; }

    /// Applies what can be applied of the edits; true where something could.
    template <class Edits>
    bool improve(const Edits& edits_of) {
        bool improved = false;
        std::vector<Edit> edits = edits_of();
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
            edits = edits_of();  // others than before: from the front
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
        pipeline_ =
            best == fails.end() ? changed({good[0]}) : candidates[static_cast<std::size_t>(best - fails.begin())];
    }

    std::vector<bool> used_nodes() const {
        std::vector<bool> used(pipeline_.nodes.size());
        std::vector<std::string> funcs = pipeline_.outputs;
        const std::function<void(int)> use = [&](int number) {
            if (number < 0 || used[static_cast<std::size_t>(number)]) return;
            used[static_cast<std::size_t>(number)] = true;
            const Node& node = pipeline_.nodes[static_cast<std::size_t>(number)];
            std::ranges::for_each(node.of, use);
            if (node.op == "call" && node.kind == "func") add_once(funcs, node.name);
        };
        for (std::size_t i = 0; i < funcs.size(); ++i) {
            const CapturedFunc* const func = pipeline_.func(funcs[i]);
            if (!func) continue;
            for (const Equation& equation : func->definitions) {
                std::ranges::for_each(equation.arguments, use);
                std::ranges::for_each(equation.values, use);
                for (const Range& range : equation.domain) use(range.min), use(range.extent);
                use(equation.predicate);
            }
        }
        return used;
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

    std::vector<bool> ask(const std::vector<CapturedPipeline>& candidates) {
        std::vector<bool> fails(candidates.size());
        std::vector<PipelineCode> codes;
        std::vector<std::size_t> numbers;
        for (std::size_t i = 0; i < candidates.size(); ++i)
            if (std::optional<PipelineCode> made = code(candidates[i])) {
                codes.push_back(*std::move(made));
                numbers.push_back(i);
            }
        if (codes.empty()) return fails;
        tried += codes.size();
        const TempDir folder("whittle-shrink");
        if (!build(codes, folder.path())) return fails;
        std::vector<ParallelRuns<bool>::Run> planned;
        for (std::size_t i = 0; i < codes.size(); ++i)
            planned.emplace_back([&, i] { return failing(folder.path(), std::to_string(i)); });
        ParallelRuns<bool> runs(std::move(planned), kAtOnce);
        for (const std::size_t number : numbers) fails[number] = runs.next();
        return fails;
    }

    bool build(const std::vector<PipelineCode>& codes, const std::filesystem::path& folder) const {
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
};

}  // namespace

CapturedPipeline shrink(CapturedPipeline pipeline, const ShrinkRequest& request, std::size_t& tried) {
    Shrinker shrinker(std::move(pipeline), request);
    CapturedPipeline smaller = shrinker.run();
    tried += shrinker.tried;
    return smaller;
}

}  // namespace whittle::repro
