// The recorder: what stands in the place of Halide's scheduling directives and of the functions that compile and run
// pipelines. Compiled against the Halide of the programs.
#include <chrono>
#include <unordered_map>

#include "frontends/halide/capture/arguments.h"
#include "frontends/halide/capture/captured.h"
#include "frontends/halide/capture/directive.h"
#include "frontends/halide/capture/pipeline.h"
#include "frontends/halide/capture/where.h"

namespace whittle::halide_capture {
namespace {

/// An argument as it arrives: an object that is passed by value arrives as its address, and goes on as that. Never
/// moved from: whose it is relies on what Halide does with it.
template <class Argument>
using Passed =
    std::conditional_t<std::is_class_v<Argument> && !std::is_trivially_copyable_v<Argument>, Argument&, Argument>;

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <class... Arguments>
Level level_of(std::string_view name, const Arguments&... arguments) {
    Level level;
    if (name != "compute_at" && name != "store_at" && name != "hoist_storage") return level;
    Variables variables;
    [[maybe_unused]] const auto take = [&](const auto& argument) {
        if constexpr (std::is_same_v<std::decay_t<decltype(argument)>, Halide::Func>) level.target = argument;
        variables.add(argument);
    };
    (take(arguments), ...);
    if (!variables.all.empty()) level.variable = variables.all[0];
    return level;
}

template <class Self>
void remember_level(const Directive& directive, std::string_view name, const Self& self, const Level& level) {
    if constexpr (std::is_same_v<Self, Halide::Func>) {
        if (!level.target || !level.variable) return;
        state().placed.push_back({directive.number(), name, self, *level.target, *level.variable});
        if (name == "compute_at") state().computed[self.name()] = directive.number();
    }
}

/// Without the directive: the object as it is; of compute_at() the Func at root, where further directives find it.
template <class Returned, class Self>
Returned without(Directive& directive, std::string_view name, Self* self) {
    const InsideScope inside;
    directive.drop();
    if constexpr (std::is_same_v<Self, Halide::Func> && std::is_reference_v<Returned>)
        if (name == "compute_at") self->compute_root();
    if constexpr (std::is_reference_v<Returned> || std::is_same_v<Returned, Self>)
        return *self;
    else if constexpr (std::is_same_v<Returned, Halide::Func>)
        return stand_in();
}

/// What a program of the pipeline's own needs of the directive.
template <class Self, class... Arguments>
std::string captured_call(const Self& self, const Arguments&... arguments) {
    if (state().captured.empty()) return {};
    std::string text = ", \"arguments\": " + json_list({argument_json(arguments)...});
    if constexpr (std::is_same_v<Self, Halide::Stage>)
        if (const int number = specialization_of(self)) text += ", \"specialization\": " + std::to_string(number);
    return text;
}

/// Calls Halide; what it returns may have directives of its own.
template <class Returned, class Call>
Returned called(const Directive& directive, const Call& call) {
    if constexpr (std::is_same_v<Returned, Halide::Func>) {
        Halide::Func returned = call();
        write_returned(directive.number(), returned.name());
        return returned;
    } else if constexpr (std::is_same_v<Returned, Halide::Stage>) {
        Halide::Stage returned = call();
        remember_specialization(returned, directive.number());
        return returned;
    } else {
        return call();
    }
}

/// `Site` has the static members `symbol` and `name`.
template <class Site, class Returned, class Self, class... Arguments>
Returned directive(Self* self, Arguments... arguments) {
    static const auto real = reinterpret_cast<Returned (*)(Self*, Arguments...)>(real_function(Site::symbol));
    if (depth > 0 || is_ours(__builtin_return_address(0))) return real(self, arguments...);
    constexpr std::string_view name = Site::name;
    std::optional<Directive> made;
    std::optional<Halide::Stage> stage;
    const Level level = level_of(name, arguments...);
    {
        const InsideScope inside;
        Variables variables;
        (variables.add(arguments), ...);
        made.emplace(name, name_of(*self), std::vector<std::string>{text_of(arguments)...}, loops_of(name, variables),
                     level, __builtin_return_address(0), captured_call(*self, arguments...));
        stage = stage_of(*self);
        if (name != "reorder") made->check_variables(stage);
    }
    if constexpr (name == "specialize") {  // a condition that is never true: further directives on it do no harm
        const auto never = [&] { return real(self, Halide::Internal::const_false()); };
        if (!made->left_out())
            return called<Returned>(*made, [&] {
                return guarded(
                    *made, stage, [&] { return real(self, arguments...); }, never);
            });
        const InsideScope inside;
        made->drop();
        return called<Returned>(*made, never);
    } else {
        const auto otherwise = [&]() -> Returned { return without<Returned>(*made, name, self); };
        if constexpr (name == "reorder" && sizeof...(Arguments) == 1) {
            std::vector<VarOrRVar> known;
            {
                const InsideScope inside;
                known = made->known(stage);
            }
            if (made->left_out() || made->broken()) return otherwise();
            return guarded(
                *made, stage, [&]() -> Returned { return real(self, known); }, otherwise);
        } else {
            if (made->left_out() || made->broken()) return otherwise();
            remember_level(*made, name, *self, level);
            if constexpr (name == "rfactor" && std::is_same_v<Self, Halide::Stage>) remember_definitions(*self);
            return called<Returned>(*made, [&]() -> Returned {
                return guarded(
                    *made, stage, [&]() -> Returned { return real(self, arguments...); }, otherwise);
            });
        }
    }
}

// Compiling and running.

Halide::Pipeline pipeline_of(Halide::Pipeline* pipeline) { return *pipeline; }
Halide::Pipeline pipeline_of(Halide::Func* func) { return Halide::Pipeline(*func); }

/// Values of params for one call, ParamMap, which Halide has to release 16.
template <class Argument, class = void>
struct replaces_params : std::false_type {};
template <class Argument>
struct replaces_params<Argument, std::void_t<decltype(std::declval<const Argument&>().map(
                                     std::declval<const Parameter&>(), std::declval<Halide::Buffer<>*&>()))>>
    : std::true_type {};

/// What the arguments of a call say of its outputs and inputs.
void outputs_in(Outputs&, Asked&) {}
template <class First, class... Rest>
void outputs_in(Outputs& outputs, Asked& asked, const First& first, const Rest&... rest) {
    if constexpr (std::is_same_v<First, Halide::Pipeline::RealizationArg>) {
        outputs = outputs_of(first);
        for (const halide_buffer_t* const buffer : outputs.buffers) {
            asked.shapes.emplace_back();
            for (int i = 0; i < buffer->dimensions; ++i)
                asked.shapes.back().emplace_back(buffer->dim[i].min, buffer->dim[i].extent);
        }
    } else if constexpr (std::is_same_v<First, std::vector<int>>) {
        asked.shapes.emplace_back();
        for (const int extent : first) asked.shapes.back().emplace_back(0, extent);
    } else if constexpr (std::is_same_v<First, Halide::Target>) {
        if (first != Halide::Target()) asked.target = first.to_string();
    } else if constexpr (replaces_params<First>::value) {
        asked.value = [&first](const Parameter& own) {
            Halide::Buffer<>* set_by_bounds_inference = nullptr;
            return Parameter(first.map(own, set_by_bounds_inference));
        };
    }
    outputs_in(outputs, asked, rest...);
}

thread_local std::string current_entry;  ///< what the program called
thread_local Asked asked;                ///< by that

/// Compiles; where what was left out has made a place illegal, again with that Func at root.
template <class Call>
auto compiled(Halide::Pipeline pipeline, const Call& call) -> decltype(call()) {
    constexpr int kMostRepairs = 100;
    for (int i = 0; i < kMostRepairs; ++i) try {
            return call();
        } catch (const std::exception& error) {
            if (!repaired(pipeline, error.what())) throw;
            capture_pipeline(pipeline, current_entry, asked, true);
        }
    return call();
}

/// Compiles what will be realized, which realize() finds compiled.
template <class Self>
void compile_first(Self& self) {
    const Halide::Target target =
        asked.target.empty() ? Halide::get_jit_target_from_environment() : Halide::Target(asked.target);
    compiled(pipeline_of(&self), [&] { self.compile_jit(target); });
}

/// Says how long a step took, also where it ends with an exception.
class Timer {
  public:
    Timer(const char* what, std::string entry) : what_(what), entry_(std::move(entry)) {}
    ~Timer() {
        write_line("{\"" + std::string(what_) + "\": " + quote(entry_) +
                   ", \"seconds\": " + std::to_string(seconds() - begin_) + "}");
    }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

