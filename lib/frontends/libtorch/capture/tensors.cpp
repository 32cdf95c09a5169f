// Tensors and other values of LibTorch as records: what they are, and what they hold.
#include <algorithm>
#include <cstring>

#include "frontends/libtorch/capture/state.h"

namespace whittle::libtorch {

namespace {

bool may_go(const State::TensorEntry& entry) { return entry.reference.expired() && !entry.watched; }
bool may_go(const State::StorageEntry& entry) { return entry.reference.expired(); }

/// Entries of what is dead go now and then: their addresses are free from then on, and a new tensor there gets a new
/// number.
template <class Map>
void sweep(Map& map, std::size_t& limit) {
    if (map.size() < limit) return;
    for (auto entry = map.begin(); entry != map.end();)
        entry = may_go(entry->second) ? map.erase(entry) : std::next(entry);
    limit = std::max(kSweepAt, 2 * map.size());
}

State::StorageEntry& storage_of(c10::StorageImpl* impl) {
    const auto found = state.storages.find(impl);
    if (found != state.storages.end()) return found->second;
    sweep(state.storages, state.storage_limit);
    auto strong = c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(impl);
    State::StorageEntry entry{c10::weak_intrusive_ptr<c10::StorageImpl>(strong), ++state.last_storage, {}};
    return state.storages.emplace(impl, std::move(entry)).first->second;
}

}  // namespace

State::TensorEntry& entry_of(const at::Tensor& tensor) {
    c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
    const auto found = state.tensors.find(impl);
    if (found != state.tensors.end()) return found->second;
    sweep(state.tensors, state.tensor_limit);
    State::TensorEntry entry{c10::weak_intrusive_ptr<c10::TensorImpl>(tensor.getIntrusivePtr()), ++state.last_tensor};
    return state.tensors.emplace(impl, std::move(entry)).first->second;
}

void watch(const at::Tensor& tensor) {
    State::TensorEntry& entry = entry_of(tensor);
    if (entry.watched) return;
    entry.watched = true;
    state.watched.push_back(&entry);
}

void tell_releases(Thread& thread) {
    RecordBuffer& record = thread.definition;
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < state.watched.size();) {
        State::TensorEntry& entry = *state.watched[i];
        if (!entry.reference.expired()) {
            ++i;
            continue;
        }
        if (count++ == 0) {
            record.start(RecordKind::release);
            record.put(count);
        }
        record.put(entry.id);
        entry.watched = false;
        state.watched[i] = state.watched.back();
        state.watched.pop_back();
    }
    if (count == 0) return;
    record.patch(sizeof(RecordHeader), count);
    commit(thread, record);
}

namespace {

/// Kinds of tensors that throw when they are asked what they are, are not plain.
bool is_plain(const at::Tensor& tensor) try {
    return !tensor.is_nested() && tensor.layout() == at::kStrided && tensor.device().is_cpu() &&
           !tensor.is_quantized() && !tensor.is_conj() && !tensor.is_neg() && tensor.has_storage() &&
           (tensor.storage().data() || tensor.numel() == 0);
} catch (const std::exception&) {
    return false;
}
std::uint32_t version_of(const at::Tensor& tensor) {
    return tensor.is_inference() ? 0 : static_cast<std::uint32_t>(tensor._version());
}

/// The mutex is held.
void put_tensor(RecordBuffer& record, const at::Tensor& tensor) {
    TensorRecord written{};
    written.id = entry_of(tensor).id;
    const bool strided = tensor.layout() == at::kStrided;
    if (tensor.has_storage()) {
        written.storage = storage_of(tensor.storage().unsafeGetStorageImpl()).id;
        written.offset = tensor.storage_offset();
        written.flags |= kHasStorage;
    }
    written.version = version_of(tensor);
    written.dtype = static_cast<std::int8_t>(tensor.scalar_type());
    const bool wrapped = tensor.unsafeGetTensorImpl()->is_wrapped_number() && tensor.storage().data();
    if (tensor.requires_grad()) written.flags |= kRequiresGrad;
    if (tensor.is_leaf()) written.flags |= kLeaf;
    if (wrapped) written.flags |= kWrappedNumber;
    if (is_plain(tensor)) written.flags |= kPlain;
    if (!strided) written.flags |= kSparse;
    if (tensor.is_quantized()) written.flags |= kQuantized;
    if (!tensor.device().is_cpu()) written.flags |= kElsewhere;
    const at::IntArrayRef sizes = tensor.sizes();
    written.rank = static_cast<std::uint8_t>(sizes.size());
    record.put(ValueTag::tensor);
    record.put(written);
    record.put_bytes(sizes.data(), sizes.size() * sizeof(std::int64_t));
    for (std::size_t i = 0; i < sizes.size(); ++i) record.put(strided ? tensor.strides()[i] : std::int64_t{0});
    if (wrapped) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, tensor.unsafeGetTensorImpl()->data(),
                    std::min<std::size_t>(sizeof bits, tensor.element_size()));
        record.put(bits);
    }
}

