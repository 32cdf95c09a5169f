#include "frontends/libtorch/value_reader.h"

#include <array>
#include <cstddef>
#include <cstring>

#include "tensor/reach.h"

namespace whittle::libtorch {
namespace {

/// No element lies further from its storage's start, whatever its dtype: places in bytes fit 64 bits, and so do the
/// differences of two.
constexpr std::int64_t kFurthestElement = std::int64_t{1} << 58;

Scalar number_of(DType dtype, std::uint64_t bits) {
    alignas(8) std::array<std::byte, 8> bytes;
    std::memcpy(bytes.data(), &bits, sizeof bits);
    return Tensor::copy_of(bytes.data(), dtype, {}, {}).item();
}

/// Of a c10::ScalarType that DType has not.
std::string type_name(std::int8_t code) {
    switch (code) {
        case 8:
            return "complex32";
        case 12:
            return "qint8";
        case 13:
            return "quint8";
        case 14:
            return "qint32";
        case 16:
            return "quint4x2";
        case 17:
            return "quint2x4";
    }
    return "type " + std::to_string(code);
}

TensorRef read_tensor(Cursor& in) {
    const auto head = in.get<TensorRecord>();
    TensorRef tensor{.id = head.id,
                     .storage = head.storage,
                     .offset = head.offset,
                     .version = head.version,
                     .dtype = dtype_from_aten(head.dtype),
                     .flags = head.flags};
    for (int i = 0; i < head.rank; ++i) tensor.sizes.push_back(in.get<std::int64_t>());
    for (int i = 0; i < head.rank; ++i) tensor.strides.push_back(in.get<std::int64_t>());
    element_count(tensor.sizes);  // refuses negative and overflowing sizes
    const std::optional<Reach> reached = reach(tensor.sizes, tensor.strides);
    if (tensor.offset < 0 || tensor.offset > kFurthestElement || !reached || reached->first < -tensor.offset ||
        reached->last > kFurthestElement - tensor.offset)
        in.fail("found a tensor of sizes " + to_string(tensor.sizes) + ", strides " + to_string(tensor.strides) +
                    " and offset " + std::to_string(tensor.offset),
                "expected all elements inside the memory of the tensor");
    Placement place;
    if (!tensor.dtype) place.elements = type_name(head.dtype);
    if (tensor.has(kSparse) || tensor.has(kElsewhere)) {
        place.layout = in.text();
        place.device = in.text();
    }
    tensor.placement = placed(std::move(place));
    if (tensor.has(kWrappedNumber)) {
        const auto bits = in.get<std::uint64_t>();
        const bool real = tensor.dtype && !is_complex(*tensor.dtype);
        if (real && tensor.sizes.empty()) tensor.number = number_of(*tensor.dtype, bits);
    }
    return tensor;
}

EventValue read_nested(Cursor& in, int depth) {
    EventValue result;
    const auto tag = in.get<ValueTag>();
    switch (tag) {
        case ValueTag::none:
            return result;
        case ValueTag::undefined:
            result.undefined = true;
            return result;
        case ValueTag::tensor:
            result.value = read_tensor(in);
            return result;
        case ValueTag::integer:
            result.value = in.get<std::int64_t>();
            return result;
        case ValueTag::real:
            result.value = in.get<double>();
            return result;
        case ValueTag::boolean:
            result.value = in.get<std::uint8_t>() != 0;
            return result;
        case ValueTag::text:
            result.value = in.text();
            return result;
        case ValueTag::list: {
            if (depth == kDeepestList)
                in.fail("found lists nested more than 16 levels deep", "expected at most 16 levels");
            const auto count = in.get<std::uint32_t>();
            if (count > in.left())
                in.fail("found a list of " + std::to_string(count) + " elements",
                        "expected at most one element for each byte left in the record");
            std::vector<EventValue> elements;
            for (std::uint32_t i = 0; i < count; ++i) elements.push_back(read_nested(in, depth + 1));
            result.value = std::move(elements);
            return result;
        }
        case ValueTag::other:
            result.value = EventValue::Opaque{in.text()};
            return result;
    }
    in.fail("found value tag " + std::to_string(static_cast<int>(tag)), "expected 0 to 8");
}

}  // namespace

EventValue read_value(Cursor& in) { return read_nested(in, 0); }

std::vector<EventValue> read_values(Cursor& in) {
    const auto count = in.get<std::uint16_t>();
    std::vector<EventValue> values;
    for (int i = 0; i < count; ++i) values.push_back(read_value(in));
    return values;
}

}  // namespace whittle::libtorch
