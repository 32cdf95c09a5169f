#include "frontends/libtorch/stack_reader.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "symbolize/text.h"

namespace whittle::libtorch {

bool runs_backward(const std::string& function) {
    return function.starts_with("torch::autograd::Engine::") || function == "torch::autograd::backward" ||
           function == "torch::autograd::grad";
}

bool compiles_script(const std::string& function) {
    constexpr std::string_view kPasses[] = {"ConstantPooling", "ConstantPropagation", "EliminateCommonSubexpression",
                                            "ConstantPropagationImmutableTypes", "runNodeIfInputsAreConstant"};
    constexpr std::string_view kSpace = "torch::jit::";
    if (!function.starts_with(kSpace)) return false;
    const std::string_view name = std::string_view(function).substr(kSpace.size());
    return name.ends_with("::getPlanFor") || std::ranges::find(kPasses, name) != std::end(kPasses);
}

namespace {

/// Layers of torch.nn are no models: who calls them is.
bool is_layer(const CodePlace& forward) {
    constexpr std::string_view kLayers = "/torch/nn/modules/";
    return forward.file.find(kLayers) != std::string::npos && !forward.file.ends_with("/container.py") &&
           !forward.file.ends_with("/transformer.py");
}

/// "[f(x) for x in xs]": what Python makes a function of is a statement to who wrote it.
bool is_comprehension(const CodePlace& place) {
    constexpr std::string_view kKinds[] = {"<listcomp>", "<genexpr>", "<setcomp>", "<dictcomp>"};
    return place.interpreted && std::ranges::any_of(kKinds, [&](std::string_view kind) {
               return std::string_view(place.function).ends_with(kind);
           });
}

/// Where somebody called. TorchScript's places are numbered anew for each stack that has them.
std::string id_of(const CodePlace& place) {
    if (!place.torchscript) return std::to_string(place.address);
    return place.file + ":" + std::to_string(place.line) + " " + std::to_string(place.called_module);
}

bool is_library_name(const std::string& function) {
    for (const char* space :
         {"at::", "c10::", "torch::", "std::", "__gnu_cxx::", "void at::", "void torch::", "void std::", "decltype"})
        if (function.starts_with(space)) return true;
    return false;
}

}  // namespace

const StackInfo& StackReader::info(std::uint32_t stack) {
    const auto [entry, fresh] = known_.try_emplace(stack);
    if (fresh) entry->second = read(stack);
    return entry->second;
}

StackInfo StackReader::read(std::uint32_t stack) {
    StackInfo info;
    const auto pcs = file_.stacks.find(stack);
    std::vector<CodePlace> places;
    if (pcs != file_.stacks.end())
        for (const std::uint64_t pc : pcs->second)
            for (const CodePlace& place : symbolizer_.places(pc)) places.push_back(place);
    // _start calls main through libc; nobody wrote it.
    if (!places.empty() && places.back().in_program && places.back().file.empty()) places.pop_back();
    std::vector<std::size_t> user;  // innermost first
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (!is_user(places[i])) continue;
        if (is_comprehension(places[i]))
            info.comprehension = true;
        else
            user.push_back(i);
        if (symbolizer_.is_ours(places[i])) continue;
        info.user.push_back(frame(places[i]));
        if (!places[i].function.empty()) seen_.insert(places[i].function);
    }
    if (user.empty()) {
        info.function = "main";
        info.outside = !functions_.empty();
        return info;
    }
    std::size_t of = user.size() - 1;
    // `if __name__ == "__main__": main()`: what a script does itself, its main() does.
    if (of > 0 && places[user[of]].function == "<module>" && places[user[of - 1]].function == "main") --of;
    if (const std::size_t job = job_of(places, user); job < of) {
        of = job;
        info.job = true;
    }
    const std::size_t root = of;
    std::size_t engine = 0;  // the place behind autograd's, 0: it is not there
    if (functions_.empty()) {
        // What a backward pass calls of the program's belongs to whoever called backward().
        const auto pass = std::find_if(places.rbegin(), places.rend(),
                                       [](const CodePlace& place) { return runs_backward(place.function); });
        engine = static_cast<std::size_t>(places.rend() - pass);
        if (of > 0 && user[of - 1] >= engine) --of;
    } else {
        while (of > 0 && !is_asked_for(places[user[of]])) --of;
        info.outside = !is_asked_for(places[user[of]]);
    }
    const CodePlace& place = places[user[of]];
    info.root = of == root;
    info.function = frame(place).function;
    info.file = place.file;
    info.line = place.line;
    if (functions_.empty()) info.module = module_call(places, engine, user[of]);
    // Of an inlined function the caller's line is known, of a real one the address it returns to.
    if (user[of] + 1 < places.size()) {
        const CodePlace& caller = places[user[of] + 1];
        // Without a name the address is the operation's; where it was called from is the same for all of them.
        if (place.function.empty()) info.function = info.root ? "main" : "called_at_" + frame(caller).function;
        info.call_place = place.inlined
                              ? caller.file + ":" + std::to_string(caller.line) + ":" + std::to_string(caller.column)
                              : id_of(caller);
    }
    return info;
}

