// Tensors and other values of LibTorch as records: what they are, and what they hold.
#include <algorithm>
#include <cstring>
#include <sstream>

#include "frontends/libtorch/capture/ops.h"
#include "frontends/libtorch/capture/state.h"
#include "frontends/libtorch/torch_names.h"

namespace whittle::libtorch {

/// Who waits does not matter while an op runs: nothing returns to the program then.
void tell_release(Thread& thread, const c10::TensorImpl* tensor) {
    const std::uint64_t number = known_identity(tensor).number;
    if (!number) return;
    Waiting waiting;
    if (thread.enclosing.empty() || thread.enclosing.back() == kScope) waiting = who_waits(thread);
    thread.record.start(records::Release{.tensor = number, .looked_at = waiting.looked_at, .waiting = waiting.still});
    commit(thread, thread.record);
}

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

namespace {

/// A wrapper of a program's own has a storage, but nothing there.
bool has_memory(const at::Tensor& tensor) {
    return tensor.has_storage() && (!tensor.device().is_cpu() || tensor.storage().data() || tensor.numel() == 0);
}

void put_tensor(Thread& thread, RecordBuffer& record, const at::Tensor& tensor) {
    TensorRecord written{};
    written.id = identity_of(thread.identities, tensor).number;
    const bool strided = tensor.layout() == at::kStrided;
    if (has_memory(tensor)) {
        written.storage = storage_of(thread.identities, tensor);
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
    if (written.flags & (kSparse | kElsewhere)) {
        std::ostringstream layout;
        layout << tensor.layout();
        record.put_text(layout.str());
        record.put_text(tensor.device().str());
    }
    if (wrapped) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, tensor.unsafeGetTensorImpl()->data(),
                    std::min<std::size_t>(sizeof bits, tensor.element_size()));
        record.put(bits);
    }
}

/// Some kinds of tensors throw when they are asked for sizes or strides: they are told by their kind.
void put_any_tensor(Thread& thread, RecordBuffer& record, const at::Tensor& tensor) {
    const std::size_t before = record.size();
    try {
        put_tensor(thread, record, tensor);
    } catch (const std::exception&) {
        record.shrink(before);
        record.put(ValueTag::other);
        record.put_text(tensor.is_nested() ? "nested tensor" : "tensor of an unknown kind");
    }
}

}  // namespace

namespace {

/// "quantized.LinearPackedParamsBase #2": two objects of a class of C++ are told apart. Their memory stays taken until
/// the number is forgotten, too.
std::string name_of_object(const c10::IValue& value) {
    static auto& known =
        *new std::unordered_map<const void*,
                                std::pair<std::uint64_t, c10::weak_intrusive_ptr<torch::CustomClassHolder>>>;
    std::string name = value.toObjectRef().name();
    if (const auto at = name.find(kClassSpace); at != std::string::npos) name = name.substr(at + kClassSpace.size());
    const auto held = value.toObjectRef().getSlot(0).toCapsule();
    const std::lock_guard lock(state.mutex);
    const auto entry = known.find(held.get());
    if (entry != known.end()) return name + " #" + std::to_string(entry->second.first);
    const std::uint64_t number = known.size() + 1;
    known.emplace(held.get(), std::pair(number, c10::weak_intrusive_ptr<torch::CustomClassHolder>(held)));
    return name + " #" + std::to_string(number);
}

}  // namespace

void put_value(Thread& thread, RecordBuffer& record, const c10::IValue& value) {
    if (value.isTensor()) {
        const at::Tensor& tensor = value.toTensor();
        if (tensor.defined())
            put_any_tensor(thread, record, tensor);
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
        for (const c10::IValue& element : elements) put_value(thread, record, element);
    } else if (value.isTuple()) {
        const auto& elements = value.toTupleRef().elements();
        record.put(ValueTag::list);
        record.put(static_cast<std::uint32_t>(elements.size()));
        for (const c10::IValue& element : elements) put_value(thread, record, element);
    } else if (value.isCustomClass()) {
        record.put(ValueTag::other);
        record.put_text(name_of_object(value));
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

std::uint64_t hash_bytes(const char* data, std::size_t size) {
    LaneHash lanes;
    std::size_t at = lanes.add(data, size);
    std::uint64_t result = lanes.value(size);
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

std::uint64_t key_of(Thread& thread, const at::Tensor& tensor) {
    std::uint64_t key = hash(version_of(tensor), static_cast<std::uint64_t>(tensor.storage_offset()));
    key = hash(key, static_cast<std::uint64_t>(tensor.scalar_type()));
    for (const std::int64_t size : tensor.sizes()) key = hash(key, static_cast<std::uint64_t>(size));
    for (const std::int64_t stride : tensor.strides()) key = hash(key, static_cast<std::uint64_t>(stride) ^ 0x5555u);
    return hash(key, identity_of(thread.identities, tensor).number);
}

}  // namespace

namespace {

void write_elements(Thread& thread, const at::Tensor& tensor, const char* data, std::size_t bytes) {
    if (!state.recorder.has_room_for(bytes)) return state.recorder.leave_out();
    RecordBuffer& record = thread.definition;
    record.start(records::Snapshot());
    put_tensor(thread, record, tensor);
    record.put(static_cast<std::uint64_t>(bytes));
    record.put_bytes(data, bytes);
    commit(thread, record);
}

std::size_t bytes_of(const at::Tensor& tensor) {
    return static_cast<std::size_t>(tensor.numel()) * tensor.element_size();
}

}  // namespace

void snapshot(Thread& thread, const at::Tensor& tensor, bool check) {
    constexpr std::uint64_t kPosition = 4;  // of the key under which it is known where in a ring they are
    if (!is_plain(tensor) || tensor.unsafeGetTensorImpl()->is_wrapped_number()) return;
    storage_of(thread.identities, tensor);  // what is known belongs to its number
    const std::uint64_t key = key_of(thread, tensor);
    const std::optional<std::uint64_t> known = known_elements(tensor, key);
    const auto position = known && state.recorder.with_ring() ? known_elements(tensor, hash(key, kPosition)) : known;
    const bool written = position && (!state.recorder.with_ring() || state.recorder.stays_in_ring(*position));
    if (written && !check) return;
    const std::size_t bytes = bytes_of(tensor);
    std::vector<char> space;
    const char* const data = row_major(tensor, bytes, space);
    const std::uint64_t elements = hash_bytes(data, bytes);
    if (known && *known == elements) {
        if (written) return;
    } else if (known) {
        forget_elements(tensor);
        RecordBuffer& record = thread.definition;
        record.start(records::UnseenWrite());
        put_tensor(thread, record, tensor);
        commit(thread, record);
    }
    remember_elements(tensor, key, elements);
    if (state.recorder.with_ring()) remember_elements(tensor, hash(key, kPosition), state.recorder.ring_position());
    write_elements(thread, tensor, data, bytes);
}

void snapshot_of_memory(Thread& thread, const at::Tensor& tensor) {
    if (!is_plain(tensor)) return;
    std::vector<char> space;
    const std::size_t bytes = bytes_of(tensor);
    write_elements(thread, tensor, row_major(tensor, bytes, space), bytes);
}

void forget_elements(const c10::IValue& value) {
    for_each_tensor(value, [](const at::Tensor& tensor) { forget_elements(tensor); });
}

}  // namespace whittle::libtorch
