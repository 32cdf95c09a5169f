// Printing tensors, as PyTorch does: nested brackets, then dtype and sizes; long dimensions are cut.
#define WHITTLE_API_IMPLEMENTATION
#include <algorithm>
#include <ostream>
#include <sstream>

#include "api/deferred_streams.h"
#include "api/session.h"
#include "capture/graph_break.h"

namespace whittle::api {
namespace {

constexpr std::int64_t kEdge = 3, kWhole = 8;  // elements shown of each end; dimensions up to kWhole are shown whole

/// "1+2j", as Python writes them.
std::string complex_text(const whittle::Tensor& element) {
    const Complex128 value = element.values<Complex128>().at(0);
    std::ostringstream out;
    out.precision(element.dtype() == whittle::DType::c128 ? 8 : 4);
    out << value.real() << std::showpos << value.imag() << 'j';
    return out.str();
}

std::string number_text(const whittle::Tensor& flat, std::int64_t i) {
    const whittle::Tensor element = flat.as_strided({}, {}, flat.offset() + i);
    if (is_complex(element.dtype())) return complex_text(element);
    const whittle::Scalar value = element.item();
    std::ostringstream out;
    out.precision(flat.dtype() == whittle::DType::f64 ? 8 : 4);
    if (value.is_boolean())
        out << (value.to_bool() ? "true" : "false");
    else if (value.is_integer())
        out << value.integer_text();
    else
        out << value.to_double();
    return out.str();
}

void print_dim(std::ostream& out, const whittle::Tensor& flat, std::size_t dim, std::int64_t start, int indent) {
    const Sizes& sizes = flat.sizes();
    if (dim == sizes.size()) {
        out << number_text(flat, start);
        return;
    }
    std::int64_t step = 1;
    for (std::size_t d = dim + 1; d < sizes.size(); ++d) step *= sizes[d];
    const bool innermost = dim + 1 == sizes.size();
    out << "[";
    for (std::int64_t i = 0; i < sizes[dim]; ++i) {
        if (i != 0) out << (innermost ? ", " : ",\n" + std::string(static_cast<std::size_t>(indent) + 1, ' '));
        if (sizes[dim] > kWhole && i == kEdge) {
            out << "...";
            i = sizes[dim] - kEdge - 1;
            continue;
        }
        print_dim(out, flat, dim + 1, start + i * step, indent + 1);
    }
    out << "]";
}

std::string kind_text(const ValueMeta& meta) { return std::string(whittle::name(meta.dtype)) + to_string(meta.sizes); }

std::string text_of(const whittle::Tensor& tensor) {
    const whittle::Tensor value = tensor.contiguous();
    std::ostringstream text;
    print_dim(text, value, 0, 0, 0);
    return text.str() + " : " + kind_text(ValueMeta::of(value));
}

/// Nobody sees this look: no graph that is being recorded ends. Empty where there is a value.
std::string without_value(const Tensor& tensor) {
    if (!tensor.defined()) return "undefined";
    const TensorImpl& impl = *tensor.impl();
    return impl.value ? "" : kind_text(impl.meta) + " (recorded, not computed yet)";
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
    if (!tensor.defined()) return out << "tensor(undefined)";
    if (Session* const session = Session::current(); session && session->defers_output() && is_deferred(out)) {
        session->defer(&out, tensor);
        return out;
    }
    return out << text_of(demand(tensor, {static_cast<int>(capture::BreakKind::side_effect), "print of a tensor",
                                          "aten.print", __builtin_return_address(0)}));
}

}  // namespace whittle::api

// What share/gdb/whittle.py asks of a program that a debugger holds: "f32[2, 3] {1, 2, 3, 4, 5, 6}", and the whole. The
// text lives until the next question.
extern "C" __attribute__((visibility("default"), used)) const char* whittle_debug_line(const void* tensor) {
    using namespace whittle::api;
    static std::string text;
    const auto& asked = *static_cast<const whittle::api::Tensor*>(tensor);
    text = without_value(asked);
    if (!text.empty()) return text.c_str();
    constexpr std::int64_t kFirst = 8;
    const whittle::Tensor value = asked.impl()->value->contiguous();
    text = kind_text(whittle::ValueMeta::of(value)) + " {";
    for (std::int64_t i = 0; i < std::min(value.numel(), kFirst); ++i)
        text += (i > 0 ? ", " : "") + number_text(value, i);
    text += value.numel() > kFirst ? ", ...}" : "}";
    return text.c_str();
}

extern "C" __attribute__((visibility("default"), used)) const char* whittle_debug_text(const void* tensor) {
    using namespace whittle::api;
    static std::string text;
    const auto& asked = *static_cast<const whittle::api::Tensor*>(tensor);
    text = without_value(asked);
    if (text.empty()) text = text_of(*asked.impl()->value);
    return text.c_str();
}
