#include "frontends/onnx/proto.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <climits>
#include <cstdio>

#include "tensor/opaque_types.h"

namespace whittle::onnx_proto {
namespace {

constexpr std::size_t kLongestQuote = 80;
constexpr int kDeepestMessage = 100;  // a nested graph takes three levels

/// Length of the UTF-8 sequence at the start of `text`, 0 when it is none (RFC 3629: shortest form, no surrogates).
std::size_t utf8_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return 1;
    const std::size_t length = first >= 0xc2 && first <= 0xdf   ? 2
                               : first >= 0xe0 && first <= 0xef ? 3
                               : first >= 0xf0 && first <= 0xf4 ? 4
                                                                : 0;
    if (length == 0 || length > text.size()) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xc0) != 0x80) return 0;
    const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
    const bool surrogate = first == 0xed && byte(1) > 0x9f;
    const bool beyond = first == 0xf4 && byte(1) > 0x8f;
    return overlong || surrogate || beyond ? 0 : length;
}

}  // namespace

std::string in_quotes(std::string_view text) {
    std::string result = "'";
    for (const char c : text.substr(0, kLongestQuote)) {
        if (c >= 0x20 && c < 0x7f) {
            result += c;
        } else {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
            result += escape;
        }
    }
    return result + (text.size() > kLongestQuote ? "…'" : "'");
}

std::string checked_text(const std::string& name, const Location& where, std::string_view what) {
    std::string_view rest = name;
    while (!rest.empty()) {
        const std::size_t length = utf8_length(rest);
        const bool control = static_cast<unsigned char>(rest[0]) < 0x20 || rest[0] == 0x7f;
        if (length == 0 || control)
            throw Error(where, "found " + std::string(what) + " " + in_quotes(name) +
                                   ", expected UTF-8 text without control characters");
        rest.remove_prefix(length);
    }
    return name;
}

void parse(std::span<const std::byte> bytes, google::protobuf::MessageLite& message, const std::string& file,
           std::string_view what) {
    if (bytes.empty()) throw Error({file, {}}, "the file is empty, expected an ONNX " + std::string(what));
    if (bytes.size() > static_cast<std::size_t>(INT_MAX))
        throw Error({file, {}},
                    "found " + std::to_string(bytes.size()) + " bytes, expected at most 2 GiB, protobuf's limit",
                    "store the weights as external data");
    google::protobuf::io::ArrayInputStream array(bytes.data(), static_cast<int>(bytes.size()));
    google::protobuf::io::CodedInputStream stream(&array);
    stream.SetTotalBytesLimit(INT_MAX);
    stream.SetRecursionLimit(kDeepestMessage);
    if (!message.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
        throw Error({file, {}},
                    "found " + std::to_string(bytes.size()) + " bytes that are not a protobuf message of type " +
                        message.GetTypeName() + ", expected an ONNX " + std::string(what),
                    "the file may be truncated, or not ONNX");
}

namespace {

std::string elements_text(int data_type) {
    if (const auto dtype = dtype_from_onnx(data_type)) return std::string(name(*dtype));
    const auto opaque = opaque_type_from_onnx(data_type);
    return opaque ? std::string(opaque->name) : "unknown";
}

}  // namespace

std::string type_text(const onnx::TypeProto& type) {
    if (type.has_tensor_type()) return elements_text(type.tensor_type().elem_type());
    if (type.has_sparse_tensor_type()) return "sparse(" + elements_text(type.sparse_tensor_type().elem_type()) + ")";
    if (type.has_sequence_type()) return "sequence(" + type_text(type.sequence_type().elem_type()) + ")";
    if (type.has_optional_type()) return "optional(" + type_text(type.optional_type().elem_type()) + ")";
    if (type.has_map_type())
        return "map(" + elements_text(type.map_type().key_type()) + ", " + type_text(type.map_type().value_type()) +
               ")";
    return {};
}

std::optional<Sizes> declared_sizes(const onnx::TypeProto& type, const std::map<std::string, std::int64_t>& dims) {
    if (!type.has_tensor_type() || !type.tensor_type().has_shape()) return std::nullopt;
    Sizes sizes;
    for (const auto& dim : type.tensor_type().shape().dim()) {
        const auto named = dims.find(dim.dim_param());
        if (dim.has_dim_value() && dim.dim_value() >= 0)  // some exporters write -1 for a dynamic dimension
            sizes.push_back(dim.dim_value());
        else if (dim.has_dim_param() && named != dims.end())
            sizes.push_back(named->second);
        else
            return std::nullopt;
    }
    return sizes;
}

std::string data_type_name(int data_type) {
    if (const auto dtype = dtype_from_onnx(data_type)) return std::string(info_of(*dtype).onnx_name);
    if (onnx::TensorProto::DataType_IsValid(data_type))
        return onnx::TensorProto::DataType_Name(static_cast<onnx::TensorProto::DataType>(data_type));
    if (const auto opaque = opaque_type_from_onnx(data_type)) return std::string(opaque->onnx_name);
    return std::to_string(data_type);
}

}  // namespace whittle::onnx_proto
