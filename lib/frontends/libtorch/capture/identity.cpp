#include "frontends/libtorch/capture/identity.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

namespace whittle::libtorch {

namespace {

/// Hashes of elements by hashes of what showed them. Most storages have one, which needs no memory of its own.
class KnownElements {
  public:
    std::optional<std::uint64_t> find(std::uint64_t key) const {
        if (any_ && key_ == key) return elements_;
        if (!more_) return std::nullopt;
        const auto known = more_->find(key);
        return known == more_->end() ? std::nullopt : std::optional(known->second);
    }
    void add(std::uint64_t key, std::uint64_t elements) {
        if (any_ && key_ != key) {
            if (!more_) more_ = std::make_unique<std::unordered_map<std::uint64_t, std::uint64_t>>();
            if (more_->size() >= kMost)
                more_->clear();  // views of each row of a large tensor: they are looked at again
            more_->emplace(key, elements);
            return;
        }
        if (!any_) key_ = key, elements_ = elements;
        any_ = true;
    }
    void clear() {
        any_ = false;
        more_.reset();
    }

  private:
    static constexpr std::size_t kMost = 4096;
    bool any_ = false;
    std::uint64_t key_ = 0, elements_ = 0;
    std::unique_ptr<std::unordered_map<std::uint64_t, std::uint64_t>> more_;
};

/// What has an address below it, in a table with open addressing.
template <class Target>
struct Slot {
    c10::weak_intrusive_ptr<Target> reference;
    std::uint64_t number = 0;  ///< 0: the slot is free
    std::uint32_t flags = 0;
    KnownElements known;

    Slot() : reference(c10::weak_intrusive_ptr<Target>::reclaim(nullptr)) {}
};

/// On cache lines of its own: what one thread does to its table must not cost the others theirs.
template <class Target>
class alignas(128) Table {
  public:
    /// Entries of what is dead go when the table fills up: their addresses are free from then on, and what comes to lie
    /// there gets a new number. `epoch` tells threads to look again.
    std::atomic<std::uint64_t> epoch{1};
    std::mutex mutex;

    Slot<Target>* find(const Target* target) {
        if (slots_.empty()) return nullptr;
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t i = place(target) & mask;; i = (i + 1) & mask) {
            if (slots_[i].number == 0) return nullptr;
            if (slots_[i].reference._unsafe_get_target() == target) return &slots_[i];
        }
    }
    Slot<Target>& add(Target* target, std::uint64_t number) {
        if (2 * ++used_ > slots_.size()) sweep();
        Slot<Target>& slot = free_slot(target);
        c10::raw::weak_intrusive_ptr::incref(target);
        slot.reference = c10::weak_intrusive_ptr<Target>::reclaim(target);
        slot.number = number;
        return slot;
    }

    void forget_known() {
        for (Slot<Target>& slot : slots_) slot.known.clear();
    }

  private:
    static std::size_t place(const Target* target) {
        return static_cast<std::size_t>((reinterpret_cast<std::uintptr_t>(target) >> 4) * 0x9e3779b97f4a7c15ull >> 20);
    }
    Slot<Target>& free_slot(const Target* target) {
        const std::size_t mask = slots_.size() - 1;
        std::size_t i = place(target) & mask;
        while (slots_[i].number) i = (i + 1) & mask;
        return slots_[i];
    }
    /// In place where the size stays: few are alive as a rule, and each large piece of memory that is asked for makes
    /// malloc tidy up.
    void sweep() {
        std::vector<Slot<Target>> alive;
        for (Slot<Target>& slot : slots_) {
            if (!slot.number) continue;
            Slot<Target> old = std::exchange(slot, Slot<Target>());
            if (!old.reference.expired()) alive.push_back(std::move(old));
        }
        std::size_t size = kLeast;
        while (size < 4 * alive.size()) size *= 2;
        if (size != slots_.size()) slots_ = std::vector<Slot<Target>>(size);
        for (Slot<Target>& slot : alive) free_slot(slot.reference._unsafe_get_target()) = std::move(slot);
        used_ = alive.size() + 1;
        epoch.fetch_add(1, std::memory_order_release);
    }

