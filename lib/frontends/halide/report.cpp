// A program's schedule as people and programs read it.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/words.h"
#include "frontends/halide/program.h"

namespace whittle::halide_program {

using nlohmann::json;

namespace {

constexpr std::size_t kMostColumns = 60;  // of a directive before its place

/// "  3  f.vectorize(xi, 8)  app.cpp:12  needs 2".
std::string directives_text(const std::vector<Directive>& directives) {
    std::size_t width = 0, place = 0;
    for (const Directive& directive : directives) {
        width = std::max(width, std::min(kMostColumns, directive.text().size()));
        place = std::max(place, directive.place.text().size());
    }
    std::string text;
    for (const Directive& directive : directives) {
        std::vector<std::string> needs;
        for (const int number : directive.needs) needs.push_back(std::to_string(number));
        if (directive.at) needs.push_back(std::to_string(directive.at));
        std::string line = fmt::format("{:>4}  {:<{}}  {:<{}}", directive.number, directive.text(), width,
                                       directive.place.text(), place);
        if (!needs.empty()) line += "  needs " + join(needs);
        text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return text;
}

std::string indented(const std::string& text, const std::string& by) {
    std::string result;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) result += line.empty() ? "\n" : by + line + "\n";
    return result;
}

std::string place_text(const Func& func) {
    if (func.compute == func.store || func.store == "inlined") return "computed at " + func.compute;
    return "computed at " + func.compute + ", stored at " + func.store;
}

std::string pipeline_text(const Pipeline& pipeline) {
    std::string text = "\nPipeline of " + pipeline.entry + "\n";
    for (const Func& func : pipeline.funcs) {
        if (!func.external.empty()) {
            text += "  " + func.name + ": computed by the external function " + func.external + "\n";
            continue;
        }
        text += "  " + func.name + ", " + (func.compute == "inlined" ? "inlined" : place_text(func)) + "\n";
        for (const Definition& definition : func.definitions) {
            text += "    " + definition.text + "\n";
            for (const std::string& domain : definition.domains) text += "      " + domain + "\n";
            if (!definition.loops.empty()) text += "      loops: " + join(definition.loops) + "\n";
        }
    }
    if (!pipeline.loop_nest.empty()) text += "  Loops:\n" + indented(pipeline.loop_nest, "    ");
    return text;
}

std::string_view name(Step::Kind kind) {
    static constexpr std::string_view kNames[] = {"lowered", "compiled", "ran"};
    return kNames[static_cast<std::size_t>(kind)];
}

/// Steps of one kind and entry, in the order of their first.
struct StepSum {
    Step first;
    int count = 0;
    double seconds = 0;
};
std::vector<StepSum> sums_of(const std::vector<Step>& steps) {
    std::vector<StepSum> sums;
    for (const Step& step : steps) {
        const auto same = [&](const StepSum& sum) {
            return sum.first.kind == step.kind && sum.first.entry == step.entry;
        };
        auto found = std::ranges::find_if(sums, same);
        if (found == sums.end()) found = sums.insert(sums.end(), {.first = step});
        ++found->count;
        found->seconds += step.seconds;
    }
    return sums;
}

std::string times_text(const std::vector<Step>& steps) {
    std::string text;
    for (const StepSum& sum : sums_of(steps)) {
        const std::string what = sum.first.kind == Step::Kind::lowered ? "lowering" : sum.first.entry;
        text += fmt::format("  {:<28} {:>3} {}  {:.3f} s\n", what, sum.count, sum.count == 1 ? "time " : "times",
                            sum.seconds);
    }
    return text.empty() ? text : "\nCompiled and run\n" + text;
}

json to_json(const Pipeline& pipeline) {
    json funcs = json::array();
    for (const Func& func : pipeline.funcs) {
        json definitions = json::array();
        for (const Definition& definition : func.definitions)
            definitions.push_back(
                {{"text", definition.text}, {"loops", definition.loops}, {"domains", definition.domains}});
        json entry{{"name", func.name}, {"compute", func.compute}, {"store", func.store}, {"definitions", definitions}};
        if (!func.external.empty()) entry["external"] = func.external;
        funcs.push_back(std::move(entry));
    }
    return {{"entry", pipeline.entry}, {"funcs", funcs}, {"loop_nest", pipeline.loop_nest}};
}

}  // namespace

std::string to_text(const Program& program) {
    std::string text = "Halide: " + plural(program.directives.size(), "directive") + ", " +
                       plural(program.pipelines.size(), "pipeline") + "\n";
    if (const std::string error = program.error(); !error.empty()) text += "Halide's error: " + error + "\n";
    for (const std::string& note : program.notes) text += "note: " + note + "\n";
    if (!program.directives.empty()) text += "\nDirectives\n" + directives_text(program.directives);
    for (const Pipeline& pipeline : program.pipelines) text += pipeline_text(pipeline);
    return text + times_text(program.steps);
}

json to_json(const Directive& directive) {
    json entry{{"number", directive.number}, {"func", directive.func()}, {"owner", directive.owner},
               {"name", directive.name},     {"text", directive.text()}, {"needs", directive.needs}};
    if (directive.at) entry["at"] = directive.at;
    if (directive.place.file.empty()) {
        entry["address"] = directive.place.text();
    } else {
        entry["file"] = directive.place.file;
        entry["line"] = directive.place.line;
        if (directive.place.column) entry["column"] = directive.place.column;
        entry["source"] = directive.place.source;
    }
    return entry;
}

json to_json(const Program& program) {
    json directives = json::array(), pipelines = json::array(), steps = json::array();
    for (const Directive& directive : program.directives) directives.push_back(to_json(directive));
    for (const Pipeline& pipeline : program.pipelines) pipelines.push_back(to_json(pipeline));
    for (const StepSum& sum : sums_of(program.steps))
        steps.push_back({{"kind", name(sum.first.kind)},
                         {"entry", sum.first.entry},
                         {"count", sum.count},
                         {"seconds", sum.seconds}});
    json result{{"directives", directives}, {"pipelines", pipelines}, {"steps", steps}, {"notes", program.notes}};
    if (const std::string error = program.error(); !error.empty()) result["error"] = error;
    return result;
}

}  // namespace whittle::halide_program
