// Which tensor is which: numbers of tensors and storages that are never used again for another. An address alone names
// whatever lies there now, so a weak reference keeps that of a dead tensor taken until its number is forgotten, too;
// strong ones would change what autograd does. Each thread remembers what it met last; what it meets first is looked up
// in one of many tables, by region of memory, each with a lock of its own.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <optional>

namespace whittle::libtorch {

enum IdentityFlags : std::uint32_t {
    kRegistered = 1,  ///< a module has it as a parameter or buffer
    kAsked = 2,       ///< Python was asked what it is called
};

/// What a thread remembers of one kind of objects.
class IdentityCache {
  public:
    struct Entry {
        const void* address = nullptr;
        std::uint64_t number = 0, epoch = 0;
        std::uint32_t flags = 0;
    };
    Entry& at(const void* address) {
        return entries_[(reinterpret_cast<std::uintptr_t>(address) >> 4) * 0x9e3779b97f4a7c15ull >> 55];
    }
    /// A number that no other thread gives.
    std::uint64_t new_number();

  private:
    std::array<Entry, 512> entries_;
    std::uint64_t next_ = 0, end_ = 0;
};
/// A storage may come to lie where a tensor was: what is remembered of the two is kept apart.
struct IdentityCaches {
    IdentityCache tensors, storages;
};

struct Identity {
    std::uint64_t number = 0;
    std::uint32_t flags = 0;  ///< IdentityFlags, before `add`
};
Identity identity_of(IdentityCaches& caches, const at::Tensor& tensor, std::uint32_t add = 0);
/// Of its storage; 0 where it has none.
std::uint64_t storage_of(IdentityCaches& caches, const at::Tensor& tensor);
/// Of the tensor at that address, which may be gone; 0 where it was never met.
Identity known_identity(const c10::TensorImpl* address);

// What was written down of a storage's elements: by a hash of tensor, version and geometry, a hash of the elements.
std::optional<std::uint64_t> known_elements(const at::Tensor& tensor, std::uint64_t key);
void remember_elements(const at::Tensor& tensor, std::uint64_t key, std::uint64_t elements);
/// They changed, or may have.
void forget_elements(const at::Tensor& tensor);

/// In a forked child: what was written down of elements is in the parent's file. Threads that are gone may have left a
/// table half changed; what it had gets new numbers.
void forget_process();

}  // namespace whittle::libtorch
