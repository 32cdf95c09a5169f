#include "frontends/libtorch/capture/torchscript.h"

#include <ATen/core/class_type.h>
#include <ATen/core/ivalue_inl.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/runtime/interpreter.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>

#include "frontends/libtorch/capture/state.h"
#include "frontends/libtorch/torch_names.h"

namespace whittle::libtorch::torchscript {

namespace {

using c10::ivalue::Object;
using torch::jit::SourceRange;
using torch::jit::StackEntry;

std::string join(const std::string& path, const std::string& name) { return path.empty() ? name : path + '.' + name; }

/// "__torch__.models.Net", "__torch__.Net.___torch_mangle_3.Net" -> "Net"
std::string short_name(const std::string& qualified) { return qualified.substr(qualified.rfind('.') + 1); }
std::string type_name(const Object& object) {
    const auto name = object.type()->name();
    return name ? short_name(name->qualifiedName()) : "";
}

// ---- Names of what a module holds

/// Depth-first, as named_parameters() has them: what a module holds itself, then its children.
void tell_tree(Thread& thread, const Object& module, const Object& root, const std::string& path, int depth = 0) {
    constexpr int kDeepest = 64;
    if (depth > kDeepest) return;
    write_module(thread, &root, &module, type_name(module), path);
    const c10::ClassTypePtr type = module.type();
    const std::string root_type = type_name(root);
    for (std::size_t i = 0; i < type->numAttributes(); ++i) {
        const c10::IValue& value = module.getSlot(i);
        const std::string name = join(path, type->getAttributeName(i));
        if (value.isTensor() && value.toTensor().defined())
            write_name(thread, identity_of(thread.identities, value.toTensor()).number,
                       type->is_parameter(i) ? NameKind::parameter : NameKind::buffer, &root, root_type, name);
        if (value.isObject() && value.toObjectRef().type()->is_module())
            tell_tree(thread, value.toObjectRef(), root, name, depth + 1);
    }
}

/// A frozen module's weights are constants of its code. A name is given once, so what has a better one keeps it.
void tell_constants(Thread& thread, const torch::jit::Block& block, const Object& root, int& count) {
    for (const torch::jit::Node* node : block.nodes()) {
        if (node->kind() == c10::prim::Constant && node->hasAttribute(c10::attr::value) &&
            node->kindOf(c10::attr::value) == torch::jit::AttributeKind::t) {
            const at::Tensor& tensor = node->t(c10::attr::value);
            const std::string name = node->output()->hasDebugName() ? node->output()->debugName() : "";
            // As the archive has them; a number alone is no name.
            const bool named = !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0]));
            if (tensor.defined() && tensor.dim() > 0)
                write_name(thread, identity_of(thread.identities, tensor).number, NameKind::parameter, &root,
                           type_name(root), named ? name : "constants.c" + std::to_string(count));
            ++count;
        }
        for (const torch::jit::Block* inner : node->blocks()) tell_constants(thread, *inner, root, count);
    }
}

/// Null where the method has no code of TorchScript's.
const torch::jit::GraphFunction* code_of(const Object& module, const char* method) {
    torch::jit::Function* const function = module.type()->findMethod(method);
    return function ? torch::jit::tryToGraphFunction(*function) : nullptr;
}

/// The mutex is not held.
void tell_names(Thread& thread, const Object& module, const char* method) {
    {
        const std::lock_guard lock(state.mutex);
        if (state.scripted.count(&module) > 0) return;
    }
    const torch::jit::GraphFunction* const code = code_of(module, method);
    const auto graph = code ? code->optimized_graph() : nullptr;  // LibTorch may make it now: not under our lock
    const std::lock_guard lock(state.mutex);
    const bool fresh = state.scripted
                           .emplace(&module, c10::weak_intrusive_ptr<Object>(c10::intrusive_ptr<Object>::reclaim_copy(
                                                 const_cast<Object*>(&module))))
                           .second;
    if (!fresh) return;
    tell_tree(thread, module, module, "");
    int count = 0;
    if (graph) tell_constants(thread, *graph->block(), module, count);
}

// ---- Places

struct Place {
    std::string file = {}, function = {}, text = {};
    int line = 0;
    const void* module = nullptr;
    bool entry = false;  ///< the outermost
};