/// In a thread that works for others, what it was given to do: the innermost of the functions near the thread's own
/// that the standard library called by a std::function or a std::packaged_task. Else the thread's own.
std::size_t StackReader::job_of(const std::vector<CodePlace>& places, const std::vector<std::size_t>& user) {
    constexpr std::size_t kNear = 5;
    std::size_t job = user.size() - 1;
    const CodePlace& own = places[user[job]];
    if (own.function == "main" || own.interpreted) return job;
    const auto calls_any = [](const CodePlace& place) {
        constexpr std::string_view kCalls[] = {"std::_Function_handler<", "std::function<", "std::packaged_task<",
                                               "std::__future_base::_Task_state<"};
        return std::ranges::any_of(kCalls, [&](std::string_view call) {
            return place.function.find(call) != std::string::npos && !place.user;
        });
    };
    for (std::size_t k = user.size() - 1; k-- > 0 && k + kNear >= user.size();)
        if (std::any_of(places.begin() + static_cast<std::ptrdiff_t>(user[k]) + 1,
                        places.begin() + static_cast<std::ptrdiff_t>(user[k + 1]), calls_any))
            job = k;
    return job;
}

/// The outermost call of a module, or its construction, between autograd and the function at `function`.
std::optional<FrameFunction> StackReader::module_call(const std::vector<CodePlace>& places, std::size_t engine,
                                                      std::size_t function) {
    std::uint64_t module = 0;
    const CodePlace& itself = places[function];
    if (itself.function.ends_with(".__init__") || (function + 1 < places.size() && places[function + 1].called_module))
        return std::nullopt;
    for (std::size_t i = function; i-- > engine;) {
        const CodePlace& place = places[i];
        if (!place.interpreted) continue;
        const bool constructs = place.function.ends_with(".__init__") &&
                                (place.user || place.file.find("/torch/nn/modules/") != std::string::npos);
        // Of TorchScript only what Python calls: of a call in C++ the function there is the frame.
        if (place.torchscript ? !module : place.called_module || (!module && !constructs)) {
            if (!place.torchscript && place.called_module) module = place.called_module;
            continue;
        }
        if (!constructs && !place.torchscript && is_layer(place)) {
            module = 0;
            continue;
        }
        return FrameFunction{.function = frame(place).function,
                             .file = place.file,
                             .line = place.line,
                             .call_place = id_of(places[function]) + " " + std::to_string(module)};
    }
    return std::nullopt;
}

bool StackReader::is_user(const CodePlace& place) {
    if (place.file.empty()) {
        if (place.in_program && symbolizer_.program_has_lines()) return false;  // start-up code
        return place.user && !is_library_name(place.function);
    }
    return place.user;
}

bool StackReader::is_asked_for(const CodePlace& place) const {
    return std::any_of(functions_.begin(), functions_.end(), [&](const std::string& name) {
        return place.function == name || unqualified(place.function) == name;
    });
}

StackFrame StackReader::frame(const CodePlace& place) {
    StackFrame result{.file = place.file.empty() ? place.module : place.file,
                      .line = place.line,
                      .column = place.column,
                      .function = readable_function(place.function, place.file, place.start_line),
                      .text = place.text.empty() ? symbolizer_.source_text(place.file, place.line) : place.text};
    if (result.function.empty()) {
        char text[32];
        std::snprintf(text, sizeof text, "+0x%llx", static_cast<unsigned long long>(place.offset));
        result.function = std::filesystem::path(place.module).filename().string() + text;
        nameless_ = true;
    }
    return result;
}

}  // namespace whittle::libtorch