    /// Few, so that a sweep frees no more than malloc keeps ready for its thread, and memory is used again while it is
    /// in the caches.
    static constexpr std::size_t kLeast = 16;
    std::vector<Slot<Target>> slots_;
    std::size_t used_ = 0;
};

constexpr std::size_t kTables = 256;
/// Addresses that differ only below are in one table. malloc gives a thread memory from a region of its own, so that
/// threads seldom meet in a table, and who sweeps it frees what is its own.
constexpr int kRegionBits = 18;

/// Leaked on purpose: LibTorch's own statics may still run ops at exit.
template <class Target>
std::array<Table<Target>, kTables>& all_tables() {
    static auto* const tables = new std::array<Table<Target>, kTables>;
    return *tables;
}
template <class Target>
Table<Target>& table_of(const Target* target) {
    static_assert(kTables == 1u << 8);
    return all_tables<Target>()[(reinterpret_cast<std::uintptr_t>(target) >> kRegionBits) * 0x9e3779b97f4a7c15ull >>
                                56];
}

template <class Target>
void forget_process_in_tables() {
    for (Table<Target>& table : all_tables<Target>()) {
        if (table.mutex.try_lock()) {
            table.forget_known();
            table.mutex.unlock();
            continue;
        }
        const std::uint64_t epoch = table.epoch;
        new (&table) Table<Target>;  // the old one is leaked
        table.epoch = epoch + 1;
    }
}

/// A tensor that lives has the number that the thread remembers, if nothing was swept since then.
template <class Target>
Identity identify(IdentityCache& cache, Target* target, std::uint32_t add) {
    Table<Target>& table = table_of(target);
    IdentityCache::Entry& entry = cache.at(target);
    const std::uint64_t epoch = table.epoch.load(std::memory_order_acquire);
    if (entry.address == target && entry.epoch == epoch && (entry.flags & add) == add)
        return {entry.number, entry.flags};
    const std::lock_guard lock(table.mutex);
    Slot<Target>* slot = table.find(target);
    if (!slot) slot = &table.add(target, cache.new_number());
    const Identity found{slot->number, slot->flags};
    slot->flags |= add;
    entry = {target, slot->number, table.epoch.load(std::memory_order_relaxed), slot->flags};
    return found;
}

c10::StorageImpl* storage_behind(const at::Tensor& tensor) { return tensor.storage().unsafeGetStorageImpl(); }

}  // namespace

std::uint64_t IdentityCache::new_number() {
    constexpr std::uint64_t kBlock = 64;
    static std::atomic<std::uint64_t> next{1};
    if (next_ == end_) {
        next_ = next.fetch_add(kBlock, std::memory_order_relaxed);
        end_ = next_ + kBlock;
    }
    return next_++;
}

Identity identity_of(IdentityCaches& caches, const at::Tensor& tensor, std::uint32_t add) {
    return identify(caches.tensors, tensor.unsafeGetTensorImpl(), add);
}

std::uint64_t storage_of(IdentityCaches& caches, const at::Tensor& tensor) {
    return tensor.has_storage() ? identify(caches.storages, storage_behind(tensor), 0).number : 0;
}

Identity known_identity(const c10::TensorImpl* address) {
    Table<c10::TensorImpl>& table = table_of(address);
    const std::lock_guard lock(table.mutex);
    const Slot<c10::TensorImpl>* const slot = table.find(address);
    return slot ? Identity{slot->number, slot->flags} : Identity();
}

std::optional<std::uint64_t> known_elements(const at::Tensor& tensor, std::uint64_t key) {
    Table<c10::StorageImpl>& table = table_of(storage_behind(tensor));
    const std::lock_guard lock(table.mutex);
    const Slot<c10::StorageImpl>* const slot = table.find(storage_behind(tensor));
    return slot ? slot->known.find(key) : std::nullopt;
}

void remember_elements(const at::Tensor& tensor, std::uint64_t key, std::uint64_t elements) {
    Table<c10::StorageImpl>& table = table_of(storage_behind(tensor));
    const std::lock_guard lock(table.mutex);
    Slot<c10::StorageImpl>* const slot = table.find(storage_behind(tensor));
    if (slot) slot->known.add(key, elements);
}

void forget_elements(const at::Tensor& tensor) {
    if (!tensor.has_storage()) return;
    Table<c10::StorageImpl>& table = table_of(storage_behind(tensor));
    const std::lock_guard lock(table.mutex);
    if (Slot<c10::StorageImpl>* const slot = table.find(storage_behind(tensor)); slot) slot->known.clear();
}

void forget_process() {
    forget_process_in_tables<c10::TensorImpl>();
    forget_process_in_tables<c10::StorageImpl>();
}

}  // namespace whittle::libtorch
