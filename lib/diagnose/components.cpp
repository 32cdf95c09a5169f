#include "diagnose/components.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/module.h"
#include "base/number_text.h"
#include "base/seconds.h"
#include "base/words.h"
#include "diagnose/asker.h"
#include "formats/json_text.h"
#include "graph/abilities.h"
#include "graph/backend_options.h"
#include "judge/judge.h"

namespace whittle::diagnose {
namespace {

class Procedure {
  public:
    Procedure(const LoadedFrame& frame, const Suspect& suspect)
        : frame_(frame), suspect_(suspect), known_{frame.expected, frame.expected_from} {}

    ComponentVerdict run(int runs) {
        ComponentVerdict found{.name = frame_.name, .file = frame_.file.string()};
        const std::unique_ptr<Backend> backend = find_backend(suspect_.spec, suspect_.options);
        const BuiltInBackend& own = row_of(suspect_, *backend);
        Tried suspect = ask(own, suspect_.spec, suspect_.options, runs, true);
        suspect.suspect = true;
        if (own.name.empty() && component_named(suspect_.spec))
            for (const auto& [key, value] : suspect_.options) suspect.backend += " " + key + "=" + value;
        if (suspect.fails()) found.rate = suspect.rate;
        found.repeat = runs_until_passing(found.rate);
        const CompileStage consumed = consumed_by(*backend);
        for (const BuiltInBackend& tried : components()) {
            if (&tried == &own) break;
            // Of a debug backend, those before it are its neighbours, whatever it is given.
            if (own.name.empty() && tried.in_diagnosis.stage > consumed) continue;
            if (tried.in_diagnosis.stands_in && !nobody_judged_gradients(found.last())) continue;
            const int nth = static_cast<int>(found.tried.size()) + 1;
            found.tried.push_back(ask(tried, tried.name, options_in(tried.in_diagnosis.options),
                                      runs_until_passing(found.rate, nth), false));
            if (found.fails()) return found;
        }
        for (const std::string& earlier : earlier_backends(suspect_.spec)) {
            const int nth = static_cast<int>(found.tried.size()) + 1;
            found.tried.push_back(ask(components().back(), earlier, without_limits(suspect_.options),
                                      runs_until_passing(found.rate, nth), false));
            if (found.fails()) return found;
        }
        found.tried.push_back(std::move(suspect));
        return found;
    }

  private:
    /// Who differentiates makes what is functional of it first.
    static CompileStage consumed_by(const Backend& backend) {
        return std::max(backend.consumes(),
                        offered<Differentiates>(backend) ? CompileStage::functional : CompileStage::captured);
    }

    bool nobody_judged_gradients(const Tried& before) const {
        const Graph& graph = frame_.graph;
        return !before.undecided.empty() &&
               std::ranges::any_of(graph.outputs(), [&](NodeId id) { return graph.node({id}).meta().requires_grad; });
    }

    /// Whose options have it cut otherwise, or have others compile what it cuts, is not the component of its name.
    static const BuiltInBackend& row_of(const Suspect& suspect, const Backend& backend) {
        const BuiltInBackend* const named = component_named(suspect.spec);
        if (!named) return components().back();
        const Differentiates* const own = offered<Differentiates>(backend);
        const bool otherwise = own && own->cut(suspect.options) != own->cut({}) &&
                               own->cut(suspect.options) != own->cut(options_in(named->in_diagnosis.options));
        return otherwise ? components().back() : *named;
    }

