#include "repro/cpp_data.h"

#include <algorithm>
#include <cstdio>

#include "tensor/random.h"
#include "tensor/reach.h"
#include "tensor/scalars.h"
#include "text/language.h"

namespace whittle::repro {
namespace {

using language::array_cpp;

constexpr std::string_view kNames[] = {"real", "random", "small", "ones", "zeros"};  // in Data's order
constexpr std::int64_t kSmallestFill = 16;    // elements; below, an array shows them better
constexpr std::uint64_t kLargestSmall = 4;    // of small numbers
constexpr std::int64_t kLargestArray = 4096;  // elements; above, text is slow to compile and nobody reads it

template <class... Values>
std::string format(const char* pattern, Values... values) {
    char text[64];
    std::snprintf(text, sizeof text, pattern, values...);
    return text;
}

/// FNV-1a, which the generated program computes again. http://www.isthe.com/chongo/tech/comp/fnv/
std::uint64_t fnv1a(const std::string& bytes) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
    return hash;
}

/// The memory that the view reaches, lowest address first, and where its first logical element lies in it.
struct ReachedMemory {
    Tensor memory;  // contiguous, rank 1
    std::int64_t first = 0;
};

ReachedMemory reached(const Tensor& tensor) {
    if (tensor.numel() == 0) return {Tensor(tensor.dtype(), {0}), 0};
    const Reach span = *reach(tensor.sizes(), tensor.strides());
    return {tensor.as_strided({span.count()}, {1}, tensor.offset() + span.first), -span.first};
}

/// A pointer to the bits of 16-bit floats as one to their type; other pointers are what they should be.
std::string as_type(DType dtype, const std::string& pointer) {
    return is_reduced(dtype) ? "reinterpret_cast<const " + array_cpp.type(dtype) + "*>(" + pointer + ")" : pointer;
}

/// NAME as a pointer to the first element of the tensor, whose memory `memory` makes.
std::string pointer(const std::string& name, const Tensor& tensor, const std::string& memory) {
    const std::int64_t first = reached(tensor).first;
    return "static const " + array_cpp.type(tensor.dtype()) + "* const " + name + " = " + memory +
           (first ? " + " + std::to_string(first) : "") + ";";
}

std::string comment_of(const Tensor& tensor) {
    return "  // " + std::string(whittle::name(tensor.dtype())) + to_string(tensor.sizes()) +
           (tensor.is_contiguous() ? "" : " strides " + to_string(tensor.strides())) + "\n";
}

}  // namespace

std::string_view name(Data data) { return kNames[static_cast<std::size_t>(data)]; }

std::optional<Data> data_called(std::string_view name) {
    const auto found = std::ranges::find(kNames, name);
    return found == std::end(kNames) ? std::nullopt : std::optional(static_cast<Data>(found - std::begin(kNames)));
}

Tensor made_up(const Tensor& tensor, Data data, std::uint64_t seed, Role role) {
    if (data == Data::real) return tensor;
    const ReachedMemory span = reached(tensor);
    Random random(seed);
    std::vector<double> values(static_cast<std::size_t>(span.memory.numel()), data == Data::ones ? 1.0 : 0.0);
    const auto drawn = [&](std::uint64_t draw) {  // of eight bits
        if (!is_inexact(tensor.dtype())) return static_cast<double>(draw >= 128);
        if (data == Data::random) return (static_cast<double>(draw) - 128) / 64;
        const auto small = static_cast<double>(draw % kLargestSmall + 1);
        return role == Role::input && draw >= 128 ? -small : small;
    };
    if (data == Data::random || data == Data::small)
        for (double& value : values) value = drawn(random.next() >> 56);
    return Tensor::of(values, span.memory.sizes())
        .to(tensor.dtype())
        .as_strided(tensor.sizes(), tensor.strides(), span.first)
        .with_requires_grad(tensor.requires_grad());
}

std::string DataWriter::define_random(const std::string& name, const Tensor& tensor, std::uint64_t seed) {
    made_up_ = true;
    return pointer(name, tensor,
                   "random_values<" + array_cpp.type(tensor.dtype()) + ">(" +
                       std::to_string(reached(tensor).memory.numel()) + ", " + std::to_string(seed) + ")") +
           comment_of(tensor);
}

std::string DataWriter::define(const std::string& name, const Tensor& tensor) {
    const std::string type = array_cpp.type(tensor.dtype());
    const std::string stored =
        is_reduced(tensor.dtype()) ? format("uint%d_t", static_cast<int>(8 * size_of(tensor.dtype()))) : type;
    const ReachedMemory span = reached(tensor);
    const std::string comment = comment_of(tensor);
    const std::int64_t count = span.memory.numel();
    if (count >= kSmallestFill && all_alike(span.memory)) {
        made_up_ = true;
        const std::string filled =
            "filled<" + stored + ">(" + std::to_string(count) + ", " + array_cpp.element(span.memory, 0) + ")";
        return pointer(name, tensor, as_type(tensor.dtype(), filled)) + comment;
    }
    if (count > kLargestArray) {
        const auto bytes = span.memory.contiguous_bytes();
        ReproProgram::File sidecar{{}, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}};
        const std::uint64_t hash = fnv1a(sidecar.text);
        const std::string digits = format("%016llx", static_cast<unsigned long long>(hash));
        sidecar.name = stem_ + "." + digits + ".bin";
        sidecars_.push_back(sidecar);
        return pointer(name, tensor,
                       "sidecar<" + type + ">(\"" + sidecar.name + "\", " + std::to_string(count) + ", 0x" + digits +
                           "ull)") +
               comment;
    }
    const bool plain = stored == type && !span.first;  // the array itself is the pointer
    std::string text = "static const " + stored + " " + name + (plain ? "" : "_data") + "[] = {";
    std::string line;
    for (std::int64_t i = 0; i < count; i++) {
        if (line.size() > 100) {
            line.pop_back();  // the blank
            text += line + "\n    ";
            line.clear();
        }
        line += array_cpp.element(span.memory, i) + (i + 1 < count ? ", " : "");
    }
    if (count == 0) line = "0";  // an array has an element
    text += line + "};";
    if (!plain) text += "\n" + pointer(name, tensor, as_type(tensor.dtype(), name + "_data"));
    return text + comment;
}

}  // namespace whittle::repro
