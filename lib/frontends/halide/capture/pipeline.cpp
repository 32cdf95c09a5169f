#include "frontends/halide/capture/pipeline.h"

#include <algorithm>
#include <iostream>
#include <sstream>

#include "frontends/halide/capture/directive.h"
#include "frontends/halide/capture/npy.h"

namespace whittle::halide_capture {

Functions functions_of(const Halide::Pipeline& pipeline) {
    Functions all;
    for (const Halide::Func& output : pipeline.outputs())
        for (const auto& entry : Halide::Internal::find_transitive_calls(output.function())) all.insert(entry);
    return all;
}

namespace {

// Repairs.

/// The nearest loop of `target` that there is, by what the missing ones would have been made from.
struct Nearest {
    VarOrRVar variable;
    bool found;
    int by;  ///< what the loop is missing for; 0: nothing is
};
Nearest nearest_loop(const Halide::Func& target, VarOrRVar variable) {
    const std::vector<Halide::Stage> stages = stages_of(target);
    const auto found = [&] {
        return std::any_of(stages.begin(), stages.end(),
                           [&](const Halide::Stage& stage) { return has_loop(stage, variable.name()); });
    };
    constexpr int kMostSteps = 16;  // a variable may be made from one of its own name
    int by = 0;
    for (int step = 0; step < kMostSteps && !found(); ++step) {
        const auto unmade = state().unmade.find(target.name() + "." + variable.name());
        if (unmade == state().unmade.end()) return {variable, false, by};
        by = unmade->second.by;
        variable = unmade->second.from;
    }
    return {variable, found(), by};
}

template <class Variable>
void place(State::Placed& placed, const Variable& variable) {
    if (placed.name == "compute_at") placed.func.compute_at(placed.target, variable);
    if (placed.name == "store_at") placed.func.store_at(placed.target, variable);
#if HALIDE_VERSION_MAJOR >= 17
    if (placed.name == "hoist_storage") placed.func.hoist_storage(placed.target, variable);
#endif
}

void place_at_root(State::Placed& placed) {
    if (placed.name == "compute_at") placed.func.compute_root();
    if (placed.name == "store_at") placed.func.store_root();
#if HALIDE_VERSION_MAJOR >= 17
    if (placed.name == "hoist_storage") placed.func.hoist_storage_root();
#endif
}

void to_root(Halide::Func func) {
    func.compute_root().store_root();
#if HALIDE_VERSION_MAJOR >= 17
    func.hoist_storage_root();  // a loop inside of the place where it is stored is none for the storage
#endif
}

void repair_places() {
    State& s = state();
    if (!s.leaves_out()) return;
    for (State::Placed& placed : s.placed) {
        const auto rooted = s.rooted.find(placed.func.name());
        if (placed.name != "compute_at" && rooted != s.rooted.end()) {
            write_event("moved", placed.by, rooted->second,
                        std::string(placed.name) + " to root: compute_at of the same Func is left out");
            place_at_root(placed);
            continue;
        }
        const Nearest at = nearest_loop(placed.target, placed.variable);
        if (at.found && at.by == 0) continue;
        write_event("moved", placed.by, at.by,
                    placed.variable.name() + " to " + (at.found ? at.variable.name() : "root"));
        if (!at.found)
            place_at_root(placed);
        else if (at.variable.is_rvar)
            place(placed, at.variable.rvar);
        else
            place(placed, at.variable.var);
    }
    s.placed.clear();
}

void to_root(const Halide::Pipeline& pipeline) {
    for (const auto& entry : functions_of(pipeline)) to_root(Halide::Func(entry.second));
}

// Descriptions.

std::string list_of(const std::vector<std::string>& entries) {
    std::string text;
    for (const std::string& entry : entries) text += (text.empty() ? "" : ", ") + entry;
    return "[" + text + "]";
}

/// "f(x, y) = (x + y)", a line for each definition, and its loops from the outermost.
std::string describe(const Halide::Internal::Function& function, const Halide::Internal::Definition& definition) {
    std::string text = function.name() + "(";
    for (std::size_t i = 0; i < definition.args().size(); ++i) text += (i ? ", " : "") + streamed(definition.args()[i]);
    text += ") = ";
    for (std::size_t i = 0; i < definition.values().size(); ++i)
        text += (i ? ", " : "") + streamed(definition.values()[i]);
    std::vector<std::string> loops, domains;
    for (const Halide::Internal::Dim& dim : definition.schedule().dims())
        if (dim.var != Halide::Var::outermost().name())
            loops.insert(loops.begin(), quote(streamed(dim.for_type) + " " + dim.var));
    for (const auto& rvar : definition.schedule().rvars())
        domains.push_back(quote(rvar.var + " in [" + streamed(rvar.min) + ", " + streamed(rvar.min) + " + " +
                                streamed(rvar.extent) + ")"));
    return "{\"text\": " + quote(text) + ", \"loops\": " + list_of(loops) + ", \"domains\": " + list_of(domains) + "}";
}

std::string describe(Halide::Internal::Function function, bool output) {
    function.lock_loop_levels();  // compiling does the same
    std::vector<std::string> definitions;
    if (function.has_extern_definition())
        return "{\"name\": " + quote(function.name()) + ", \"extern\": " + quote(function.extern_function_name()) + "}";
    if (function.has_pure_definition()) definitions.push_back(describe(function, function.definition()));
    for (const Halide::Internal::Definition& update : function.updates())
        definitions.push_back(describe(function, update));
    const Halide::LoopLevel compute = function.schedule().compute_level(), store = function.schedule().store_level();
    const bool at_root = output && compute.is_inlined();  // what is realized is computed
    return "{\"name\": " + quote(function.name()) + ", \"definitions\": " + list_of(definitions) +
           ", \"compute\": " + quote(at_root ? "root" : compute.to_string()) +
           ", \"store\": " + quote(at_root ? "root" : store.to_string()) + "}";
}

/// Halide prints it.
std::string loop_nest(Halide::Pipeline& pipeline) {
    std::ostringstream text;
    std::streambuf* const users = std::cerr.rdbuf(text.rdbuf());
    try {
        pipeline.print_loop_nest();
    } catch (const std::exception&) {  // compiling says the same
    }
    std::cerr.rdbuf(users);
    return text.str();
}

}  // namespace

void describe_pipeline(Halide::Pipeline& pipeline, const std::string& entry) {
    if (!state().pipelines) return;
    const InsideScope inside;
    try {
        std::vector<std::string> functions;
        std::set<std::string> outputs;
        for (const Halide::Func& output : pipeline.outputs()) outputs.insert(output.name());
        for (const auto& [name, function] : functions_of(pipeline))
            functions.push_back(describe(function, outputs.count(name) > 0));
        write_line("{\"pipeline\": " + quote(entry) + ", \"funcs\": " + list_of(functions) +
                   ", \"loop_nest\": " + quote(loop_nest(pipeline)) + "}");
    } catch (const std::exception& error) {  // the program goes on; compiling says what is wrong with the pipeline
        write_event("not-described", 0, 0, error.what());
    }
}

void repair(Halide::Pipeline& pipeline) {
    const InsideScope inside;
    if (!pipeline.defined()) return;  // Halide says so
    repair_places();
    if (state().reference) to_root(pipeline);
}

bool repaired(Halide::Pipeline& pipeline, const std::string& error) {
    const std::string before = "Func \"", behind = "\" is computed at the following invalid location";
    const auto begin = error.find(before), end = error.find(behind);
    if (!state().leaves_out() || begin == std::string::npos || end == std::string::npos || end < begin) return false;
    const std::string name = error.substr(begin + before.size(), end - begin - before.size());
    const Functions functions = functions_of(pipeline);
    const auto found = functions.find(name);
    if (found == functions.end()) return false;
    to_root(Halide::Func(found->second));
    const auto by = state().computed.find(name);
    write_event("moved", by == state().computed.end() ? 0 : by->second, 0,
                name + " to root: its consumer is elsewhere");
    return true;
}

void record_error(const std::exception& error) {
    const std::string kind = dynamic_cast<const Halide::CompileError*>(&error)    ? "compile-error"
                             : dynamic_cast<const Halide::RuntimeError*>(&error)  ? "runtime-error"
                             : dynamic_cast<const Halide::InternalError*>(&error) ? "internal-error"
                                                                                  : "error";
    write_event(kind, 0, 0, error.what());
}

Outputs outputs_of(const Halide::Pipeline::RealizationArg& argument) {
    Outputs outputs;
    if (argument.r)
        for (std::size_t i = 0; i < argument.r->size(); ++i) outputs.buffers.push_back((*argument.r)[i].raw_buffer());
    if (argument.buf) outputs.buffers.push_back(argument.buf);
    if (argument.buffer_list)
        for (Halide::Buffer<>& buffer : *argument.buffer_list) outputs.buffers.push_back(buffer.raw_buffer());
    return outputs;
}

Outputs outputs_of(const Halide::Realization& results) {
    Outputs outputs;
    for (std::size_t i = 0; i < results.size(); ++i)
        outputs.buffers.push_back(const_cast<halide_buffer_t*>(results[i].raw_buffer()));
    return outputs;
}

void record_results(const Outputs& outputs) {
    if (state().results.empty()) return;
    const InsideScope inside;
    static int run = 0;
    for (std::size_t i = 0; i < outputs.buffers.size(); ++i) {
        Halide::Runtime::Buffer<void> buffer(*outputs.buffers[i]);
        if (buffer.device_dirty()) buffer.copy_to_host();
        const std::string name = std::to_string(run) + "-" + std::to_string(i) + ".npy";
        if (!write_npy(state().results + "/" + name, *buffer.raw_buffer(), NpyOrder::fortran))
            write_event("no-result", 0, 0, name + ": a type that is not compared");
    }
    ++run;
}

}  // namespace whittle::halide_capture
