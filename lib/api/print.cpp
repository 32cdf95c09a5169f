// Printing tensors, as PyTorch does: nested brackets, then dtype and sizes; long dimensions are cut.
#define WHITTLE_API_IMPLEMENTATION
#include <ostream>
#include <sstream>

#include "api/deferred_streams.h"
#include "api/session.h"
#include "capture/graph_break.h"

namespace whittle::api {

namespace {

constexpr std::int64_t kEdge = 3, kWhole = 8;  // elements shown of each end; dimensions up to kWhole are shown whole

std::string number_text(const whittle::Tensor& flat, std::int64_t i) {
    const whittle::Scalar value = flat.as_strided({}, {}, flat.offset() + i).item();
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

}  // namespace

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
    if (!tensor.defined()) return out << "tensor(undefined)";
    if (Session* const session = Session::current(); session && session->defers_output() && is_deferred(out)) {
        session->defer(&out, tensor);
        return out;
    }
    const whittle::Tensor value = demand(tensor, {static_cast<int>(capture::BreakKind::side_effect),
                                                  "print of a tensor", "aten.print", __builtin_return_address(0)})
                                      .contiguous();
    std::ostringstream text;
    print_dim(text, value, 0, 0, 0);
    return out << text.str() << " : " << whittle::name(value.dtype()) << to_string(value.sizes());
}

}  // namespace whittle::api
