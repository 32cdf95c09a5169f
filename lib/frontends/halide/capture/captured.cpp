#include "frontends/halide/capture/captured.h"

#include <unistd.h>

#include <map>
#include <mutex>
#include <set>
#include <stdexcept>

#include "frontends/halide/capture/external.h"
#include "frontends/halide/capture/npy.h"
#include "frontends/halide/capture/pipeline.h"
#include "frontends/halide/capture/text.h"

namespace whittle::halide_capture {
namespace {

using Halide::Expr;
using Halide::Internal::Definition;
using Halide::Internal::Function;

/// Names a private member: an explicit instantiation may.
template <auto TheFunction, auto TheDefinition>
struct Access {
    friend Function function_of(const Halide::Stage& stage) { return stage.*TheFunction; }
    friend Definition definition_of(const Halide::Stage& stage) { return stage.*TheDefinition; }
};
Function function_of(const Halide::Stage& stage);
Definition definition_of(const Halide::Stage& stage);
template struct Access<&Halide::Stage::function, &Halide::Stage::definition>;

struct Domain {
    std::string name;
    Expr min, extent;
};
/// A definition without its schedule.
struct Equation {
    std::vector<Expr> arguments, values;
    std::vector<Domain> domain;
    Expr predicate;
};

Equation equation_of(const Definition& definition) {
    Equation equation{definition.args(), definition.values(), {}, definition.predicate()};
    for (const auto& variable : definition.schedule().rvars())
        equation.domain.push_back({variable.var, variable.min, variable.extent});
    return equation;
}

std::vector<Equation> equations_of(const Function& function) {
    std::vector<Equation> equations;
    if (function.has_pure_definition()) equations.push_back(equation_of(function.definition()));
    for (const Definition& update : function.updates()) equations.push_back(equation_of(update));
    return equations;
}

/// Conditions of specialize() may use inputs that the definitions do not.
void add_conditions(NodeTable& table, const Function& function) {
    const auto add = [&](const Definition& definition) {
        for (const auto& one : definition.specializations()) table.number_of(one.condition);
    };
    if (function.has_pure_definition()) add(function.definition());
    for (const Definition& update : function.updates()) add(update);
}

/// Of Funcs whose definitions a directive has changed: as they were.
std::map<std::string, std::vector<Equation>>& remembered() {
    static auto* const all = new std::map<std::string, std::vector<Equation>>();
    return *all;
}

std::string number_list(NodeTable& table, const std::vector<Expr>& expressions) {
    std::vector<std::string> numbers;
    for (const Expr& expression : expressions) numbers.push_back(std::to_string(table.number_of(expression)));
    return json_list(numbers);
}

std::string json_of(NodeTable& table, const Equation& equation) {
    std::vector<std::string> domain;
    for (const Domain& one : equation.domain)
        domain.push_back("{\"name\": " + quote(one.name) + ", \"min\": " + std::to_string(table.number_of(one.min)) +
                         ", \"extent\": " + std::to_string(table.number_of(one.extent)) + "}");
    const bool always = !equation.predicate.defined() || Halide::Internal::is_const_one(equation.predicate);
    return "{\"arguments\": " + number_list(table, equation.arguments) +
           ", \"values\": " + number_list(table, equation.values) + ", \"domain\": " + json_list(domain) +
           ", \"predicate\": " + (always ? "-1" : std::to_string(table.number_of(equation.predicate))) + "}";
}

std::string json_of(const Halide::LoopLevel& level) {
    if (level.is_inlined()) return "{\"place\": \"inlined\"}";
    if (level.is_root()) return "{\"place\": \"root\"}";
    return "{\"place\": \"loop\", \"func\": " + quote(level.func()) + ", \"loop\": " + quote(level.var().name()) +
           ", \"reduction\": " + (level.var().is_rvar ? "true" : "false") + "}";
}

std::string json_of(NodeTable& table, Function function) {
    std::string text = "{\"name\": " + quote(function.name());
    if (function.has_extern_definition())
        return text + ", \"external\": " + quote(function.extern_function_name()) + "}";
    function.lock_loop_levels();  // compiling does the same
    add_conditions(table, function);
    const auto before = remembered().find(function.name());
    std::vector<std::string> definitions;
    for (const Equation& equation : before == remembered().end() ? equations_of(function) : before->second)
        definitions.push_back(json_of(table, equation));
    return text + ", \"definitions\": " + json_list(definitions) +
           ", \"compute\": " + json_of(function.schedule().compute_level()) +
           ", \"store\": " + json_of(function.schedule().store_level()) + "}";
}

// Inputs.

using ExternalValues = std::map<std::string, Halide::Buffer<>>;

/// What external functions compute. Runs are recorded as the program is used: nothing is called once more then.
ExternalValues external_data(const Halide::Pipeline& pipeline, const Asked& asked) {
    if (state().runs) return {};
    try {
        return external_values(pipeline, asked);
    } catch (const std::exception& error) {
        write_event("no-external", 0, 0, error.what());
        return {};
    }
}

/// Writes the elements where there is room for them. Returns the file's name; empty: they were not written.
std::string written(const Halide::Runtime::Buffer<void>& buffer, const char* kind, NpyOrder order) {
    constexpr std::size_t kMostBytes = std::size_t(256) << 20;
    State& s = state();
    const std::size_t bytes = buffer.number_of_elements() * static_cast<std::size_t>(buffer.type().bytes());
    if (bytes > (s.runs ? s.run_bytes : kMostBytes)) return {};
    if (s.runs) s.run_bytes -= bytes;
    return write_new_npy(s.captured, kind, *buffer.raw_buffer(), order);
}

std::string json_of(const std::string& name, halide_buffer_t* raw, bool parameter) {
    Halide::Runtime::Buffer<void> buffer(*raw);
    if (buffer.device_dirty()) buffer.copy_to_host();
    std::vector<std::string> dimensions;
    for (int i = 0; i < buffer.dimensions(); ++i)
        dimensions.push_back("[" + std::to_string(buffer.dim(i).min()) + ", " + std::to_string(buffer.dim(i).extent()) +
                             ", " + std::to_string(buffer.dim(i).stride()) + "]");
    return "{\"name\": " + quote(name) + ", \"type\": " + quote(streamed(Halide::Type(buffer.type()))) +
           ", \"parameter\": " + (parameter ? "true" : "false") + ", \"dimensions\": " + json_list(dimensions) +
           ", \"file\": " + quote(written(buffer, "input", NpyOrder::c)) + "}";
}

/// Its name and type; without a value where none is set.
std::string inputs_json(NodeTable& table, const Asked& asked, ExternalValues& external) {
    std::vector<std::string> images, parameters;
    for (auto& [name, values] : external) images.push_back(json_of(name, values.raw_buffer(), false));
    // Values may be expressions, which go into the table: not by reference.
    const Referenced referenced = table.referenced();
    for (const auto& [name, own] : referenced.parameters) {
        const Parameter parameter = asked.value ? asked.value(own) : own;
        const std::string type = ", \"type\": " + quote(streamed(parameter.type()));
        if (!parameter.is_buffer())
            parameters.push_back("{\"name\": " + quote(name) + type +
                                 ", \"value\": " + std::to_string(table.number_of(parameter.scalar_expr())) + "}");
        else if (Halide::Buffer<> buffer = parameter.buffer(); buffer.defined())
            images.push_back(json_of(name, buffer.raw_buffer(), true));
        else
            images.push_back(
                "{\"name\": " + quote(name) + type + ", \"parameter\": true, \"dimensions\": " +
                json_list(std::vector<std::string>(static_cast<std::size_t>(parameter.dimensions()), "[0, 0, 0]")) +
                ", \"file\": \"\"}");
    }
    for (const auto& [name, image] : referenced.images)
        images.push_back(json_of(name, const_cast<halide_buffer_t*>(image.raw_buffer()), false));
    return "\"images\": " + json_list(images) + ", \"parameters\": " + json_list(parameters);
}

std::string shapes_json(const std::vector<Asked::Shape>& shapes) {
    std::vector<std::string> all;
    for (const Asked::Shape& shape : shapes) {
        std::vector<std::string> dimensions;
        for (const auto& [min, extent] : shape)
            dimensions.push_back("[" + std::to_string(min) + ", " + std::to_string(extent) + "]");
        all.push_back(json_list(dimensions));
    }
    return json_list(all);
}

}  // namespace

std::string json_list(const std::vector<std::string>& entries) {
    std::string text;
    for (const std::string& entry : entries) text += (text.empty() ? "" : ", ") + entry;
    return "[" + text + "]";
}

void remember_definitions(const Halide::Stage& stage) {
    if (state().captured.empty()) return;
    const Function function = function_of(stage);
    remembered().emplace(function.name(), equations_of(function));
}

namespace {

std::vector<std::pair<Definition, int>>& specialized() {
    static auto* const all = new std::vector<std::pair<Definition, int>>();
    return *all;
}

}  // namespace

void remember_specialization(const Halide::Stage& stage, int directive) {
    if (!state().captured.empty()) specialized().emplace_back(definition_of(stage), directive);
}

int specialization_of(const Halide::Stage& stage) {
    for (const auto& [definition, directive] : specialized())
        if (definition.same_as(definition_of(stage))) return directive;
    return 0;
}

void write_returned(int directive, const std::string& func) {
    write_line("{\"returned\": " + std::to_string(directive) + ", \"func\": " + quote(func) + "}");
}

namespace {

/// Halide's own file of the pipeline, which releases from 17 on write. Returns its name; empty: there is none.
template <class Pipeline>
auto serialized(const Pipeline& pipeline, int number)
    -> decltype(serialize_pipeline(pipeline, std::string()), std::string()) {
    const std::string name = "pipeline" + std::to_string(::getpid()) + "-" + std::to_string(number) + ".hlpipe";
    try {
        serialize_pipeline(pipeline, state().captured + "/" + name);
        return name;
    } catch (const std::exception&) {  // a Halide that was built without it
        return {};
    }
}
std::string serialized(...) { return {}; }

std::string outputs_json(const Halide::Pipeline& pipeline) {
    std::vector<std::string> outputs;
    for (const Halide::Func& output : pipeline.outputs()) outputs.push_back(quote(output.name()));
    return json_list(outputs);
}

/// Writes the pipeline. `more`: members of the line. False where that is impossible, which an event says.
bool write_captured(const Halide::Pipeline& pipeline, const std::string& entry, const Asked& asked,
                    const std::string& more) {
    try {
        std::vector<std::string> functions;
        std::set<std::string> data;
        ExternalValues external = external_data(pipeline, asked);
        for (const auto& named : external) data.insert(named.first);
        NodeTable table(data);
        for (const auto& [name, function] : functions_of(pipeline))
            if (!data.count(name)) functions.push_back(json_of(table, function));
        const std::string inputs = inputs_json(table, asked, external);
        write_line("{\"captured\": {\"entry\": " + quote(entry) + ", \"target\": " + quote(asked.target) +
                   ", \"usual_target\": " + quote(Halide::get_jit_target_from_environment().to_string()) +
                   ", \"outputs\": " + outputs_json(pipeline) + ", \"shapes\": " + shapes_json(asked.shapes) +
                   ", \"funcs\": " + json_list(functions) + ", " + inputs + ", \"nodes\": " + table.json() + "}" +
                   more + "}");
        return true;
    } catch (const std::exception& error) {
        write_event("not-captured", 0, 0, error.what());
        return false;
    }
}

std::mutex& capturing() {
    static auto* const only = new std::mutex();
    return *only;
}

}  // namespace

void capture_pipeline(const Halide::Pipeline& pipeline, const std::string& entry, const Asked& asked, bool again) {
    if (state().captured.empty() || state().runs || !pipeline.defined()) return;
    static std::set<std::string> seen;
    const InsideScope inside;
    const std::lock_guard lock(capturing());
    if (seen.insert(outputs_json(pipeline)).second || again) write_captured(pipeline, entry, asked, "");
}

int capture_run(const Halide::Pipeline& pipeline, const std::string& entry, const Asked& asked) {
    constexpr int kMostRuns = 16;  // of a pipeline
    static std::map<std::string, int> runs;
    static int last = 0;
    if (!state().runs || !pipeline.defined()) return 0;
    const InsideScope inside;
    const std::lock_guard lock(capturing());
    const std::string outputs = outputs_json(pipeline);
    const int count = runs[outputs]++;
    if (count == kMostRuns)
        write_event("not-recorded", 0, 0,
                    pipeline.outputs()[0].name() + ": only the first " + std::to_string(kMostRuns) + " runs");
    if (count >= kMostRuns) return 0;
    std::string more =
        ", \"run\": " + std::to_string(++last) + ", \"directives\": " + std::to_string(state().directives);
    if (count == 0) more += ", \"serialized\": " + quote(serialized(pipeline, last));
    return write_captured(pipeline, entry, asked, more) ? last : 0;
}

void capture_results(int run, const Outputs& outputs) {
    if (run == 0) return;
    const InsideScope inside;
    const std::lock_guard lock(capturing());
    std::vector<std::string> files;
    for (halide_buffer_t* const raw : outputs.buffers) {
        Halide::Runtime::Buffer<void> buffer(*raw);
        if (buffer.device_dirty()) buffer.copy_to_host();
        files.push_back(quote(written(buffer, "result", NpyOrder::fortran)));
    }
    write_line("{\"results\": " + json_list(files) + ", \"run\": " + std::to_string(run) + "}");
}

}  // namespace whittle::halide_capture