    /// Runs the backend until it fails, `runs` times at most; or, to know how often it does, all `runs` that there is
    /// time for.
    Tried ask(const BuiltInBackend& component, const BackendSpec& spec, const BackendOptions& options, int runs,
              bool all) {
        constexpr double kSeconds = 5;
        Tried tried{.component = &component, .backend = spec.text(), .options = options};
        if (!component.needs.empty() && !has_module(std::string(component.needs))) {
            tried.undecided = "this Whittle was built without LibTorch";
            return tried;
        }
        const std::unique_ptr<Backend> backend = find_backend(spec, options);
        FailingCase asked = case_of(frame_, {.spec = spec,
                                             .options = options,
                                             .accuracy = suspect_.accuracy,
                                             .limits = suspect_.limits,
                                             .tier = Tier::computes});
        if (!component.name.empty()) asked.file = nullptr;
        const auto run = [&] {
            throw_if_interrupted();
            asked.given = known_;
            const Judgement said = judge(asked, *backend);
            if (known_.outputs.empty()) known_ = said.expected;  // the reference is not asked again and again
            if (said.verdict == Verdict::not_judged) return tried.undecided = said.reason, Again::otherwise;
            tried.compared = said.compared;
            if (own_gradients(*backend, options) && !said.outcome.no_gradients.empty())
                tried.undecided = "gradients: " + said.outcome.no_gradients;
            if (said.right()) return Again::right;
            if (tried.failure.empty()) {
                tried.failure = said.reason;
                tried.heading = heading_of(said.outcome);
                tried.of_gradients = said.outcome.failed_at_gradients();
            }
            return Again::fails;
        };
        const auto start = std::chrono::steady_clock::now();
        tried.rate = ask_repeatedly(runs, all, run, kSeconds);
        tried.seconds = seconds_since(start);
        return tried;
    }

    const LoadedFrame& frame_;
    const Suspect& suspect_;
    Expectation known_;
};

std::string result_text(const Tried& tried) {
    if (!tried.fails()) return tried.undecided.empty() ? "right" : "not judged: " + as_line(tried.undecided, 200);
    const auto [failed, runs] = tried.rate;
    return tried.heading +
           (failed < runs ? " (" + std::to_string(failed) + " of " + std::to_string(runs) + " runs)" : "");
}

}  // namespace

std::span<const BuiltInBackend> components() {
    static const std::vector<BuiltInBackend> all = [] {
        std::vector<BuiltInBackend> rows;
        std::ranges::copy_if(built_in_backends(), std::back_inserter(rows),
                             [](const BuiltInBackend& row) { return !row.in_diagnosis.culprit.empty(); });
        rows.push_back({.in_diagnosis = {"the backend"}});
        return rows;
    }();
    return all;
}

const BuiltInBackend* component_named(const BackendSpec& spec) {
    for (const BuiltInBackend& row : components())
        if (!row.name.empty() && BackendSpec(row.name) == spec) return &row;
    return nullptr;
}

ComponentVerdict first_failing_component(const LoadedFrame& frame, const Suspect& suspect, int runs) {
    return Procedure(frame, suspect).run(runs);
}

JudgedFrame judged_frame(const ComponentVerdict& found) {
    return {.name = found.name,
            .file = found.file,
            .verdict = found.verdict(),
            .reason = found.fails() ? found.last().failure : found.last().undecided,
            .compared = found.last().compared};
}

std::string to_text(const ComponentVerdict& found) {
    std::size_t width = 0;
    for (const Tried& tried : found.tried) width = std::max(width, tried.backend.size());
    std::string text;
    for (const Tried& tried : found.tried)
        text += "  " + pad_right(tried.backend, width) + pad_left(fixed(tried.seconds, 2), 8) + " s  " +
                result_text(tried) + "\n";
    return text;
}

nlohmann::json to_json(const ComponentVerdict& found) {
    nlohmann::json tried = nlohmann::json::array();
    for (const Tried& one : found.tried) {
        tried.push_back(
            {{"backend", one.backend}, {"runs", one.rate.runs}, {"failed", one.rate.failed}, {"seconds", one.seconds}});
        if (!one.failure.empty()) tried.back()["failure"] = one.failure;
        if (!one.undecided.empty()) tried.back()["not_judged"] = one.undecided;
    }
    nlohmann::json json = {
        {"frame", found.name}, {"file", found.file}, {"tried", tried}, {"verdict", name(found.verdict())}};
    if (found.verdict() == Verdict::not_judged) json["reason"] = found.last().undecided;
    if (!found.last().compared.empty()) json["compared"] = found.last().compared;
    if (!found.fails()) return json;
    json["guilty"] = {{"backend", found.last().backend}, {"component", found.last().culprit()}};
    json["rate"] = found.rate.value();
    json["repeat"] = found.repeat;
    return json;
}

}  // namespace whittle::diagnose
