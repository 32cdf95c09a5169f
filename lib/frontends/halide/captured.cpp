#include "frontends/halide/captured.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "frontends/halide/program.h"

namespace whittle::halide_program {

using nlohmann::json;

#define WHITTLE_JSON NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT
WHITTLE_JSON(Node, op, type, of, name, kind, value, index)
WHITTLE_JSON(Range, name, min, extent)
WHITTLE_JSON(Equation, arguments, values, domain, predicate)
WHITTLE_JSON(LoopLevel, place, func, loop, reduction)
WHITTLE_JSON(CapturedFunc, name, external, definitions, compute, store)
WHITTLE_JSON(Image, name, type, parameter, dimensions, file)
WHITTLE_JSON(Parameter, name, type, value)
WHITTLE_JSON(Argument, kind, name, nodes, node, entries)
#undef WHITTLE_JSON

void from_json(const json& json, CapturedCall& call) {
    call = {.directive = json.at("directive"),
            .owner = json.at("owner"),
            .name = json.at("name"),
            .arguments = json.at("arguments").get<std::vector<Argument>>(),
            .specialization = json.value("specialization", 0),
            .returned = json.value("returned", ""),
            .culprit = json.value("culprit", false)};
}

void to_json(json& json, const CapturedCall& call) {
    json = {{"directive", call.directive}, {"owner", call.owner},       {"name", call.name},
            {"arguments", call.arguments}, {"returned", call.returned}, {"specialization", call.specialization},
            {"culprit", call.culprit}};
}

void from_json(const json& json, CapturedPipeline& pipeline) {
    pipeline = {.entry = json.at("entry"),
                .target = json.at("target"),
                .outputs = json.at("outputs"),
                .shapes = json.at("shapes"),
                .funcs = json.at("funcs"),
                .images = json.at("images"),
                .parameters = json.at("parameters"),
                .nodes = json.at("nodes")};
    pipeline.usual_target = json.value("usual_target", "");
    if (json.contains("schedule")) json["schedule"].get_to(pipeline.schedule);
}

void to_json(json& json, const CapturedPipeline& pipeline) {
    json = {{"entry", pipeline.entry},   {"usual_target", pipeline.usual_target},
            {"target", pipeline.target}, {"outputs", pipeline.outputs},
            {"shapes", pipeline.shapes}, {"funcs", pipeline.funcs},
            {"images", pipeline.images}, {"parameters", pipeline.parameters},
            {"nodes", pipeline.nodes},   {"schedule", pipeline.schedule}};
}

std::string func_of(const std::string& owner) {
    return owner.substr(0, std::min(owner.find(".update("), owner.find(".dim(")));
}

bool places_func(std::string_view name) {
    constexpr std::string_view kPlaces[] = {"compute_at", "compute_inline", "store_at",
                                            "store_root", "hoist_storage",  "hoist_storage_root"};
    return std::ranges::find(kPlaces, name) != std::end(kPlaces);
}

CapturedFunc* CapturedPipeline::func(const std::string& name) {
    const auto found = std::ranges::find(funcs, name, &CapturedFunc::name);
    return found == funcs.end() ? nullptr : &*found;
}
const CapturedFunc* CapturedPipeline::func(const std::string& name) const {
    return const_cast<CapturedPipeline*>(this)->func(name);
}

namespace {

/// Directives that were not passed on to Halide.
std::set<int> dropped(const Program& program, const std::set<std::string>& left_out) {
    std::set<int> numbers;
    for (const Directive& directive : program.directives)
        if (left_out.contains(directive.key)) numbers.insert(directive.number);
    for (const Event& event : program.events)
        if (event.what == "dependent" || event.what == "refused") numbers.insert(event.of);
    return numbers;
}

/// The directives of the pipeline's Funcs and ImageParams, and of the Funcs that these make.
std::vector<CapturedCall> schedule_of(const Program& program, const CapturedPipeline& pipeline,
                                      const std::set<int>& without, const std::set<std::string>& culprits = {}) {
    std::vector<CapturedCall> schedule;
    std::set<std::string> funcs;
    for (const CapturedFunc& func : pipeline.funcs) funcs.insert(func.name);
    for (const Image& image : pipeline.images)
        if (image.parameter) funcs.insert(image.name);
    for (const Directive& directive : program.directives) {
        const CapturedCall& call = directive.captured;
        const bool estimate = directive.name.starts_with("set_estimate");
        if (call.directive == 0 || estimate || without.contains(directive.number) ||
            without.contains(call.specialization) || !funcs.contains(directive.func()))
            continue;
        schedule.push_back(call);
        schedule.back().directive = directive.number;
        schedule.back().culprit = culprits.contains(directive.key);
        if (!call.returned.empty()) funcs.insert(call.returned);
    }
    return schedule;
}

}  // namespace

CapturedPipeline scheduled(const Program& program, const CapturedRun& run) {
    CapturedPipeline pipeline = run.pipeline;
    std::set<int> without = dropped(program, {});
    for (const Directive& directive : program.directives)
        if (directive.number < run.first_directive || directive.number > run.directive)
            without.insert(directive.number);
    pipeline.schedule = schedule_of(program, pipeline, without);
    return pipeline;
}

std::optional<CapturedPipeline> captured_with(const Program& program, const std::set<std::string>& left_out,
                                              const std::set<std::string>& culprits) {
    const std::set<int> without = dropped(program, left_out);
    std::optional<CapturedPipeline> best;
    std::ptrdiff_t most = 0;
    for (const CapturedPipeline& pipeline : program.captured) {
        std::vector<CapturedCall> schedule = schedule_of(program, pipeline, without, culprits);
        const std::ptrdiff_t has = std::ranges::count_if(schedule, &CapturedCall::culprit);
        if (has <= most) continue;
        most = has;
        best = pipeline;
        best->schedule = std::move(schedule);
    }
    return best;
}

}  // namespace whittle::halide_program
