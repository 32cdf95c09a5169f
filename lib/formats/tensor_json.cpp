#include "formats/tensor_json.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/error.h"
#include "base/number_text.h"
#include "formats/json_text.h"
#include "tensor/complex.h"
#include "tensor/convert.h"
#include "tensor/reach.h"
#include "tensor/safetensors.h"

namespace whittle {
namespace {

using Json = Document::Json;

/// Memory that strides may skip: a file of a few bytes must not claim a petabyte of gaps. Gaps are never touched.
constexpr std::int64_t kGapBytes = std::int64_t(128) << 20, kGapFactor = 64;

template <class T>
using Bits = std::conditional_t<
    sizeof(T) == 8, std::uint64_t,
    std::conditional_t<sizeof(T) == 4, std::uint32_t, std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;

template <class T>
Bits<T> bits_of(T value) {
    return std::bit_cast<Bits<T>>(value);
}

/// A float's shortest text, unless reading it as double and rounding again would give another float.
std::string float_text(float value) {
    const std::string text = shortest_real(value);
    return static_cast<float>(number_of<double>(text).value_or(0)) == value ? text : shortest_real(double{value});
}

template <class T>
std::string element_text(T value) {
    if constexpr (std::is_same_v<T, bool>) {
        return value ? "true" : "false";
    } else if constexpr (is_complex_type<T>) {
        return "[" + element_text(value.real()) + ", " + element_text(value.imag()) + "]";
    } else if constexpr (std::is_integral_v<T>) {
        return std::to_string(value);
    } else {
        const double wide = cast_element<double>(value);
        if (std::isnan(wide)) {
            if (bits_of(value) == bits_of(std::numeric_limits<T>::quiet_NaN())) return "\"nan\"";
            char buffer[32];
            std::snprintf(buffer, sizeof buffer, "\"0x%0*llx\"", static_cast<int>(2 * sizeof(T)),
                          static_cast<unsigned long long>(bits_of(value)));
            return buffer;
        }
        if (std::isinf(wide)) return wide > 0 ? "\"inf\"" : "\"-inf\"";
        if constexpr (std::is_same_v<T, float>) return float_text(value);
        return shortest_real(wide);
    }
}

template <class T>
T float_element(const Document& document, const Json& value) {
    if (value.is_string()) {
        const std::string& text = document.text(value);
        if (text == "nan") return std::numeric_limits<T>::quiet_NaN();
        if constexpr (std::numeric_limits<T>::has_infinity) {
            if (text == "inf") return std::numeric_limits<T>::infinity();
            if (text == "-inf") return cast_element<T>(-std::numeric_limits<double>::infinity());
        }
        Bits<T> bits = 0;
        const char* end = text.data() + text.size();
        if (text.size() == 2 + 2 * sizeof(T) && text.starts_with("0x"))
            if (const auto r = std::from_chars(text.data() + 2, end, bits, 16); r.ec == std::errc{} && r.ptr == end)
                return std::bit_cast<T>(bits);
        document.fail(value, R"(a number, "nan", "inf", "-inf" or the bits "0x…")");
    }
    const double wide = document.number(value);
    const T result = cast_element<T>(wide);
    if (std::isfinite(wide) && !std::isfinite(cast_element<double>(result)))
        document.fail(value, "a number in the range of " + std::string(name(dtype_of<T>)));
    return result;
}

template <class T>
T element(const Document& document, const Json& value) {
    if constexpr (std::is_same_v<T, bool>) {
        return document.boolean(value);
    } else if constexpr (is_complex_type<T>) {
        using Part = typename T::value_type;
        const auto& parts = document.list(value);
        if (parts.size() != 2) document.fail(value, "two numbers: the real and the imaginary part");
        return T(float_element<Part>(document, value[0]), float_element<Part>(document, value[1]));
    } else if constexpr (std::is_same_v<T, std::uint64_t>) {
        return document.unsigned_integer(value);
    } else if constexpr (std::is_integral_v<T>) {
        const std::int64_t wide = document.integer(value);
        if (wide < std::numeric_limits<T>::min() || wide > std::numeric_limits<T>::max())
            document.fail(value, "a number in the range of " + std::string(name(dtype_of<T>)));
        return static_cast<T>(wide);
    } else {
        return float_element<T>(document, value);
    }
}

/// The elements have places, with no gaps beyond the cap.
bool are_placeable(const Sizes& sizes, const Strides& strides, DType dtype) {
    const std::optional<Reach> reached = reach(sizes, strides);
    std::int64_t allowed = 0;
    if (!reached || __builtin_mul_overflow(element_count(sizes), kGapFactor, &allowed)) return false;
    return reached->count() - 1 <= std::max(allowed, kGapBytes / static_cast<std::int64_t>(size_of(dtype)));
}

}  // namespace

std::string TensorWriter::json(const Tensor& tensor) {
    std::string text =
        R"({"dtype": ")" + std::string(name(tensor.dtype())) + R"(", "sizes": )" + to_string(tensor.sizes());
    if (tensor.strides() != contiguous_strides(tensor.sizes())) {
        if (!are_placeable(tensor.sizes(), tensor.strides(), tensor.dtype()))
            throw Error("found a tensor of sizes " + to_string(tensor.sizes()) + " with strides " +
                            to_string(tensor.strides()) + ", expected strides that leave gaps of at most 128 MiB",
                        "make the tensor contiguous");
        text += ", \"strides\": " + to_string(tensor.strides());
    }
    if (tensor.requires_grad()) text += ", \"requires_grad\": true";
    const bool is_inline = tensor.numel() <= kInlineElements;
    if (is_inline) {
        text += ", \"data\": [";
        const Tensor dense = tensor.contiguous();
        visit_dtype(tensor.dtype(), [&](auto zero) {
            using T = decltype(zero);
            for (std::int64_t i = 0; i < dense.numel(); ++i) text += (i ? ", " : "") + element_text(dense.data<T>()[i]);
        });
        text += "]";
    }
    if (!is_inline || hash_all_) {
        const std::string hash = content_hash(tensor);
        // Under a dtype that safetensors has: of c128 the parts, one after the other.
        const bool named = !info_of(tensor.dtype()).safetensors.empty();
        if (!is_inline) sidecar_.emplace(hash, named ? tensor : as_real(tensor.contiguous()));
        text += ", \"hash\": \"" + hash + "\"";
    }
    return text + "}";
}

TensorReader::TensorReader(const Document& document, std::map<std::string, Tensor> sidecar)
    : document_(document), sidecar_(std::make_unique<std::map<std::string, Tensor>>(std::move(sidecar))) {}

const std::map<std::string, Tensor>& TensorReader::sidecar(const Json& at) {
    if (sidecar_) return *sidecar_;
    const Json* member = document_.find(document_.root(), "tensors");
    if (!member) document_.fail_found(at, "a tensor given by its hash", "a member \"tensors\" that names its file");
    const std::string& name = document_.text(*member);
    const std::filesystem::path path(name);
    if (name.empty() || path.filename() != path || name == "." || name == "..")
        document_.fail(*member, "the name of a file in the same folder");
    const std::filesystem::path file = std::filesystem::path(document_.file()).parent_path() / path;
    sidecar_ = std::make_unique<std::map<std::string, Tensor>>(load_safetensors(file));
    return *sidecar_;
}

Tensor TensorReader::inline_data(const Json& data, DType dtype, const Sizes& sizes) const {
    const std::size_t count = document_.list(data).size();
    if (static_cast<std::uint64_t>(element_count(sizes)) != count)
        document_.fail(data, std::to_string(element_count(sizes)) + " elements for sizes " + to_string(sizes));
    Tensor tensor(dtype, sizes);
    visit_dtype(dtype, [&](auto zero) {
        using T = decltype(zero);
        for (std::size_t i = 0; i < count; ++i) tensor.mutable_data<T>()[i] = element<T>(document_, data[i]);
    });
    return tensor;
}

Tensor TensorReader::read(const Json& value) {
    document_.only_members(value, {"dtype", "sizes", "strides", "requires_grad", "data", "hash"});
    const DType dtype = read_dtype(document_, document_.member(value, "dtype"));
    const Sizes sizes = read_sizes(document_, document_.member(value, "sizes"));
    const Json* data = document_.find(value, "data");
    const Json* hash = document_.find(value, "hash");
    Tensor tensor;
    if (data) {
        tensor = inline_data(*data, dtype, sizes);
    } else {
        if (!hash) document_.fail_found(value, "neither 'data' nor 'hash'", "one of the two members");
        const auto& tensors = sidecar(value);
        const auto found = tensors.find(document_.text(*hash));
        if (found == tensors.end())
            document_.fail(*hash, "the hash of a tensor in the tensors file", "use a tensors file of the same run");
        const bool as_parts = info_of(dtype).safetensors.empty() && found->second.dtype() == real_of(dtype);
        tensor = as_parts ? as_complex(found->second.contiguous()) : found->second;
        if (tensor.dtype() != dtype || tensor.sizes() != sizes)
            document_.fail_found(value,
                                 std::string(name(tensor.dtype())) + to_string(tensor.sizes()) + " in the tensors file",
                                 std::string(name(dtype)) + to_string(sizes));
    }
    if (hash && (data || checked_.insert(document_.text(*hash)).second))
        if (const std::string actual = content_hash(tensor); actual != document_.text(*hash))
            document_.fail_found(*hash, "data with the hash " + actual, document_.text(*hash),
                                 "the data was changed after it was recorded");
    if (const Json* member = document_.find(value, "strides")) {
        const Strides strides = document_.integers(*member);
        if (strides.size() != sizes.size())
            document_.fail(*member, std::to_string(sizes.size()) + " strides, one for each size");
        if (!are_placeable(sizes, strides, dtype))
            document_.fail(*member, "strides that leave gaps of at most 128 MiB");
        if (strides != tensor.strides()) tensor = laid_out(tensor, strides);
    }
    const Json* grad = document_.find(value, "requires_grad");
    return grad ? tensor.with_requires_grad(document_.boolean(*grad)) : tensor;
}

DType read_dtype(const Document& document, const Json& value) {
    const auto dtype = dtype_from_name(document.text(value));
    if (!dtype) document.fail(value, "a dtype: " + dtype_names());
    return *dtype;
}

Sizes read_sizes(const Document& document, const Json& value) {
    Sizes sizes = document.integers(value);
    try {
        element_count(sizes);
    } catch (const Error& error) {
        document.fail_found(value, to_string(sizes), "sizes of a tensor (" + error.message() + ")");
    }
    return sizes;
}

}  // namespace whittle
