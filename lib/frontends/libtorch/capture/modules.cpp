// Names of modules and of what they hold. Modules are seen when they are made, and walked once somebody owns them.
#include <sys/uio.h>
#include <torch/nn/module.h>
#include <unistd.h>

#include <algorithm>

#include "frontends/libtorch/capture/state.h"

namespace whittle::libtorch {

namespace {

/// Two words of memory that may be gone.
bool read_words(const void* from, std::uintptr_t (&words)[2]) {
    iovec local{words, sizeof words}, remote{const_cast<void*>(from), sizeof words};
    return ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(sizeof words);
}

/// A module is known safely once a shared_ptr owns it: then its enable_shared_from_this part points to itself. Until
/// then, or if nothing ever shares it, it may be under construction or gone, so it is not touched.
bool adopt_modules() {
    const std::size_t before = state.modules.size();
    using Shared = std::enable_shared_from_this<torch::nn::Module>;
    std::vector<torch::nn::Module*> waiting;
    for (torch::nn::Module* module : state.made) {
        std::uintptr_t words[2] = {};
        if (!read_words(static_cast<Shared*>(module), words)) continue;
        if (words[0] == reinterpret_cast<std::uintptr_t>(module) && words[1])
            state.modules.push_back(module->weak_from_this());
        else
            waiting.push_back(module);
    }
    if (waiting.size() > 10000) waiting.clear();
    state.made = std::move(waiting);
    return state.modules.size() > before;
}

void write_module(Thread& thread, const void* root, const std::string& type, const std::string& path) {
    const auto number = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(root));
    if (!state.named_modules.emplace(number, type + '/' + path).second) return;
    RecordBuffer& record = thread.definition;
    record.start(RecordKind::module);
    record.put(number);
    record.put_text(type);
    record.put_text(path);
    commit(thread, record);
}

}  // namespace

void write_name(Thread& thread, const at::Tensor& tensor, NameKind kind, const void* root, const std::string& type,
                const std::string& path) {
    if (!tensor.defined()) return;
    const std::uint64_t id = entry_of(tensor).id;
    if (!state.named.emplace(id, type + '/' + path).second) return;
    RecordBuffer& record = thread.definition;
    record.start(RecordKind::name);
    record.put(id);
    record.put(kind);
    record.put(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(root)));
    record.put_text(type);
    record.put_text(path);
    commit(thread, record);
}

void update_names(Thread& thread) {
    const bool fresh = state.names_stale.exchange(false);
    if (!fresh && (state.made.empty() || ++state.polled_before < state.poll_after)) return;
    // A module that no shared_ptr owns stays in `made` for ever: it is looked at ever more rarely.
    state.poll_after = fresh ? 1 : std::min<std::uint64_t>(2 * state.poll_after, 1 << 20);
    state.polled_before = 0;
    if (!adopt_modules() && !fresh) return;
    std::vector<std::shared_ptr<torch::nn::Module>> alive;
    for (const auto& weak : state.modules)
        if (auto module = weak.lock()) alive.push_back(std::move(module));
    std::set<const torch::nn::Module*> held;
    for (const auto& module : alive)
        for (const auto& child : module->children()) held.insert(child.get());
    for (const auto& module : alive) {
        if (held.count(module.get())) continue;
        for (const auto& item : module->named_modules())
            write_module(thread, module.get(), item.value()->name(), item.key());
        for (const auto& item : module->named_parameters())
            write_name(thread, item.value(), NameKind::parameter, module.get(), module->name(), item.key());
        for (const auto& item : module->named_buffers())
            write_name(thread, item.value(), NameKind::buffer, module.get(), module->name(), item.key());
    }
}

}  // namespace whittle::libtorch