std::string line_of(const SourceRange& range) {
    torch::jit::Source& source = *range.source();
    std::string text = source.get_line(source.lineno_for_offset(range.start())).str();
    const auto first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t\r\n");
    return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

/// "/home/me/net.py(35): forward", as a traced module keeps its stack.
std::optional<Place> traced_place(const std::string& line) {
    const auto close = line.rfind("): ");
    const auto open = close == std::string::npos ? close : line.rfind('(', close);
    if (open == std::string::npos || open == 0 || open + 1 == close) return std::nullopt;
    const std::string number = line.substr(open + 1, close - open - 1);
    if (number.size() > 9 ||
        !std::all_of(number.begin(), number.end(), [](unsigned char c) { return std::isdigit(c); }))
        return std::nullopt;
    return Place{.file = line.substr(0, open), .function = line.substr(close + 3), .line = std::stoi(number)};
}

/// The stack of Python that a traced op had, innermost first, without the call of torch.jit.trace and how modules call
/// their own forward; empty for what is scripted.
std::vector<Place> traced_places(const SourceRange& range) {
    std::vector<Place> places;
    const std::string text = range.source()->text_str().str();
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const auto place = traced_place(text.substr(at, end - at));
        at = end + 1;
        if (!place) return {};
        if (place->file.find(kTracingFile) != std::string::npos) break;
        if (place->file.find(kModuleFile) == std::string::npos) places.push_back(*place);
    }
    return places;
}

/// A method of the module was compiled from that text, as Module::define() does. Other texts without a file are
/// LibTorch's own, such as those of gradients.
bool has_defined(const Object& module, const SourceRange& range) {
    const auto is_there = [&](const torch::jit::Node* node) {
        return !node->callstack() && node->sourceRange().source() == range.source();
    };
    for (torch::jit::Function* const method : module.type()->methods()) {
        const torch::jit::GraphFunction* const code = torch::jit::tryToGraphFunction(*method);
        if (!code) continue;
        const auto nodes = std::as_const(*code->graph()).nodes();
        if (std::any_of(nodes.begin(), nodes.end(), is_there)) return true;
    }
    return false;
}

/// What the code was made from, if the archive says so, else the archive's code, or the text that the module was given.
/// Otherwise nothing.
std::optional<SourceRange> told(const SourceRange& range, const Object* module) {
    const auto has_file = [](const SourceRange& one) {
        const auto place = one.file_line_col();
        return place && !std::get<0>(*place).empty() && std::get<0>(*place).front() != '<';
    };
    if (!range.source()) return std::nullopt;
    if (const auto made_from = range.findSourceRangeThatGenerated(); made_from && has_file(*made_from))
        return *made_from;
    if (has_file(range) || (module && range.file_line_col() && has_defined(*module, range))) return range;
    return std::nullopt;
}

// ---- Which module an entry is inside

/// "conv1(Conv2d)::forward" -> {"conv1", "Conv2d"}
struct Instance {
    std::string name, type;
};
Instance instance_of(const std::string& told) {
    const auto open = told.find('('), close = told.find(')', open);
    if (open == std::string::npos || close == std::string::npos) return {};
    return {told.substr(0, open), short_name(told.substr(open + 1, close - open - 1))};
}

/// The child of that name and type, through containers, whose names LibTorch leaves out; null where there are several.
const Object* child_of(const Object& module, const Instance& wanted, int& found, int depth = 0) {
    constexpr int kDeepest = 8;
    const Object* result = nullptr;
    const c10::ClassTypePtr type = module.type();
    for (std::size_t i = 0; i < type->numAttributes() && depth < kDeepest; ++i) {
        if (!module.getSlot(i).isObject()) continue;
        const Object& child = module.getSlot(i).toObjectRef();
        if (!child.type()->is_module()) continue;
        const Object* one = nullptr;
        if (type->getAttributeName(i) == wanted.name && type_name(child) == wanted.type)
            ++found, one = &child;
        else
            one = child_of(child, wanted, found, depth + 1);
        if (one) result = one;
    }
    return found == 1 ? result : nullptr;
}