/// Some kinds of tensors throw when they are asked for sizes or strides: they are told by their kind.
void put_any_tensor(RecordBuffer& record, const at::Tensor& tensor) {
    const std::size_t before = record.size();
    try {
        put_tensor(record, tensor);
    } catch (const std::exception&) {
        record.shrink(before);
        record.put(ValueTag::other);
        record.put_text(tensor.is_nested() ? "nested tensor" : "tensor of a kind of its own");
    }
}

}  // namespace

void put_value(RecordBuffer& record, const c10::IValue& value) {
    if (value.isTensor()) {
        const at::Tensor& tensor = value.toTensor();
        if (tensor.defined())
            put_any_tensor(record, tensor);
        else
            record.put(ValueTag::undefined);
    } else if (value.isNone()) {
        record.put(ValueTag::none);
    } else if (value.isInt()) {
        record.put(ValueTag::integer);
        record.put(static_cast<std::int64_t>(value.toInt()));
    } else if (value.isDouble()) {
        record.put(ValueTag::real);
        record.put(value.toDouble());
    } else if (value.isBool()) {
        record.put(ValueTag::boolean);
        record.put(static_cast<std::uint8_t>(value.toBool()));
    } else if (value.isString()) {
        record.put(ValueTag::text);
        record.put_text(value.toStringRef());
    } else if (value.isList()) {
        const auto elements = value.toListRef();
        record.put(ValueTag::list);
        record.put(static_cast<std::uint32_t>(elements.size()));
        for (const c10::IValue& element : elements) put_value(record, element);
    } else if (value.isTuple()) {
        const auto& elements = value.toTupleRef().elements();
        record.put(ValueTag::list);
        record.put(static_cast<std::uint32_t>(elements.size()));
        for (const c10::IValue& element : elements) put_value(record, element);
    } else {
        record.put(ValueTag::other);
        record.put_text(value.isDevice() ? value.toDevice().str() : value.tagKind());
    }
}

namespace {

void copy_row_major(char* to, const char* from, at::IntArrayRef sizes, at::IntArrayRef strides, std::size_t width) {
    if (sizes.empty()) {
        std::memcpy(to, from, width);
        return;
    }
    std::int64_t inner = 1;
    for (std::size_t i = 1; i < sizes.size(); ++i) inner *= sizes[i];
    const std::size_t row = static_cast<std::size_t>(inner) * width;
    for (std::int64_t i = 0; i < sizes[0]; ++i)
        copy_row_major(to + static_cast<std::size_t>(i) * row, from + i * strides[0] * static_cast<std::int64_t>(width),
                       sizes.slice(1), strides.slice(1), width);
}

}  // namespace

