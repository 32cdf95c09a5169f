#include "frontends/halide/capture/captured.h"

#include <map>
#include <set>
#include <stdexcept>

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

std::string json_of(const std::string& name, halide_buffer_t* raw, bool parameter, std::size_t number) {
    constexpr std::size_t kMostBytes = std::size_t(256) << 20;
    Halide::Runtime::Buffer<void> buffer(*raw);
    if (buffer.device_dirty()) buffer.copy_to_host();
    std::vector<std::string> dimensions;
    for (int i = 0; i < buffer.dimensions(); ++i)
        dimensions.push_back("[" + std::to_string(buffer.dim(i).min()) + ", " + std::to_string(buffer.dim(i).extent()) +
                             ", " + std::to_string(buffer.dim(i).stride()) + "]");
    const std::string file = "input" + std::to_string(number) + ".npy";
    const bool written = buffer.number_of_elements() * static_cast<std::size_t>(buffer.type().bytes()) <= kMostBytes &&
                         write_npy(state().captured + "/" + file, *buffer.raw_buffer(), NpyOrder::c);
    return "{\"name\": " + quote(name) + ", \"type\": " + quote(streamed(Halide::Type(buffer.type()))) +
           ", \"parameter\": " + (parameter ? "true" : "false") + ", \"dimensions\": " + json_list(dimensions) +
           ", \"file\": " + quote(written ? file : "") + "}";
}

/// Its name and type; without a value where none is set.
std::string inputs_json(NodeTable& table) {
    std::vector<std::string> images, parameters;
    // Values may be expressions, which go into the table: not by reference.
    const Referenced referenced = table.referenced();
    for (const auto& [name, parameter] : referenced.parameters) {
        const std::string type = ", \"type\": " + quote(streamed(parameter.type()));
        if (!parameter.is_buffer())
            parameters.push_back("{\"name\": " + quote(name) + type +
                                 ", \"value\": " + std::to_string(table.number_of(parameter.scalar_expr())) + "}");
        else if (Halide::Buffer<> image = parameter.buffer(); image.defined())
            images.push_back(json_of(name, image.raw_buffer(), true, images.size()));
        else
            images.push_back(
                "{\"name\": " + quote(name) + type + ", \"parameter\": true, \"dimensions\": " +
                json_list(std::vector<std::string>(static_cast<std::size_t>(parameter.dimensions()), "[0, 0, 0]")) +
                ", \"file\": \"\"}");
    }
    for (const auto& [name, image] : referenced.images)
        images.push_back(json_of(name, const_cast<halide_buffer_t*>(image.raw_buffer()), false, images.size()));
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
    if (!state().captured.empty())
        write_line("{\"returned\": " + std::to_string(directive) + ", \"func\": " + quote(func) + "}");
}

void capture_pipeline(const Halide::Pipeline& pipeline, const std::string& entry, const Asked& asked, bool again) {
    if (state().captured.empty() || !pipeline.defined()) return;
    static std::set<std::string> seen;
    const InsideScope inside;
    try {
        std::vector<std::string> outputs, functions;
        for (const Halide::Func& output : pipeline.outputs()) outputs.push_back(quote(output.name()));
        if (!seen.insert(json_list(outputs)).second && !again) return;
        NodeTable table;
        for (const auto& named : functions_of(pipeline)) functions.push_back(json_of(table, named.second));
        const std::string inputs = inputs_json(table);
        write_line("{\"captured\": {\"entry\": " + quote(entry) + ", \"target\": " + quote(asked.target) +
                   ", \"usual_target\": " + quote(Halide::get_jit_target_from_environment().to_string()) +
                   ", \"outputs\": " + json_list(outputs) + ", \"shapes\": " + shapes_json(asked.shapes) +
                   ", \"funcs\": " + json_list(functions) + ", " + inputs + ", \"nodes\": " + table.json() + "}}");
    } catch (const std::exception& error) {
        write_event("not-captured", 0, 0, error.what());
    }
}

}  // namespace whittle::halide_capture
