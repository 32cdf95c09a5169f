#include "frontends/onnx/tensor_proto.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/words.h"
#include "frontends/onnx/proto.h"
#include "graph/placement.h"
#include "tensor/opaque_types.h"

namespace whittle {

namespace onnx_proto {
namespace {

/// Bytes of the tensor that dims and type promise.
std::size_t promised_bytes(const onnx::TensorProto& proto, std::size_t element, Sizes& sizes, const Location& where) {
    sizes.assign(proto.dims().begin(), proto.dims().end());
    std::size_t bytes = element;
    bool empty = false;
    for (const std::int64_t size : sizes) {
        if (size < 0) throw Error(where, "found dims " + to_string(sizes) + ", expected no negative size");
        empty |= size == 0;
    }
    if (empty) return 0;
    for (const std::int64_t size : sizes)
        if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(size), &bytes) ||
            bytes > static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max()))
            throw Error(where, "found dims " + to_string(sizes) + ", expected a tensor that fits in memory");
    return bytes;
}

/// int32_data or uint64_data as the tensor's elements. `Element` is the storage type; reduced floats are stored as
/// bits.
template <class Element>
void narrow(const auto& data, Tensor& tensor, const Location& where) {
    auto* out = static_cast<Element*>(tensor.mutable_raw());
    for (const auto value : data) {
        bool fits = value == 0 || value == 1;
        if constexpr (!std::is_same_v<Element, bool>) fits = std::in_range<Element>(value);
        if (!fits)
            throw Error(where, "found the element " + std::to_string(value) + ", expected an element in the range of " +
                                   std::string(name(tensor.dtype())));
        *out++ = static_cast<Element>(value);
    }
}

std::string count_message(const std::string& found, const Sizes& sizes, DType dtype, std::int64_t expected) {
    return "found " + found + ", expected " + std::to_string(expected) + " for " + std::string(name(dtype)) +
           to_string(sizes);
}

Tensor from_typed_fields(const onnx::TensorProto& proto, DType dtype, const Sizes& sizes, const Location& where) {
    const std::int64_t expected = element_count(sizes) * (is_complex(dtype) ? 2 : 1);
    // A complex number is two elements, one after the other.
    const int found = real_of(dtype) == DType::f32                 ? proto.float_data_size()
                      : real_of(dtype) == DType::f64               ? proto.double_data_size()
                      : dtype == DType::i64                        ? proto.int64_data_size()
                      : dtype == DType::u32 || dtype == DType::u64 ? proto.uint64_data_size()
                                                                   : proto.int32_data_size();
    const int all = proto.float_data_size() + proto.double_data_size() + proto.int64_data_size() +
                    proto.int32_data_size() + proto.uint64_data_size() + proto.string_data_size();
    if (all != found)
        throw Error(where, "found data in the field of another type, expected all data in the field for " +
                               std::string(name(dtype)));
    if (found != expected) throw Error(where, count_message(plural(found, "element"), sizes, dtype, expected));
    Tensor tensor(dtype, sizes);
    if (expected == 0) return tensor;
    visit_dtype(dtype, [&]<class T>(T) {
        const auto copy = [&](const auto& data) { std::copy(data.begin(), data.end(), tensor.mutable_data<T>()); };
        if constexpr (is_complex_type<T>) {
            auto* parts = reinterpret_cast<typename T::value_type*>(tensor.mutable_data<T>());
            if constexpr (std::is_same_v<T, Complex64>)
                std::copy(proto.float_data().begin(), proto.float_data().end(), parts);
            else
                std::copy(proto.double_data().begin(), proto.double_data().end(), parts);
        } else if constexpr (std::is_same_v<T, float>)
            copy(proto.float_data());
        else if constexpr (std::is_same_v<T, double>)
            copy(proto.double_data());
        else if constexpr (std::is_same_v<T, std::int64_t>)
            copy(proto.int64_data());
        else if constexpr (std::is_same_v<T, std::uint64_t> || std::is_same_v<T, std::uint32_t>)
            narrow<T>(proto.uint64_data(), tensor, where);
        else if constexpr (!is_reduced_type<T>)
            narrow<T>(proto.int32_data(), tensor, where);
        else if constexpr (sizeof(T) == 2)
            narrow<std::uint16_t>(proto.int32_data(), tensor, where);
        else
            narrow<std::uint8_t>(proto.int32_data(), tensor, where);
    });
    return tensor;
}

/// A contiguous tensor over bytes that `owner` keeps; a copy when they are not aligned for the element type.
Tensor from_bytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner, DType dtype, const Sizes& sizes,
                  const Location& where) {
    if (dtype == DType::boolean) {  // any other byte read as a bool would be undefined behaviour
        const auto bad = std::find_if(bytes.begin(), bytes.end(), [](std::byte b) { return b > std::byte{1}; });
        if (bad != bytes.end())
            throw Error(where, "found the bool " + std::to_string(static_cast<int>(*bad)) + " at byte " +
                                   std::to_string(bad - bytes.begin()) + " of the data, expected 0 or 1");
    }
    const bool aligned = reinterpret_cast<std::uintptr_t>(bytes.data()) % alignment_of(dtype) == 0;
    if (aligned && !bytes.empty())
        return Tensor(Storage::borrow(bytes, std::move(owner)), dtype, sizes, contiguous_strides(sizes));
    Tensor copy(dtype, sizes);
    if (!bytes.empty()) std::memcpy(copy.mutable_raw(), bytes.data(), bytes.size());
    return copy;
}

}  // namespace