namespace {

/// Four lanes, so that it is as fast as memory.
std::uint64_t hash_bytes(const char* data, std::size_t size) {
    constexpr std::size_t kLanes = 4, kStride = kLanes * sizeof(std::uint64_t);
    std::uint64_t lanes[kLanes] = {1, 2, 3, 4}, words[kLanes];
    std::size_t at = 0;
    for (; at + kStride <= size; at += kStride) {
        std::memcpy(words, data + at, kStride);
        for (std::size_t i = 0; i < kLanes; ++i)
            lanes[i] = (lanes[i] ^ words[i]) * 0x9e3779b97f4a7c15ull + (lanes[i] >> 29);
    }
    std::uint64_t result = size;
    for (const std::uint64_t lane : lanes) result = hash(result, lane);
    for (; at < size; ++at) result = hash(result, static_cast<unsigned char>(data[at]));
    return result;
}

/// The elements in row-major order: in place, or in `space`.
const char* row_major(const at::Tensor& tensor, std::size_t bytes, std::vector<char>& space) {
    const char* data = static_cast<const char*>(tensor.unsafeGetTensorImpl()->data());
    if (!bytes || tensor.is_contiguous()) return data;
    space.resize(bytes);
    copy_row_major(space.data(), data, tensor.sizes(), tensor.strides(), tensor.element_size());
    return space.data();
}

std::uint64_t key_of(const at::Tensor& tensor) {
    std::uint64_t key = hash(version_of(tensor), static_cast<std::uint64_t>(tensor.storage_offset()));
    key = hash(key, static_cast<std::uint64_t>(tensor.scalar_type()));
    for (const std::int64_t size : tensor.sizes()) key = hash(key, static_cast<std::uint64_t>(size));
    for (const std::int64_t stride : tensor.strides()) key = hash(key, static_cast<std::uint64_t>(stride) ^ 0x5555u);
    return hash(key, entry_of(tensor).id);
}

}  // namespace

namespace {

void write_elements(Thread& thread, const at::Tensor& tensor, const char* data, std::size_t bytes) {
    if (!state.recorder.has_room_for(bytes)) return state.recorder.leave_out();
    RecordBuffer& record = thread.definition;
    record.start(RecordKind::snapshot);
    put_tensor(record, tensor);
    record.put(static_cast<std::uint64_t>(bytes));
    record.put_bytes(data, bytes);
    commit(thread, record);
}

std::size_t bytes_of(const at::Tensor& tensor) {
    return static_cast<std::size_t>(tensor.numel()) * tensor.element_size();
}

}  // namespace

void snapshot(Thread& thread, const at::Tensor& tensor, bool check) {
    if (!is_plain(tensor) || tensor.unsafeGetTensorImpl()->is_wrapped_number()) return;
    State::StorageEntry& storage = storage_of(tensor.storage().unsafeGetStorageImpl());
    const std::uint64_t key = key_of(tensor);
    const auto known = storage.known.find(key);
    if (known != storage.known.end() && !check) return;
    const std::size_t bytes = bytes_of(tensor);
    std::vector<char> space;
    const char* const data = row_major(tensor, bytes, space);
    const std::uint64_t elements = hash_bytes(data, bytes);
    if (known != storage.known.end()) {
        if (known->second == elements) return;
        storage.known.clear();
        RecordBuffer& record = thread.definition;
        record.start(RecordKind::unseen_write);
        put_tensor(record, tensor);
        commit(thread, record);
    }
    storage.known.emplace(key, elements);
    write_elements(thread, tensor, data, bytes);
}

void snapshot_of_memory(Thread& thread, const at::Tensor& tensor) {
    if (!is_plain(tensor)) return;
    std::vector<char> space;
    const std::size_t bytes = bytes_of(tensor);
    write_elements(thread, tensor, row_major(tensor, bytes, space), bytes);
}

void forget_elements(const c10::IValue& value) {
    for_each_tensor(value, [](const at::Tensor& tensor) {
        if (tensor.has_storage()) storage_of(tensor.storage().unsafeGetStorageImpl()).known.clear();
    });
}

}  // namespace whittle::libtorch