/// For each entry, innermost first, the module that it is in.
std::vector<const Object*> modules_of(const Object* root, std::size_t entries) {
    std::vector<const Object*> modules(entries, root);
    if (entries < 2) return modules;
    const std::vector<std::string> told = torch::jit::currentModuleHierarchy();  // outermost first
    if (!root || told.size() != entries) return modules;
    const Object* at = root;
    for (std::size_t i = 1; i < entries; ++i) {
        const Instance instance = instance_of(told[i]);
        int found = 0;
        if (!is_unknown_instance(instance.name))
            if (const Object* const child = child_of(*at, instance, found)) at = child;
        modules[entries - 1 - i] = at;
    }
    return modules;
}

std::uint64_t define(Thread& thread, const Place& place) {
    RecordBuffer& record = thread.definition;
    const std::uint64_t number = kSourcePlace | state.next_place.fetch_add(1);
    record.start(records::SourcePlace{.number = number,
                                      .language = Language::torchscript,
                                      .entry = place.entry,
                                      .line = static_cast<std::uint32_t>(std::max(place.line, 0)),
                                      .module = reinterpret_cast<std::uintptr_t>(place.module),
                                      .file = place.file,
                                      .function = place.function,
                                      .text = place.text});
    commit(thread, record);
    return number;
}

/// The places of an op, innermost first, inside a call of the root's method.
std::vector<Place> places_of(const std::vector<StackEntry>& entries, const Object* root, const std::string& method) {
    std::vector<Place> places;
    const std::vector<const Object*> modules = modules_of(root, entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const auto range = told(entries[i].range, modules[i]);
        if (!range) continue;
        if (std::vector<Place> stack = traced_places(*range); !stack.empty()) {
            stack.front().module = modules[i];
            places.insert(places.end(), stack.begin(), stack.end());
            break;  // it is the whole stack
        }
        const auto [file, line, column] = *range->file_line_col();
        const std::string type = modules[i] ? type_name(*modules[i]) + "." : "";
        // What autograd differentiates as one is a function "<forward op>" of its own.
        const bool part = entries[i].filename.find('<') == 0 || entries[i].filename == kFallback;
        const std::string function = part && !method.empty() ? method : short_name(entries[i].filename);
        places.push_back({.file = file,
                          .function = type + function,
                          .text = line_of(*range),
                          .line = static_cast<int>(line),
                          .module = modules[i]});
    }
    if (places.empty()) return places;
    Place& outermost = places.back();
    outermost.entry = true;
    if (!root) return places;
    outermost.module = root;
    if (outermost.function.find('.') == std::string::npos)
        outermost.function = type_name(*root) + "." + outermost.function;
    return places;
}

/// Where a method begins: its first statement that has a place. Ops of which LibTorch says nothing (what autograd makes
/// of a part of it) are there.
std::uint64_t beginning_of(Thread& thread, const Object& module, const char* method) {
    const torch::jit::GraphFunction* const code = code_of(module, method);
    if (!code) return 0;
    for (const torch::jit::Node* node : code->graph()->nodes()) {
        const std::vector<Place> places = places_of({{method, node->sourceRange()}}, &module, method);
        if (node->kind() != c10::prim::Constant && !places.empty()) return define(thread, places.back());
    }
    return 0;
}

bool has_inlined(const torch::jit::Block& block) {
    for (const torch::jit::Node* node : block.nodes()) {
        if (node->callstack()) return true;
        for (const torch::jit::Block* inner : node->blocks())
            if (has_inlined(*inner)) return true;
    }
    return false;
}

/// torch.jit.freeze() inlines the methods of a module's modules and destroys them, but LibTorch's call stack reads
/// their names. What was loaded frozen remembers no such calls.
bool lost_its_functions(const Object& module, const char* method) {
    if (module.type()->hasAttribute("training")) return false;  // not frozen
    const torch::jit::GraphFunction* const code = code_of(module, method);
    return code && has_inlined(*std::as_const(*code->graph()).block());
}

std::atomic<std::uint64_t> last_call{0};
/// Calls that ended on another thread than they began on; the latter takes them out when it looks next.
std::mutex elsewhere_mutex;
std::unordered_set<std::uint64_t> ended_elsewhere;
std::atomic<std::size_t> elsewhere_count{0};
/// Those that a thread left behind and that are still to end on another.
std::unordered_set<std::uint64_t> left_behind;

