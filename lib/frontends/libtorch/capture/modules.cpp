// Names of modules and of what they hold. Modules are seen when they are made, and walked once somebody owns them.
#include <ATen/core/ivalue.h>  // before module.h, which clang refuses otherwise
#include <c10/util/Type.h>
#include <sys/uio.h>
#include <torch/nn/module.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "frontends/libtorch/capture/state.h"

namespace whittle::libtorch {

namespace {

/// Bytes of memory that may be gone.
bool read_memory(const void* from, void* to, std::size_t size) {
    iovec local{to, size}, remote{const_cast<void*>(from), size};
    return ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
}

// What a module holds is private: an explicit instantiation may name it.
using torch::nn::Module;
using Children = torch::OrderedDict<std::string, std::shared_ptr<Module>>;
using Tensors = torch::OrderedDict<std::string, at::Tensor>;
using ChildrenMember = Children Module::*;
using TensorsMember = Tensors Module::*;
ChildrenMember children_member();
TensorsMember parameters_member();
TensorsMember buffers_member();
template <ChildrenMember kChildren, TensorsMember kParameters, TensorsMember kBuffers>
struct Reach {
    friend ChildrenMember children_member() { return kChildren; }
    friend TensorsMember parameters_member() { return kParameters; }
    friend TensorsMember buffers_member() { return kBuffers; }
};
template struct Reach<&Module::children_, &Module::parameters_, &Module::buffers_>;

const Module* address_of(const std::shared_ptr<Module>& module) { return module.get(); }
const c10::TensorImpl* address_of(const at::Tensor& tensor) { return tensor.unsafeGetTensorImpl(); }

/// The names in a dictionary of a module, and the addresses of what they name. Whether the module is still there, and
/// whether another thread writes to it, nobody can tell, so its memory is only copied.
template <class Dict>
auto peek(const Dict* dictionary) {
    constexpr std::size_t kMost = 4096, kLongest = 256;
    using Item = typename Dict::Item;
    using Address = decltype(address_of(std::declval<const Item&>().value()));
    std::vector<std::pair<std::string, Address>> found;
    alignas(Dict) unsigned char bytes[sizeof(Dict)];
    if (!read_memory(dictionary, bytes, sizeof bytes)) return found;
    const std::vector<Item>& items = reinterpret_cast<const Dict*>(bytes)->items();
    if (items.empty() || items.size() > kMost) return found;
    std::vector<unsigned char> copy(items.size() * sizeof(Item));
    if (!read_memory(items.data(), copy.data(), copy.size())) return found;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const Item& item = reinterpret_cast<const Item*>(copy.data())[i];
        std::string name(std::min(item.key().size(), kLongest), '\0');
        if (!read_memory(item.key().data(), name.data(), name.size())) return found;
        found.emplace_back(std::move(name), address_of(item.value()));
    }
    return found;
}

/// The name of the type that the memory of an object with virtual functions says it is; "" when it says nothing.
std::string peek_type(const void* object) {
    const std::uintptr_t* table = nullptr;
    std::uintptr_t info[2] = {};  // of std::type_info: its own table, its name
    const void* address = nullptr;
    char name[512] = {};
    if (!read_memory(object, &table, sizeof table) || !read_memory(table - 1, &address, sizeof address) ||
        !read_memory(address, info, sizeof info))
        return {};
    constexpr std::size_t kBlock = 32;
    const char* const text = reinterpret_cast<const char*>(info[1]);
    for (std::size_t i = 0; i + kBlock < sizeof name; i += kBlock) {
        if (!read_memory(text + i, name + i, kBlock))  // the block may end in memory that is not there
            for (std::size_t k = i; k < i + kBlock && (k == i || name[k - 1]); ++k)
                if (!read_memory(text + k, name + k, 1)) return {};
        if (std::memchr(name + i, 0, kBlock)) return c10::demangle(name);
    }
    return {};
}

/// What the weak_ptr of an enable_shared_from_this consists of: libstdc++ writes them in this order.
struct WeakParts {
    const void* object = nullptr;
    const void* counts = nullptr;
};
using WeakModule = std::weak_ptr<torch::nn::Module>;
static_assert(sizeof(WeakParts) == sizeof(WeakModule));

/// Memory that holds the counts of a shared object that is alive. That of one that is gone may still look like a
/// pointer to it.
bool counts_owners(const void* counts) {
    struct {
        const void* table;
        int owners, observers;
    } block{};
    return read_memory(counts, &block, sizeof block) && block.owners > 0 && block.observers > 0 &&
           peek_type(counts).find("_Sp_counted") != std::string::npos;
}

/// A module is known safely once a shared_ptr owns it: then its enable_shared_from_this part points to itself. Until
/// then, or if nothing ever shares it, it may be under construction or gone, so only copies of its memory are looked
/// at: another thread may be writing there.
bool adopt_modules() {
    const std::size_t before = state.modules.size();
    using Shared = std::enable_shared_from_this<torch::nn::Module>;
    std::vector<torch::nn::Module*> waiting;
    for (torch::nn::Module* module : state.made) {
        alignas(WeakModule) unsigned char copy[sizeof(WeakModule)];
        WeakParts parts;
        if (!read_memory(static_cast<Shared*>(module), copy, sizeof copy)) continue;
        std::memcpy(&parts, copy, sizeof parts);
        if (parts.object != module || !parts.counts)
            waiting.push_back(module);
        else if (counts_owners(parts.counts))
            state.modules.emplace_back(module, *reinterpret_cast<const WeakModule*>(copy));
    }
    if (waiting.size() > 10000) waiting.clear();
    state.made = std::move(waiting);
    state.modules_made = !state.made.empty();
    return state.modules.size() > before;
}

}  // namespace

