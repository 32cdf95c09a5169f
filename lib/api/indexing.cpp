// Indexing, as Python's: integers, slices and None make views, tensors gather. The basic indices come first, then one
// aten.index for the tensors among them.
#define WHITTLE_API_IMPLEMENTATION
#include <whittle/api/tensor.h>

#include "api/call.h"
#include "api/session.h"
#include "base/error.h"
#include "capture/graph_break.h"
#include "ops/core/data_sizes.h"

namespace whittle::api {
namespace {

template <class... Args>
Tensor issue(void* pc, const char* target, const Args&... args) {
    Call call(target, pc);
    (call.add(args), ...);
    return call.one();
}

template <class... Args>
void issue_in_place(void* pc, const char* target, const Tensor& self, const Args&... args) {
    Call call(target, pc);
    call.add(self);
    (call.add(args), ...);
    call.in_place(self);
}

struct Indexed {
    Tensor view;                               ///< after the integers, slices and None
    std::vector<OptionalTensor> tensors = {};  ///< per dimension of it
    bool gathers = false;
};

/// How many dimensions the indices take.
std::int64_t consumed(const std::vector<Tensor::Index>& indices) {
    std::int64_t count = 0;
    for (const Tensor::Index& index : indices) {
        const Tensor* tensor = std::get_if<Tensor>(&index);
        if (tensor && tensor->dtype() == kBool)
            count += tensor->dim();
        else if (!std::holds_alternative<Ellipsis>(index) && !std::holds_alternative<std::nullopt_t>(index))
            ++count;
    }
    return count;
}

/// A mask as positions, one tensor per dimension of it: how many they are depends on its values, which are demanded
/// unless the graph may have such results.
std::vector<Tensor> positions_of(const Tensor& mask, void* pc) {
    std::vector<Tensor> result;
    if (const Session* const session = Session::current(); session && session->captures_dynamic_shapes()) {
        const Tensor rows = issue(pc, "aten.nonzero.default", mask);
        for (std::int64_t d = 0; d < mask.dim(); ++d)
            result.push_back(issue(pc, "aten.select.int", rows, std::int64_t{1}, d));
        return result;
    }
    const whittle::Tensor values =
        demand(mask, {static_cast<int>(capture::BreakKind::dynamic_shape), "index with a mask", "aten.nonzero", pc});
    for (const auto& list : nonzero_positions(values))
        result.push_back(tensor(list, {static_cast<std::int64_t>(list.size())}));
    return result;
}

Indexed view_of(const Tensor& self, const std::vector<Tensor::Index>& indices, void* pc) {
    const std::int64_t taken = consumed(indices);
    if (taken > self.dim())
        throw Error("index: found " + std::to_string(taken) + " indices, expected at most " +
                    std::to_string(self.dim()) + ", the number of dimensions");
    Indexed result{.view = self};
    std::int64_t dim = 0;
    bool ellipsis = false;
    const auto pass = [&](std::int64_t dims) {
        for (std::int64_t i = 0; i < dims; ++i) result.tensors.emplace_back();
        dim += dims;
    };
    for (const Tensor::Index& index : indices) {
        if (const auto* position = std::get_if<std::int64_t>(&index)) {
            result.view = issue(pc, "aten.select.int", result.view, dim, *position);
        } else if (const auto* slice = std::get_if<Slice>(&index)) {
            if (slice->start || slice->stop || slice->step != 1)
                result.view = issue(pc, "aten.slice.Tensor", result.view, dim, slice->start, slice->stop, slice->step);
            pass(1);
        } else if (std::holds_alternative<std::nullopt_t>(index)) {
            result.view = issue(pc, "aten.unsqueeze.default", result.view, dim);
            pass(1);
        } else if (const auto* tensor = std::get_if<Tensor>(&index)) {
            result.gathers = true;
            const std::vector<Tensor> positions =
                tensor->dtype() == kBool ? positions_of(*tensor, pc) : std::vector{*tensor};
            if (positions.empty())
                throw Error("index: found a mask without dimensions, expected a mask of at least one dimension");
            for (std::size_t d = 0; d < positions.size() && tensor->dtype() == kBool; ++d)
                if (tensor->size(static_cast<std::int64_t>(d)) != result.view.size(dim + static_cast<std::int64_t>(d)))
                    throw Error("index: found a mask of sizes " + to_string(tensor->sizes()) +
                                ", expected the sizes of the indexed dimensions of a tensor of sizes " +
                                to_string(result.view.sizes()));
            for (const Tensor& list : positions) result.tensors.emplace_back(list);
            dim += static_cast<std::int64_t>(positions.size());
        } else {
            if (std::exchange(ellipsis, true)) throw Error("index: found two ellipses, expected at most one");
            pass(self.dim() - taken);
        }
    }
    return result;
}

}  // namespace

Tensor Tensor::operator[](std::int64_t position) const {
    return issue(__builtin_return_address(0), "aten.select.int", *this, std::int64_t{0}, position);
}

Tensor Tensor::index(const std::vector<Index>& indices) const {
    void* const pc = __builtin_return_address(0);
    const Indexed indexed = view_of(*this, indices, pc);
    return indexed.gathers ? issue(pc, "aten.index.Tensor", indexed.view, indexed.tensors) : indexed.view;
}

Tensor& Tensor::index_put_(const std::vector<Index>& indices, const Tensor& value) {
    void* const pc = __builtin_return_address(0);
    const Indexed indexed = view_of(*this, indices, pc);
    if (indexed.gathers)
        issue_in_place(pc, "aten.index_put_.default", indexed.view, indexed.tensors, value);
    else
        issue_in_place(pc, "aten.copy_.default", indexed.view, value);
    return *this;
}

Tensor& Tensor::index_put_(const std::vector<Index>& indices, const Scalar& value) {
    void* const pc = __builtin_return_address(0);
    const Indexed indexed = view_of(*this, indices, pc);
    if (indexed.gathers)
        issue_in_place(pc, "aten.index_put_.default", indexed.view, indexed.tensors,
                       api::scalar_tensor(value, dtype()));
    else
        issue_in_place(pc, "aten.fill_.Scalar", indexed.view, value);
    return *this;
}

#define WHITTLE_COMPOUND(sign, target)                                     \
    Tensor& Tensor::operator sign(const Tensor& other) {                   \
        issue_in_place(__builtin_return_address(0), target, *this, other); \
        return *this;                                                      \
    }                                                                      \
    Tensor& Tensor::operator sign(const Scalar& other) {                   \
        issue_in_place(__builtin_return_address(0), target, *this, other); \
        return *this;                                                      \
    }
WHITTLE_COMPOUND(+=, "aten.add_.Tensor")
WHITTLE_COMPOUND(-=, "aten.sub_.Tensor")
WHITTLE_COMPOUND(*=, "aten.mul_.Tensor")
WHITTLE_COMPOUND(/=, "aten.div_.Tensor")
#undef WHITTLE_COMPOUND

}  // namespace whittle::api