  private:
    const char* const what_;
    const std::string entry_;
    const double begin_ = seconds();
};

template <class Site, class Returned, class Self, class... Arguments>
Returned enter(Self* self, Arguments... arguments) {
    static const auto real = reinterpret_cast<Returned (*)(Self*, Arguments...)>(real_function(Site::symbol));
    constexpr std::string_view name = Site::name;
    constexpr bool lowers =
        name == "compile_to_module" && std::is_same_v<Self, Halide::Pipeline>;  // all others call it
    const auto lower = [&]() -> Returned {
        if constexpr (lowers) {
            describe_pipeline(*self, current_entry);
            const Timer timer("lowered", std::string(name));
            return compiled(*self, [&]() -> Returned { return real(self, arguments...); });
        } else {
            return real(self, arguments...);
        }
    };
    if (depth > 0) return lower();
    if (is_ours(__builtin_return_address(0))) return real(self, arguments...);
    Outputs outputs;
    int run = 0;
    current_entry = std::string(Site::owner) + "::" + std::string(name);
    {
        const InsideScope inside;
        Halide::Pipeline pipeline = pipeline_of(self);
        repair(pipeline);
        asked = Asked();
        outputs_in(outputs, asked, arguments...);
        capture_pipeline(pipeline, current_entry, asked, false);
        if (name == "realize") run = capture_run(pipeline, current_entry, asked);
    }
    const InsideScope inside;
    try {
        if (name == "realize" && state().times) compile_first(*self);
        const Timer timer(name == "realize" ? "ran" : "compiled", current_entry);
        if constexpr (std::is_void_v<Returned>) {
            compiled(pipeline_of(self), lower);
            if (name == "realize") record_results(outputs);
            capture_results(run, outputs);
        } else {
            Returned returned = compiled(pipeline_of(self), lower);
            if constexpr (std::is_same_v<Returned, Halide::Realization>) {
                record_results(outputs_of(returned));
                capture_results(run, outputs_of(returned));
            }
            return returned;
        }
    } catch (const std::exception& error) {
        record_error(error);
        throw;
    }
}

// The table.

template <class... Types>
struct List {};

template <class Site, class Returned, class Self, class... Arguments>
void* directive_of(List<Returned, Self, Arguments...>) {
    return reinterpret_cast<void*>(&directive<Site, Returned, Self, Passed<Arguments>...>);
}
template <class Site, class Returned, class Self, class... Arguments>
void* entry_of(List<Returned, Self, Arguments...>) {
    return reinterpret_cast<void*>(&enter<Site, Returned, Self, Passed<Arguments>...>);
}

/// The class behind what is returned.
template <class Self, class Returned, class... Arguments>
List<Returned, Self, Arguments...> reordered(List<Returned, Arguments...>) {
    return {};
}

#define WHITTLE_DIRECTIVE(mangled, class_name, method, ...)                    \
    struct Site##mangled {                                                     \
        static constexpr const char* symbol = #mangled;                        \
        static constexpr std::string_view name = #method, owner = #class_name; \
    };
#define WHITTLE_ENTRY WHITTLE_DIRECTIVE
#include WHITTLE_INTERPOSERS
#undef WHITTLE_DIRECTIVE
#undef WHITTLE_ENTRY

std::unordered_map<std::string_view, void*> functions() {
    std::unordered_map<std::string_view, void*> all;
#define WHITTLE_DIRECTIVE(mangled, class_name, method, ...) \
    all.emplace(#mangled, directive_of<Site##mangled>(reordered<class_name>(List<__VA_ARGS__>())));
#define WHITTLE_ENTRY(mangled, class_name, method, ...) \
    all.emplace(#mangled, entry_of<Site##mangled>(reordered<class_name>(List<__VA_ARGS__>())));
#include WHITTLE_INTERPOSERS
    return all;
}

}  // namespace

}  // namespace whittle::halide_capture

/// The function that stands in the place of Halide's function `symbol`; null where none does.
extern "C" __attribute__((visibility("default"))) void* whittle_halide_function(const char* symbol) {
    static const auto all = whittle::halide_capture::functions();
    const auto found = all.find(symbol);
    return found == all.end() ? nullptr : found->second;
}