void drop_ended(Thread& thread) {
    if (elsewhere_count.load(std::memory_order_acquire) == 0) return;
    const std::lock_guard lock(elsewhere_mutex);
    std::vector<Call>& calls = thread.script_calls;
    calls.erase(std::remove_if(calls.begin(), calls.end(),
                               [](const Call& call) { return ended_elsewhere.erase(call.number) > 0; }),
                calls.end());
    elsewhere_count = ended_elsewhere.size();
}

bool is_unsafe(const Thread& thread) {
    return std::any_of(thread.script_calls.begin(), thread.script_calls.end(),
                       [](const Call& call) { return call.unsafe; });
}

}  // namespace

std::uint64_t open_call(Thread& thread) {
    drop_ended(thread);
    std::vector<Call>& calls = thread.script_calls;
    if (!calls.empty() && !is_unsafe(thread) && torch::jit::currentCallstack().empty()) {
        // They waited and go on elsewhere: this thread is no longer in them.
        const std::lock_guard lock(elsewhere_mutex);
        for (const Call& call : calls) left_behind.insert(call.number);
        calls.clear();
    }
    calls.emplace_back().number = ++last_call;
    return thread.script_calls.back().number;
}

void end_call(Thread& thread, std::uint64_t number) {
    std::vector<Call>& calls = thread.script_calls;
    const auto call = std::find_if(calls.begin(), calls.end(), [&](const Call& one) { return one.number == number; });
    if (call != calls.end()) {
        calls.erase(call);
        return;
    }
    const std::lock_guard lock(elsewhere_mutex);
    if (left_behind.erase(number) > 0) return;
    ended_elsewhere.insert(number);
    elsewhere_count = ended_elsewhere.size();
}

void begin_call(Thread& thread, const at::RecordFunction& function) {
    const auto inputs = function.inputs();
    if (inputs.empty() || !inputs[0].isObject() || !inputs[0].toObjectRef().type()->is_module()) return;
    const Object& module = inputs[0].toObjectRef();
    tell_names(thread, module, function.name());
    const auto [place, fresh] = thread.places.try_emplace(
        hash(hash(reinterpret_cast<std::uintptr_t>(&module), std::hash<std::string>()(function.name())), ~0ull), 0);
    if (fresh) {
        place->second = beginning_of(thread, module, function.name());
        if (lost_its_functions(module, function.name())) thread.unsafe_scripts.insert(place->first);
    }
    Call& call = thread.script_calls.back();
    call.module = &module;
    call.method = function.name();
    call.place = place->second;
    call.unsafe = thread.unsafe_scripts.count(place->first) > 0;
}

std::vector<StackEntry> entries(Thread& thread, std::uint64_t& key) {
    drop_ended(thread);
    if (is_unsafe(thread)) {
        key = hash(key, reinterpret_cast<std::uintptr_t>(thread.script_calls.front().module));
        return {};
    }
    // What goes on behind a wait is in the interpreter, though no call began on this thread.
    std::vector<StackEntry> found = torch::jit::currentCallstack();
    if (!found.empty() && !thread.script_calls.empty())
        key = hash(key, reinterpret_cast<std::uintptr_t>(thread.script_calls.front().module));
    for (const StackEntry& entry : found) {
        key = hash(key, reinterpret_cast<std::uintptr_t>(entry.range.source().get()));
        key = hash(key, (static_cast<std::uint64_t>(entry.range.start()) << 32) | entry.range.end());
    }
    return found;
}

void merge(Thread& thread, const std::vector<StackEntry>& entries, std::vector<std::uint64_t>& pcs) {
    if (entries.empty() && !is_unsafe(thread)) return;  // whatever calls wait elsewhere
    const Call outermost = thread.script_calls.empty() ? Call() : thread.script_calls.front();
    std::vector<std::uint64_t> numbers;
    for (const Place& place : places_of(entries, static_cast<const Object*>(outermost.module), outermost.method))
        numbers.push_back(define(thread, place));
    if (numbers.empty() && outermost.place) numbers.push_back(outermost.place);
    // Outside of LibTorch's own frames, so that whoever called the interpreter is what stands behind them.
    const auto caller = std::find_if(pcs.begin(), pcs.end(), [](std::uint64_t pc) { return !in_torch_code(pc); });
    pcs.insert(caller, numbers.begin(), numbers.end());
}

}  // namespace whittle::libtorch::torchscript
