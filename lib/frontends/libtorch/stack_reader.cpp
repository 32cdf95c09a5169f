#include "frontends/libtorch/stack_reader.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "frontends/libtorch/python_code.h"
#include "symbolize/text.h"

namespace whittle::libtorch {
namespace {

bool is_comprehension(const CodePlace& place) {
    return place.interpreted && libtorch::is_comprehension(place.function);
}

/// Where somebody called. TorchScript's places are numbered anew for each stack that has them.
std::string id_of(const CodePlace& place) {
    if (!place.torchscript) return std::to_string(place.address);
    return place.file + ":" + std::to_string(place.line) + " " + std::to_string(place.called_module);
}

/// Where somebody called what was inlined there.
std::string place_text(const CodePlace& place) {
    return place.file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

bool is_constructor(const CodePlace& place) {
    return place.constructor || (place.interpreted && is_python_constructor(place.function));
}

/// "torch/optim/adam.py", "torch::optim::Adam::step"; "" for code that is no library's, for the standard library, and
/// for what PyTorch itself puts between the user's line and the operation.
std::string library_name(const CodePlace& place, const std::vector<LibraryFolder>& folders) {
    if (!place.interpreted) return is_torch_component(place.function) ? place.function : std::string();
    std::string_view file = package_file(place.file, folders);
    if (const auto at = place.file.find("/torch/"); file.empty() && at != std::string::npos)  // of TorchScript
        file = std::string_view(place.file).substr(at + 1);
    return wraps_operations(file) ? std::string() : std::string(file);
}

}  // namespace

const StackInfo& StackReader::info(std::uint32_t stack) {
    const auto [entry, fresh] = known_.try_emplace(stack);
    if (fresh) entry->second = read(stack);
    return entry->second;
}

/// In a forked child: so many of the outermost entries are those of the parent, which called fork() in them.
std::size_t StackReader::inherited(const std::vector<std::uint64_t>& pcs) const {
    const auto fork = file_.stacks.find(file_.process.forked_at);
    if (fork == file_.stacks.end()) return 0;
    const std::size_t most = std::min({fork->second.size(), pcs.size(), file_.process.inherited});
    std::size_t count = 0;
    while (count < most && pcs[pcs.size() - count - 1] == fork->second[fork->second.size() - count - 1]) ++count;
    return count;
}

/// In a forked child: so many of the outermost functions called fork(), which returned to them. The innermost of them
/// is to the child what main is to a program.
std::size_t StackReader::forking_functions(const std::vector<CodePlace>& places, const std::vector<std::size_t>& user,
                                           std::size_t outer) {
    const auto fork = file_.stacks.find(file_.process.forked_at);
    if (fork == file_.stacks.end()) return 0;
    std::vector<const CodePlace*> forking;  // outermost first
    for (std::size_t i = fork->second.size() - std::min(outer, fork->second.size()); i-- > 0;) {
        const std::vector<CodePlace>& there = symbolizer_.places(fork->second[i]);
        for (auto place = there.rbegin(); place != there.rend(); ++place)
            if (is_user(*place) && !is_comprehension(*place)) forking.push_back(&*place);
    }
    std::size_t count = 0;
    while (count < std::min(forking.size(), user.size()) &&
           places[user[user.size() - count - 1]].function == forking[count]->function &&
           places[user[user.size() - count - 1]].file == forking[count]->file)
        ++count;
    return count;
}

std::vector<StackFrame> StackReader::fork_place() {
    std::vector<StackFrame> user;
    if (const auto fork = file_.stacks.find(file_.process.forked_at); fork != file_.stacks.end())
        for (const std::uint64_t pc : fork->second)
            for (const CodePlace& place : symbolizer_.places(pc))
                if (is_user(place) && !is_comprehension(place)) user.push_back(frame(place));
    return user;
}

StackInfo StackReader::read(std::uint32_t stack) {
    StackInfo info;
    const auto pcs = file_.stacks.find(stack);
    std::vector<CodePlace> places;
    std::vector<std::size_t> pc_of;  // per place: which entry of the stack it is of
    const std::size_t outer = pcs == file_.stacks.end() ? 0 : inherited(pcs->second);
    if (pcs != file_.stacks.end())
        for (std::size_t i = 0; i + outer < pcs->second.size(); ++i)
            for (const CodePlace& place : symbolizer_.places(pcs->second[i])) {
                places.push_back(place);
                pc_of.push_back(i);
            }
    // _start calls main through libc; nobody wrote it.
    if (!outer && !places.empty() && places.back().in_program && places.back().file.empty()) places.pop_back();
    std::vector<std::size_t> user;  // innermost first
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (!is_user(places[i])) {
            // In C++ the function that the user called; in Python, where others may wrap it, the innermost.
            if (user.empty() && !info.comprehension && (info.library.empty() || !places[i].interpreted))
                if (std::string name = library_name(places[i], file_.python_libraries); !name.empty())
                    info.library = std::move(name);
            continue;
        }
        if (is_comprehension(places[i]))
            info.comprehension = true;
        else
            user.push_back(i);
        if (symbolizer_.is_ours(places[i])) continue;
        info.user.push_back(frame(places[i]));
        if (!places[i].function.empty()) seen_.insert(places[i].function);
    }
    if (const auto item = worked_item(places); item && functions_.empty() && !is_within(places, user, *item)) {
        info.root = false;
        info.function = frame(places[*item]).function;
        info.constructor = is_constructor(places[*item]);
        info.resumable = places[*item].resumable;
        info.file = places[*item].file;
        info.line = places[*item].line;
        info.call_place = id_of(places[*item + 1]);
        info.position = callers(stack, pc_of[*item]);
        if (auto module = module_call(places, 0, *item)) {
            info.module = std::move(module->of);
            info.module->position = callers(stack, pc_of[module->place]);
        }
        return info;
    }
    if (user.empty()) {
        const CodePlace* const library = library_function(places);
        info.function = library ? frame(*library).function : "main";
        info.outside = !functions_.empty();
        return info;
    }
    std::size_t of = user.size() - std::max<std::size_t>(forking_functions(places, user, outer), 1);
    // `if __name__ == "__main__": main()`: what a script does itself, its main() does.
    if (of > 0 && places[user[of]].function == kModuleCode && places[user[of - 1]].function == "main") --of;
    if (const std::size_t job = job_of(places, user); job < of) {
        of = job;
        info.job = true;
    }
    std::size_t root = of;
    std::size_t engine = 0;  // the place behind autograd's, 0: it is not there
    if (functions_.empty()) {
        // What a backward pass calls of the program's belongs to whoever called backward().
        const auto pass = std::find_if(places.rbegin(), places.rend(),
                                       [](const CodePlace& place) { return runs_backward(place.function); });
        engine = static_cast<std::size_t>(places.rend() - pass);
        if (!engine && is_called_by_torch(places, user[of])) root = user.size();
        // A package's module that calls one of the program's is what main calls.
        if (of > 0 && of == root && user[of - 1] >= engine && !module_call(places, user[of - 1] + 1, user[of])) --of;
    } else {
        while (of > 0 && !is_asked_for(places[user[of]])) --of;
        info.outside = !is_asked_for(places[user[of]]);
    }
    const CodePlace& place = places[user[of]];
    info.root = of == root;
    info.function = frame(place).function;
    info.constructor = is_constructor(place);
    info.resumable = place.resumable;
    info.file = place.file;
    info.line = place.line;
    info.position = callers(stack, pc_of[user[of]]);
    if (!info.job && !place.inlined && (info.root || !is_entered(place))) info.callers = info.position;
    if (auto module = functions_.empty() ? module_call(places, engine, user[of]) : std::nullopt) {
        info.module = std::move(module->of);
        info.module->position = callers(stack, pc_of[module->place]);
        if (module->call) info.module->callers = callers(stack, pc_of[*module->call]);
    }
    // Of an inlined function the caller's line is known, of a real one the address it returns to.
    if (user[of] + 1 < places.size()) {
        const CodePlace& caller = places[user[of] + 1];
        // Without a name the address is the operation's; where it was called from is the same for all of them.
        if (place.function.empty()) info.function = info.root ? "main" : "called_at_" + frame(caller).function;
        info.call_place = place.inlined ? place_text(caller) : id_of(caller);
        // Where a library calls it, as Python's Module.__call__ does forward(), its own place is always the same.
        // What is inlined with the function has the operation's address, too.
        if (of + 1 < user.size())
            for (std::size_t i = user[of] + 2; i <= user[of + 1]; ++i)
                info.call_place +=
                    " " + (places[i].address == place.address && !places[i].interpreted ? place_text(places[i])
                                                                                        : id_of(places[i]));
    }
    return info;
}

/// What a worker of Python's calls again and again: a DataLoader's the dataset's __getitem__ and the function that
/// makes a batch, that of a pool of processes or threads what it is given.
std::optional<std::size_t> StackReader::worked_item(const std::vector<CodePlace>& places) {
    const auto works = [](const CodePlace& place) { return place.interpreted && works_for_others(place.file); };
    for (std::size_t i = places.size(); i-- > 1;)
        if (works(places[i]) && places[i - 1].interpreted && !works(places[i - 1])) return i - 1;
    return std::nullopt;
}

/// What a thread or process does that no function of the program's called: the outermost function of a package, beyond
/// those that start threads and processes. Null where no interpreter runs.
const CodePlace* StackReader::library_function(const std::vector<CodePlace>& places) {
    const auto place = std::find_if(places.rbegin(), places.rend(),
                                    [](const CodePlace& one) { return one.interpreted && !starts_threads(one.file); });
    return place == places.rend() ? nullptr : &*place;
}

/// A function of the program's calls what is at `inner`; what started the interpreter by a text is none.
bool StackReader::is_within(const std::vector<CodePlace>& places, const std::vector<std::size_t>& user,
                            std::size_t inner) {
    return std::ranges::any_of(user, [&](std::size_t i) { return i > inner && places[i].file != kGivenText; });
}

/// In a thread that works for others, what it was given to do: the innermost of the functions near the thread's own
/// that the standard library called by a std::function or a std::packaged_task. Else the thread's own.
std::size_t StackReader::job_of(const std::vector<CodePlace>& places, const std::vector<std::size_t>& user) {
    constexpr std::size_t kNear = 5;
    std::size_t job = user.size() - 1;
    const CodePlace& own = places[user[job]];
    if (own.function == "main" || own.interpreted) return job;
    const auto calls_any = [](const CodePlace& place) { return !place.user && calls_given_function(place.function); };
    for (std::size_t k = user.size() - 1; k-- > 0 && k + kNear >= user.size();)
        if (std::any_of(places.begin() + static_cast<std::ptrdiff_t>(user[k]) + 1,
                        places.begin() + static_cast<std::ptrdiff_t>(user[k + 1]), calls_any))
            job = k;
    return job;
}

/// A thread of LibTorch's calls the program's outermost function again and again, as a DataLoader's does.
bool StackReader::is_called_by_torch(const std::vector<CodePlace>& places, std::size_t outermost) {
    return !places[outermost].interpreted &&
           std::any_of(places.begin() + static_cast<std::ptrdiff_t>(outermost) + 1, places.end(),
                       [](const CodePlace& place) { return !place.interpreted && is_torch_component(place.function); });
}

/// How many functions are around the one at the entry `of`, as the recorder counts them. None where an interpreter runs
/// the others.
std::optional<std::size_t> StackReader::callers(std::uint32_t stack, std::size_t of) const {
    const std::vector<std::uint64_t>& pcs = file_.stacks.at(stack);
    const auto is_python = [&](std::uint64_t pc) {
        const auto place = file_.places.find(pc);
        return place != file_.places.end() && place->second.language == Language::python;
    };
    const bool python = std::ranges::any_of(pcs, is_python);
    if (python && !is_python(pcs[of])) return std::nullopt;
    return std::count_if(pcs.begin() + static_cast<std::ptrdiff_t>(of) + 1, pcs.end(),
                         [&](std::uint64_t pc) { return python ? is_python(pc) : !file_.places.contains(pc); });
}

/// It was called by what is not of its own language, which may call it again and again without a word.
bool StackReader::is_entered(const CodePlace& place) const {
    const auto known = file_.places.find(place.address);
    return known != file_.places.end() && known->second.entry;
}

/// The outermost call of a module, or its construction, between autograd and the function at `function`.
std::optional<StackReader::ModuleCall> StackReader::module_call(const std::vector<CodePlace>& places,
                                                                std::size_t engine, std::size_t function) {
    std::uint64_t module = 0;
    std::optional<std::size_t> call;
    const CodePlace& itself = places[function];
    if (is_python_constructor(itself.function) || (function + 1 < places.size() && places[function + 1].called_module))
        return std::nullopt;
    for (std::size_t i = function; i-- > engine;) {
        const CodePlace& place = places[i];
        if (!place.interpreted || calls_compiled_module(place.file) || surrounds_forward(place.file)) continue;
        const bool constructs = is_python_constructor(place.function) && (place.user || is_of_torch_nn(place.file));
        // Of TorchScript only what Python calls: of a call in C++ the function there is the frame.
        if (place.torchscript ? !module : place.called_module || (!module && !constructs)) {
            if (place.torchscript || !place.called_module) continue;
            if (module != place.called_module) call = i;
            module = place.called_module;
            continue;
        }
        if (!constructs && !place.torchscript && is_layer(place.file)) {
            module = 0;
            call.reset();
            continue;
        }
        return ModuleCall{.of = {.function = frame(place).function,
                                 .file = place.file,
                                 .line = place.line,
                                 .call_place = id_of(places[function]) + " " + std::to_string(module),
                                 .constructor = is_constructor(place),
                                 .resumable = place.resumable},
                          .place = i,
                          .call = call};
    }
    return std::nullopt;
}

bool StackReader::is_user(const CodePlace& place) {
    if (place.file.empty()) {
        if (place.in_program && symbolizer_.program_has_lines()) return false;  // start-up code
        return place.user && !is_library_function(place.function);
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
                      .function = name_by_place(place.function, place.file, place.start_line),
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