namespace {

/// Throws Error for those that no tensor has.
Sizes opaque_sizes(const onnx::TensorProto& proto, const Location& where) {
    Sizes sizes;
    promised_bytes(proto, sizeof(float), sizes, where);  // a meta of them is one of f32
    return sizes;
}

/// The bytes of a TensorProto without a name.
Tensor take_opaque(onnx::TensorProto& proto, const OpaqueType& type, ExternalFiles& external, const Location& where) {
    const Sizes sizes = opaque_sizes(proto, where);
    if (proto.has_segment()) throw Error(where, "found a segment of a tensor, expected a whole tensor");
    if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
        constexpr std::size_t kByte = 8;
        const std::size_t bits = static_cast<std::size_t>(element_count(sizes)) * static_cast<std::size_t>(type.bits);
        if (type.bits == 0)
            throw Error(where, "found strings as external data, expected strings inside the model file");
        const ExternalFiles::View view = external.view(proto, (bits + kByte - 1) / kByte, where);
        proto.clear_external_data();
        proto.clear_data_location();
        proto.set_raw_data(view.bytes.data(), view.bytes.size());
    }
    proto.clear_name();
    const auto text = std::make_shared<const std::string>(proto.SerializeAsString());
    const std::span<const std::byte> bytes = std::as_bytes(std::span(*text));
    return from_bytes(bytes, text, DType::u8, {static_cast<std::int64_t>(bytes.size())}, where);
}

}  // namespace

Tensor take_tensor(onnx::TensorProto& proto, ExternalFiles& external, const Location& where) {
    const std::optional<DType> dtype = dtype_from_onnx(proto.data_type());
    if (!dtype)
        throw Error(where, "found elements of type " + data_type_name(proto.data_type()) + ", expected " +
                               dtype_names(&DTypeInfo::onnx_name));
    if (proto.has_segment()) throw Error(where, "found a segment of a tensor, expected a whole tensor");
    Sizes sizes;
    const std::size_t bytes = promised_bytes(proto, size_of(*dtype), sizes, where);
    if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
        ExternalFiles::View view = external.view(proto, bytes, where);
        return from_bytes(view.bytes, std::move(view.owner), *dtype, sizes, where);
    }
    if (!proto.has_raw_data()) return from_typed_fields(proto, *dtype, sizes, where);
    if (proto.raw_data().size() != bytes)
        throw Error(where, count_message(plural(proto.raw_data().size(), "byte") + " of data", sizes, *dtype,
                                         static_cast<std::int64_t>(bytes)));
    const std::shared_ptr<const std::string> raw(proto.release_raw_data());
    return from_bytes(std::as_bytes(std::span(*raw)), raw, *dtype, sizes, where);
}

NamedTensor take_any_tensor(onnx::TensorProto& proto, ExternalFiles& external, const Location& where) {
    const std::optional<OpaqueType> type = opaque_type_from_onnx(proto.data_type());
    if (!type) return {{}, take_tensor(proto, external, where)};
    ValueMeta meta = opaque_meta(type->name, opaque_sizes(proto, where));
    return {{}, take_opaque(proto, *type, external, where), std::move(meta)};
}

namespace {

void put_type(const Tensor& tensor, const std::string& name, onnx::TensorProto& proto) {
    if (!name.empty()) proto.set_name(name);
    proto.set_data_type(info_of(tensor.dtype()).onnx);
    for (const std::int64_t size : tensor.sizes()) proto.add_dims(size);
}

}  // namespace

void put_external_tensor(const Tensor& tensor, const std::string& name, const std::string& location,
                         onnx::TensorProto& proto) {
    put_type(tensor, name, proto);
    proto.set_data_location(onnx::TensorProto::EXTERNAL);
    onnx::StringStringEntryProto& entry = *proto.add_external_data();
    entry.set_key("location");
    entry.set_value(location);
}

void put_tensor(const Tensor& tensor, const std::string& name, onnx::TensorProto& proto) {
    put_type(tensor, name, proto);
    const Tensor contiguous = tensor.contiguous();
    const std::span<const std::byte> bytes = contiguous.contiguous_bytes();
    proto.set_raw_data(bytes.data(), bytes.size());
}

}  // namespace onnx_proto

NamedTensor load_tensor_proto(const std::filesystem::path& path) {
    const std::string file = path.string();
    const auto mapped = MappedFile::open(path);
    onnx::TensorProto proto;
    onnx_proto::parse(mapped->bytes(), proto, file, "tensor (TensorProto)");
    const Location where{file, proto.name().empty() ? "" : "tensor " + onnx_proto::in_quotes(proto.name())};
    std::string name = onnx_proto::checked_text(proto.name(), {file, {}}, "the name");
    onnx_proto::ExternalFiles none({});
    NamedTensor named = onnx_proto::take_any_tensor(proto, none, where);
    named.name = std::move(name);
    return named;
}

void save_tensor_proto(const std::filesystem::path& path, const Tensor& tensor, const std::string& name) {
    onnx::TensorProto proto;
    onnx_proto::put_tensor(tensor, name, proto);
    if (proto.ByteSizeLong() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
        throw Error({path.string(), {}}, "found a tensor of " + std::to_string(proto.ByteSizeLong()) +
                                             " bytes, expected at most 2 GiB, protobuf's limit");
    write_file(path, proto.SerializeAsString());
}

void save_test_data_set(const std::filesystem::path& folder, std::span<const Tensor> inputs,
                        std::span<const Tensor> outputs) {
    for (const auto& [prefix, tensors] : {std::pair("input_", inputs), std::pair("output_", outputs)})
        for (std::size_t i = 0; i < tensors.size(); i++)
            save_tensor_proto(folder / (prefix + std::to_string(i) + ".pb"), tensors[i]);
}

}  // namespace whittle
