// Names of modules and of what they hold. Modules are seen when they are made, and walked once somebody owns them.
#include <c10/util/Type.h>
#include <sys/uio.h>
#include <torch/nn/module.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

#include "frontends/libtorch/capture/state.h"

namespace whittle::libtorch {

namespace {

/// Bytes of memory that may be gone.
bool read_memory(const void* from, void* to, std::size_t size) {
    iovec local{to, size}, remote{const_cast<void*>(from), size};
    return ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
}

// A module's children are private: an explicit instantiation may name them.
using Children = torch::OrderedDict<std::string, std::shared_ptr<torch::nn::Module>>;
using ChildrenMember = Children torch::nn::Module::*;
ChildrenMember children_member();
template <ChildrenMember Member>
struct Reach {
    friend ChildrenMember children_member() { return Member; }
};
template struct Reach<&torch::nn::Module::children_>;

using Alive = std::map<const torch::nn::Module*, std::shared_ptr<torch::nn::Module>>;

/// The children of a module that nothing shares, such as a local of main. Whether it is still there nobody can tell, so
/// its memory is only copied, and counts where it points to modules that are known to be alive.
std::vector<std::pair<std::string, std::shared_ptr<torch::nn::Module>>> peek_children(torch::nn::Module* module,
                                                                                      const Alive& alive) {
    constexpr std::size_t kMost = 4096, kLongest = 256;
    std::vector<std::pair<std::string, std::shared_ptr<torch::nn::Module>>> children;
    alignas(Children) unsigned char bytes[sizeof(Children)];
    if (!read_memory(&(module->*children_member()), bytes, sizeof bytes)) return children;
    const std::vector<Children::Item>& items = reinterpret_cast<const Children*>(bytes)->items();
    if (items.empty() || items.size() > kMost) return children;
    std::vector<unsigned char> copy(items.size() * sizeof(Children::Item));
    if (!read_memory(items.data(), copy.data(), copy.size())) return children;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const auto& item = reinterpret_cast<const Children::Item*>(copy.data())[i];
        const auto known = alive.find(item.value().get());
        std::string name(std::min(item.key().size(), kLongest), '\0');
        if (known == alive.end() || !read_memory(item.key().data(), name.data(), name.size())) return {};
        children.emplace_back(std::move(name), known->second);
    }
    return children;
}

/// The name of the type that the memory of a module says it is; "" when it says nothing.
std::string peek_type(const torch::nn::Module* module) {
    const std::uintptr_t* table = nullptr;
    std::uintptr_t info[2] = {};  // of std::type_info: its own table, its name
    const void* address = nullptr;
    char name[512] = {};
    if (!read_memory(module, &table, sizeof table) || !read_memory(table - 1, &address, sizeof address) ||
        !read_memory(address, info, sizeof info))
        return {};
    for (std::size_t i = 0; i + 1 < sizeof name; ++i) {
        if (!read_memory(reinterpret_cast<const char*>(info[1]) + i, name + i, 1)) return {};
        if (name[i] == 0) return c10::demangle(name);
    }
    return {};
}

/// A module is known safely once a shared_ptr owns it: then its enable_shared_from_this part points to itself. Until
/// then, or if nothing ever shares it, it may be under construction or gone, so it is not touched.
bool adopt_modules() {
    const std::size_t before = state.modules.size();
    using Shared = std::enable_shared_from_this<torch::nn::Module>;
    std::vector<torch::nn::Module*> waiting;
    for (torch::nn::Module* module : state.made) {
        std::uintptr_t words[2] = {};
        if (!read_memory(static_cast<Shared*>(module), words, sizeof words)) continue;
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

namespace {

/// Names of the module and of all that it holds, as a part of `root`.
void write_tree(Thread& thread, torch::nn::Module& module, const void* root, const std::string& type,
                const std::string& path) {
    const auto in_root = [&](const std::string& name) {
        return path.empty() ? name : name.empty() ? path : path + '.' + name;
    };
    for (const auto& item : module.named_modules())
        write_module(thread, root, item.value()->name(), in_root(item.key()));
    for (const auto& item : module.named_parameters())
        write_name(thread, item.value(), NameKind::parameter, root, type, in_root(item.key()));
    for (const auto& item : module.named_buffers())
        write_name(thread, item.value(), NameKind::buffer, root, type, in_root(item.key()));
}

}  // namespace

void update_names(Thread& thread) {
    const bool fresh = state.names_stale.exchange(false);
    if (!fresh && (state.made.empty() || ++state.polled_before < state.poll_after)) return;
    // A module that no shared_ptr owns stays in `made` for ever: it is looked at ever more rarely.
    state.poll_after = fresh ? 1 : std::min<std::uint64_t>(2 * state.poll_after, 1 << 20);
    state.polled_before = 0;
    if (!adopt_modules() && !fresh) return;
    Alive alive;
    std::vector<torch::nn::Module*> in_order;
    for (const auto& weak : state.modules)
        if (auto module = weak.lock(); module && alive.emplace(module.get(), module).second)
            in_order.push_back(module.get());
    std::set<const torch::nn::Module*> held;
    for (const torch::nn::Module* module : in_order)
        for (const auto& child : module->children()) held.insert(child.get());
    for (torch::nn::Module* unshared : std::set<torch::nn::Module*>(state.made.begin(), state.made.end())) {
        const auto children = peek_children(unshared, alive);
        if (children.empty()) continue;
        const std::string type = peek_type(unshared);
        if (!type.empty()) write_module(thread, unshared, type, "");
        for (const auto& [name, child] : children) {
            held.insert(child.get());
            write_tree(thread, *child, unshared, type, name);
        }
    }
    for (torch::nn::Module* module : in_order)
        if (!held.count(module)) write_tree(thread, *module, module, module->name(), "");
}

}  // namespace whittle::libtorch