void write_module(Thread& thread, const void* root, const void* module, const std::string& type,
                  const std::string& path) {
    const auto number = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(root));
    if (!state.named_modules.emplace(number, type + '/' + path).second) return;
    RecordBuffer& record = thread.definition;
    record.start(records::Module{
        .root = number, .module = reinterpret_cast<std::uintptr_t>(module), .type = type, .path = path});
    commit(thread, record);
}

void write_name(Thread& thread, std::uint64_t tensor, NameKind kind, const void* root, const std::string& type,
                const std::string& path) {
    if (!state.named.emplace(tensor, type + '/' + path).second) return;
    RecordBuffer& record = thread.definition;
    record.start(records::Name{
        .tensor = tensor, .kind = kind, .root = reinterpret_cast<std::uintptr_t>(root), .type = type, .path = path});
    commit(thread, record);
}

namespace {

using Alive = std::set<const Module*>;
struct NamedModule {
    const Module* module;
    std::string path;
};

std::string join(const std::string& path, const std::string& name) {
    return path.empty() ? name : name.empty() ? path : path + '.' + name;
}

/// The module and all that it holds, each before its children.
void collect(const Module* module, const std::string& path, const Alive& alive, std::vector<NamedModule>& tree,
             int depth = 0) {
    constexpr int kDeepest = 64;  // memory that changes meanwhile could show a circle
    constexpr std::size_t kMost = 100000;
    if (depth > kDeepest || tree.size() > kMost) return;
    tree.push_back({module, path});
    for (const auto& [name, child] : peek(&(module->*children_member())))
        if (alive.count(child)) collect(child, join(path, name), alive, tree, depth + 1);
}

/// Names of what the modules hold, as parts of `root`.
void write_tree(Thread& thread, const std::vector<NamedModule>& tree, const void* root, const std::string& type) {
    for (const NamedModule& part : tree) write_module(thread, root, part.module, peek_type(part.module), part.path);
    const auto write_tensors = [&](TensorsMember member, NameKind kind) {
        for (const NamedModule& part : tree)
            for (const auto& [name, tensor] : peek(&(part.module->*member))) {
                if (const auto [number, flags] = known_identity(tensor); flags & kRegistered)
                    write_name(thread, number, kind, root, type, join(part.path, name));
            }
    };
    write_tensors(parameters_member(), NameKind::parameter);
    write_tensors(buffers_member(), NameKind::buffer);
}

}  // namespace

void update_names(Thread& thread) {
    const bool fresh = state.names_stale.load(std::memory_order_relaxed) && state.names_stale.exchange(false);
    if (!fresh && (!state.modules_made || ++state.polled_before < state.poll_after)) return;
    const std::lock_guard lock(state.mutex);
    // A module that no shared_ptr owns stays in `made` for ever: it is looked at ever more rarely.
    state.poll_after = fresh ? 1 : std::min<std::uint64_t>(2 * state.poll_after.load(), 1 << 20);
    state.polled_before = 0;
    if (!adopt_modules() && !fresh) return;
    state.modules.erase(std::remove_if(state.modules.begin(), state.modules.end(),
                                       [](const auto& entry) { return entry.second.expired(); }),
                        state.modules.end());
    Alive alive, held;
    for (const auto& entry : state.modules) alive.insert(entry.first);
    for (const auto& entry : state.modules)
        for (const auto& child : peek(&(entry.first->*children_member()))) held.insert(child.second);
    // Modules that nothing shares, such as a local of main: they may be gone, but one that holds
    // modules that are alive is there.
    for (const Module* unshared : std::set<Module*>(state.made.begin(), state.made.end())) {
        const auto children = peek(&(unshared->*children_member()));
        const bool plausible =
            std::all_of(children.begin(), children.end(), [&](const auto& child) { return alive.count(child.second); });
        if (children.empty() || !plausible) continue;
        const std::string type = peek_type(unshared);
        if (!type.empty()) write_module(thread, unshared, unshared, type, "");
        for (const auto& [name, child] : children) {
            held.insert(child);
            std::vector<NamedModule> tree;
            collect(child, name, alive, tree);
            write_tree(thread, tree, unshared, type);
        }
    }
    for (const auto& entry : state.modules) {
        if (held.count(entry.first)) continue;
        std::vector<NamedModule> tree;
        collect(entry.first, "", alive, tree);
        write_tree(thread, tree, entry.first, peek_type(entry.first));
    }
}

}  // namespace whittle::libtorch
