#include "frontends/libtorch/unwritten.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "frontends/libtorch/bind.h"
#include "frontends/libtorch/elements.h"
#include "ops/aten/capture.h"
#include "ops/aten/reads.h"
#include "tensor/reach.h"

namespace whittle::libtorch {
namespace {

constexpr std::uint64_t kNow = std::numeric_limits<std::uint64_t>::max();

/// It writes to all elements of what it writes to, without a look at what they were.
bool overwrites(const Step& step) {
    const CaptureRole role = capture_role(step.op->name);
    return writes_memory(step) &&
           (role == CaptureRole::fills || copies_into(step.op->name) || written_outs(*step.op) > 0);
}

/// Its results show the argument's memory, and it looks at no element.
bool only_views(const Step& step) {
    if (writes_argument(*step.op) || step.begin->values.empty() || step.end->values.empty()) return false;
    const TensorRef* of = step.begin->values.front().tensor();
    bool same = of && of->has(kHasStorage);
    for (const EventValue& value : step.end->values)
        for_each_tensor(value, [&](const TensorRef& made) { same = same && made.storage == of->storage; });
    return same;
}

}  // namespace

Unwritten::Unwritten(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
        if (step.kind != StepKind::op || !step.end) {
            for (const EventValue& value : step.begin->values)  // who has a pointer may write, too
                for_each_tensor(value, [&](const TensorRef& tensor) { by_storage_.erase(tensor.storage); });
        } else if (makes_memory(step)) {
            allocate(step);
        } else {
            visit(step);
        }
    }
}

void Unwritten::allocate(const Step& step) {
    const TensorRef* made = step.end->values.size() == 1 ? step.end->values.front().tensor() : nullptr;
    for (const EventValue& value : step.end->values)  // resize_(), set_(): what is there now is not known
        for_each_tensor(value, [&](const TensorRef& tensor) { by_storage_.erase(tensor.storage); });
    const bool fresh = capture_role(step.op->name) == CaptureRole::allocates;
    if (!fresh || !made || !made->has(kHasStorage) || !made->dtype || made->offset != 0 || made->placement ||
        !made->obstacle().empty() || !is_contiguous(made->sizes, made->strides))
        return;
    by_storage_.insert_or_assign(made->storage, Allocation{.tensor = *made});
}

void Unwritten::visit(const Step& step) {
    if (by_storage_.empty() || only_views(step)) return;
    const auto& given = step.begin->values;
    if (writes_argument(*step.op) && !writes_memory(step))  // out= of other sizes: the memory is another one
        for (const EventValue& value : written_among(*step.op, given))
            for_each_tensor(value, [&](const TensorRef& tensor) { by_storage_.erase(tensor.storage); });
    const auto written = overwrites(step) ? written_among(*step.op, given) : std::span<const EventValue>();
    for (const EventValue& value : given)
        if (std::ranges::none_of(written, [&](const EventValue& other) { return &other == &value; })) read(value);
    for (const EventValue& value : written) {
        const auto known = by_storage_.find(value.tensor()->storage);
        if (known != by_storage_.end()) write(known->second, *value.tensor(), step.end->order);
    }
}

/// An operation reads what was not written: then it is data of the program's.
void Unwritten::read(const EventValue& value) {
    for_each_tensor(value, [&](const TensorRef& tensor) {
        const auto known = by_storage_.find(tensor.storage);
        if (!tensor.has(kHasStorage) || known == by_storage_.end()) return;
        const Allocation& allocation = known->second;
        bool all = tensor.dtype == allocation.tensor.dtype;
        if (all && !allocation.whole)
            for_each_position(tensor, [&](std::int64_t position) { all &= was_written(allocation, position, kNow); });
        if (!all) by_storage_.erase(known);
    });
}

bool Unwritten::was_written(const Allocation& allocation, std::int64_t position, std::uint64_t order) const {
    if (allocation.whole && allocation.whole <= order) return true;
    const auto at = static_cast<std::size_t>(position);
    return at < allocation.first.size() && allocation.first[at] && allocation.first[at] <= order;
}

void Unwritten::write(Allocation& allocation, const TensorRef& tensor, std::uint64_t order) {
    if (allocation.whole) return;
    if (same_place(allocation.tensor, tensor)) {
        allocation.whole = order;
        return;
    }
    if (allocation.first.empty()) {
        const std::int64_t count = element_count(allocation.tensor.sizes);
        if (count > room_ || tensor.dtype != allocation.tensor.dtype) {
            by_storage_.erase(allocation.tensor.storage);
            return;
        }
        room_ -= count;
        allocation.first.resize(static_cast<std::size_t>(count));
    }
    for_each_position(tensor, [&](std::int64_t position) {
        const auto at = static_cast<std::size_t>(position);
        if (at < allocation.first.size() && !allocation.first[at]) allocation.first[at] = order;
    });
}

void Unwritten::clear(const TensorRef& tensor, std::uint64_t order, Tensor& elements) const {
    const auto known = tensor.has(kHasStorage) ? by_storage_.find(tensor.storage) : by_storage_.end();
    if (known == by_storage_.end() || tensor.dtype != known->second.tensor.dtype ||
        elements.numel() != element_count(tensor.sizes) || !elements.is_contiguous())
        return;
    const std::size_t width = size_of(*tensor.dtype);
    auto* element = static_cast<std::byte*>(elements.mutable_raw());
    for_each_position(tensor, [&](std::int64_t position) {
        if (!was_written(known->second, position, order)) std::memset(element, 0, width);
        element += width;
    });
}

}  // namespace whittle::libtorch
