#include "frontends/libtorch/values.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>

#include "frontends/libtorch/bind.h"
#include "ops/aten/capture.h"
#include "tensor/reach.h"

namespace whittle::libtorch {
namespace {

/// Where a tensor lies in memory: two objects at one place are one value.
using Place = std::tuple<std::uint64_t, std::int64_t, Sizes, Strides, std::optional<DType>>;
Place place_of(const TensorRef& tensor) {
    return {tensor.storage, tensor.offset, tensor.sizes, tensor.strides, tensor.dtype};
}

/// Of two tensors with these strides, the difference of whose places is `apart`: have they an element in common?
/// `left`: how many combinations are looked at; where those are too few, yes.
bool meet(const TensorRef& a, const TensorRef& b, std::size_t dim, std::int64_t apart, int& left) {
    if (--left < 0) return true;
    if (dim == a.strides.size()) return apart == 0;
    std::int64_t inner = 0;  // what the dimensions behind this one can make up for
    for (std::size_t i = dim + 1; i < a.strides.size(); ++i)
        inner += a.strides[i] * (std::max(a.sizes[i], b.sizes[i]) - 1);
    const std::int64_t stride = a.strides[dim];
    const std::int64_t nearest = (apart - inner) / stride - 1;  // no smaller one leaves so little
    for (std::int64_t k = std::max(1 - b.sizes[dim], nearest); k < a.sizes[dim]; ++k) {
        const std::int64_t rest = apart - k * stride;
        if (rest < -inner) break;  // and further away from here on
        if (rest <= inner && meet(a, b, dim + 1, rest, left)) return true;
        if (--left < 0) return true;
    }
    return false;
}

/// Do two tensors of one storage have an element in common, as far as that is easily told? In doubt they have.
bool overlap(const TensorRef& a, const TensorRef& b) {
    const auto bytes = [](const TensorRef& tensor) {
        const Reach reached = reach(tensor.sizes, tensor.strides).value_or(Reach{});
        const auto width = static_cast<std::int64_t>(size_of(tensor.dtype.value_or(DType::f64)));
        return std::pair((tensor.offset + reached.first) * width, (tensor.offset + reached.last + 1) * width);
    };
    const auto first = bytes(a), second = bytes(b);
    if (first.second <= second.first || second.second <= first.first) return false;
    constexpr int kMost = 4096;
    int left = kMost;
    const bool alike = a.dtype == b.dtype && a.strides == b.strides &&
                       std::ranges::is_sorted(a.strides, std::ranges::greater()) &&
                       std::ranges::all_of(a.strides, [](std::int64_t stride) { return stride > 0; });
    return !alike || meet(a, b, 0, b.offset - a.offset, left);
}

class Tracer {
  public:
    Tracer(const EventFile& file, const std::vector<Step>& steps) : file_(file), steps_(steps) {
        for (std::size_t i = 0; i < file.snapshots.size(); ++i) snapshots_[file.snapshots[i].tensor.id].push_back(i);
        for (auto& [tensor, list] : snapshots_)
            std::ranges::sort(list, {}, [&](std::size_t i) { return file.snapshots[i].order; });
        for (const TensorName& name : file.names) names_[name.tensor] = &name;
    }

    Values trace() {
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            step_ = static_cast<std::int32_t>(i);
            out_.inputs.emplace_back();
            out_.results.emplace_back();
            forget_unseen(steps_[i].order());
            note_pointer(steps_[i]);
            for (const EventValue& value : steps_[i].begin->values)
                for_each_tensor(value, [&](const TensorRef& tensor) { read(tensor); });
            if (steps_[i].kind == StepKind::op) write_results(steps_[i]);
            write_statistics(steps_[i]);
        }
        return std::move(out_);
    }

  private:
    struct Current {
        ValueId value;
        std::uint32_t version;
    };

    void read(const TensorRef& tensor) {
        const ValueId id = value_of(tensor);
        TracedValue& value = out_.values[static_cast<std::size_t>(id)];
        // Whoever took a pointer to memory may fill it before an operation reads it.
        if (!value.snapshot && first_operation(value.uses, steps_) < 0 && value.step >= 0 && is_op(step_) &&
            (value.result < 0 || makes_memory(steps_[static_cast<std::size_t>(value.step)])))
            value.snapshot = snapshot_before(tensor, steps_[static_cast<std::size_t>(step_)].begin->order);
        // What torch::ones(…, requires_grad()) does to the tensor that it made is no op.
        if (value.uses.empty() && value.step >= 0 && out_.inputs[static_cast<std::size_t>(value.step)].empty())
            value.tensor.flags |= tensor.flags & kRequiresGrad;
        std::vector<std::int32_t>& uses = value.uses;
        if (uses.empty() || uses.back() != step_) uses.push_back(step_);
        out_.inputs.back().push_back(id);
    }

    bool is_op(std::int32_t step) const { return steps_[static_cast<std::size_t>(step)].kind == StepKind::op; }

    ValueId value_of(const TensorRef& tensor) {
        const ValueId there = value_at(tensor);
        const auto known = current_.find(tensor.id);
        if (known != current_.end() && known->second.version == tensor.version && is_unmoved(tensor, known->second)) {
            // data() has a version counter of its own: what is written through it shows at its place only. A view at
            // the same place that nothing was written through is another tensor, perhaps another thread's.
            const auto writer = writers_.find(tensor.storage);
            const bool overwritten = there >= 0 && writer != writers_.end() &&
                                     writer->second.step > time_of(known->second.value) &&
                                     step_of(there) >= writer->second.step;
            if (overwritten) return link(tensor, there);
            // Written through a tensor that counts for itself (data(), set_()), or in inference mode, where none does.
            const std::int32_t step = written_since(tensor, time_of(known->second.value));
            return step >= 0 ? rewritten(tensor, known->second.value, step) : known->second.value;
        }
        // Another object at the same place that nothing wrote to since: detach(), data(), autograd's own copies.
        if (there >= 0 && !was_read_as(tensor, there) && is_latest(there)) return link(tensor, there);
        if (known != current_.end() && is_marked_dirty(tensor, known->second)) return link(tensor, known->second.value);
        if (known != current_.end()) return changed(tensor, known->second.value);
        if (there >= 0) return changed(tensor, there);
        return outside(tensor);
    }

    /// set_data() gives a tensor other memory, and what is there; neither its identity nor its version tells.
    bool is_unmoved(const TensorRef& tensor, const Current& known) const {
        const TensorRef& before = out_.values[static_cast<std::size_t>(known.value)].tensor;
        return !tensor.has(kHasStorage) || !before.has(kHasStorage) || same_place(before, tensor);
    }

    /// The version counter moved by one, and nothing wrote: an autograd function that writes to its argument and gives
    /// it back marks it (mark_dirty), for which PyTorch counts again. Whoever got a pointer may have written.
    bool is_marked_dirty(const TensorRef& tensor, const Current& known) const {
        const TracedValue& value = out_.values[static_cast<std::size_t>(known.value)];
        return tensor.has(kHasStorage) && tensor.version == known.version + 1 && same_place(value.tensor, tensor) &&
               value.step >= 0 && writes_memory(steps_[static_cast<std::size_t>(value.step)]) &&
               is_latest(known.value) && !pointed_at_.contains(tensor.storage);
    }
    void note_pointer(const Step& step) {
        if (step.kind != StepKind::data_pointer) return;
        for (const EventValue& value : step.begin->values)
            for_each_tensor(value, [&](const TensorRef& tensor) { pointed_at_.insert(tensor.storage); });
    }

    /// The value that was seen last at the tensor's place: on this thread, unless another one's is newer than the last
    /// write there. -1: none was.
    ValueId value_at(const TensorRef& tensor) const {
        if (!tensor.has(kHasStorage)) return -1;
        const auto found = by_place_.find(place_of(tensor));
        if (found == by_place_.end()) return -1;
        const AtPlace& there = found->second;
        const auto own = there.by_thread.find(steps_[static_cast<std::size_t>(step_)].thread);
        const auto writer = writers_.find(tensor.storage);
        const bool usable =
            own != there.by_thread.end() && (writer == writers_.end() || step_of(own->second) >= writer->second.step);
        return usable ? own->second : there.last;
    }

    /// The tensor's value was `before` until the last write to its memory, which was through another one. When the
    /// version counter tells of more writes than were seen, nothing is known.
    ValueId changed(const TensorRef& tensor, ValueId before) {
        const auto writer = writers_.find(tensor.storage);
        const TracedValue& old = out_.values[static_cast<std::size_t>(before)];
        if (!tensor.has(kHasStorage) || writer == writers_.end() || writer->second.version != tensor.version ||
            time_of(before) >= writer->second.step || !same_place(old.tensor, tensor))
            return outside(tensor);
        return rewritten(tensor, before, writer->second.step);
    }
    ValueId rewritten(const TensorRef& tensor, ValueId before, std::int32_t step) {
        TracedValue value{.tensor = tensor, .step = step, .result = -1, .before = before};
        value.snapshot = snapshot_before(tensor, steps_[static_cast<std::size_t>(step_)].begin->order);
        const auto id = static_cast<ValueId>(out_.values.size());
        out_.rewritten[value.step].push_back(id);
        out_.values[static_cast<std::size_t>(before)].after.push_back(id);
        return add(std::move(value));
    }

    /// The last step after `time` that wrote to some of the tensor's elements; -1: none did.
    std::int32_t written_since(const TensorRef& tensor, std::int32_t time) const {
        constexpr int kMost = 64;  // of many writes one may well have been there
        const auto writes = tensor.has(kHasStorage) ? writes_.find(tensor.storage) : writes_.end();
        if (writes == writes_.end()) return -1;
        int looked_at = 0;
        for (auto write = writes->second.rbegin(); write != writes->second.rend() && write->step > time; ++write)
            if (++looked_at > kMost || overlap(*write->to, tensor)) return write->step;
        return -1;
    }
    void note_write(const TensorRef& tensor) { writes_[tensor.storage].push_back({step_, &tensor}); }

    /// Nothing was seen to write to its memory since it was made.
    bool is_latest(ValueId id) const {
        const auto writer = writers_.find(out_.values[static_cast<std::size_t>(id)].tensor.storage);
        return writer == writers_.end() || step_of(id) >= writer->second.step;
    }

    /// The tensor had that value under another version: something unseen wrote to it since.
    bool was_read_as(const TensorRef& tensor, ValueId id) const {
        const auto known = current_.find(tensor.id);
        return known != current_.end() && known->second.value == id;
    }

    /// The step that made the value, or read it first.
    std::int32_t time_of(ValueId id) const {
        const TracedValue& value = out_.values[static_cast<std::size_t>(id)];
        return std::max(value.step, value.first_use);
    }
    std::int32_t step_of(ValueId id) const { return out_.values[static_cast<std::size_t>(id)].step; }

    ValueId link(const TensorRef& tensor, ValueId id) {
        show(tensor, id);
        TracedValue& value = out_.values[static_cast<std::size_t>(id)];
        if (tensor.id != value.tensor.id) value.others.push_back(tensor.id);
        if (const auto name = names_.find(tensor.id); name != names_.end() && !value.name) {
            value.name = name->second;
            // an optimizer writes through data(), which requires no gradient; the parameter does
            value.tensor.flags =
                static_cast<std::uint8_t>((value.tensor.flags & ~kRequiresGrad) | (tensor.flags & kRequiresGrad));
        }
        return id;
    }

    void show(const TensorRef& tensor, ValueId id) {
        current_[tensor.id] = {id, tensor.version};
        out_.shown[tensor.id].emplace_back(steps_[static_cast<std::size_t>(step_)].order(), id);
    }

    ValueId outside(const TensorRef& tensor) {
        TracedValue value{.tensor = tensor, .first_use = step_};
        if (const auto writer = writers_.find(tensor.storage); writer != writers_.end())
            value.written_by = writer->second.step;
        // A sparse tensor that was another value was written to through its parts, with which it counts.
        if (const auto writer = last_of_version_.find(tensor.version);
            !tensor.has(kHasStorage) && current_.contains(tensor.id) && writer != last_of_version_.end())
            value.written_by = writer->second;
        const auto unseen = unseen_at_.find(tensor.storage);
        value.unseen = unseen != unseen_at_.end() && unseen->second == step_;
        value.snapshot = snapshot_before(tensor, steps_[static_cast<std::size_t>(step_)].begin->order);
        return add(std::move(value));
    }

    /// `views`: an op made the value without writing, and it shows memory of an operand. A weight at its place then is
    /// what other objects there stand for, as data(), and not the view: backward transposes transposed weights.
    ValueId add(TracedValue value, bool views = false) {
        const auto id = static_cast<ValueId>(out_.values.size());
        show(value.tensor, id);
        if (const auto name = names_.find(value.tensor.id); name != names_.end()) value.name = name->second;
        const ValueId before = views ? value_at(value.tensor) : -1;
        if (value.tensor.has(kHasStorage) && !(before >= 0 && is_latest(before) && is_weight(before))) {
            AtPlace& there = by_place_[place_of(value.tensor)];
            there.last = id;
            there.by_thread[steps_[static_cast<std::size_t>(step_)].thread] = id;
        }
        out_.values.push_back(std::move(value));
        return id;
    }

    void write_results(const Step& step) {
        if (!step.end) return;
        std::int32_t number = 0;
        const bool writes = writes_argument(*step.op);
        for (const EventValue& result : step.end->values)
            for_each_tensor(result, [&](const TensorRef& tensor) {
                const auto known = current_.find(tensor.id);
                if (!writes && known != current_.end() && known->second.version == tensor.version) {
                    out_.results.back().push_back(known->second.value);
                    ++number;
                    return;
                }
                const bool adopts = capture_role(step.op->name) == CaptureRole::adopts;
                if (const ValueId there = adopts ? value_at(tensor) : -1; there >= 0 && is_latest(there)) {
                    out_.results.back().push_back(link(tensor, there));  // it is another tensor's memory from now on
                    ++number;
                    return;
                }
                if (writes && !adopts && tensor.has(kHasStorage)) {  // what a sparse one shares is not known
                    writers_[tensor.storage] = {step_, tensor.version};
                    last_of_version_[tensor.version] = step_;
                    note_write(tensor);
                }
                TracedValue value{.tensor = tensor, .step = step_, .result = number++};
                // What memory without contents holds is known once it is read: by then a pointer may have filled it.
                if (!makes_memory(step)) value.snapshot = snapshot_of_result(tensor, step);
                out_.results.back().push_back(add(std::move(value), !writes && shows_operand(step, tensor)));
            });
    }

    /// A parameter or buffer, or another leaf that gradients are for.
    bool is_weight(ValueId id) const {
        const TracedValue& value = out_.values[static_cast<std::size_t>(id)];
        return value.name || (value.tensor.has(kRequiresGrad) && value.tensor.has(kLeaf));
    }

    /// Its version is that of an operand in the same memory, so the op wrote nothing there.
    static bool shows_operand(const Step& step, const TensorRef& result) {
        bool shows = false;
        for (const EventValue& value : step.begin->values)
            for_each_tensor(value, [&](const TensorRef& operand) {
                shows = shows || (operand.has(kHasStorage) && operand.storage == result.storage &&
                                  operand.version == result.version);
            });
        return shows && result.has(kHasStorage);
    }

    /// Memory that was written to through a pointer until now holds nothing that a step computed.
    void forget_unseen(std::uint64_t order) {
        for (; unseen_ < file_.unseen_writes.size() && file_.unseen_writes[unseen_].order < order; ++unseen_)
            for_each_tensor(file_.unseen_writes[unseen_].values.front(), [&](const TensorRef& written) {
                std::erase_if(current_, [&](const auto& entry) {
                    return out_.values[static_cast<std::size_t>(entry.second.value)].tensor.storage == written.storage;
                });
                std::erase_if(by_place_,
                              [&](const auto& entry) { return std::get<0>(entry.first) == written.storage; });
                writers_.erase(written.storage);
                writes_.erase(written.storage);
                unseen_at_[written.storage] = step_;
            });
    }

    /// A batch norm in training leaves other values in its running statistics. What other normalizations did to theirs
    /// is not known.
    void write_statistics(const Step& step) {
        if (!may_write_statistics(step)) return;
        if (const auto written = written_statistics(step); !written.empty()) {
            for (const TensorRef* tensor : written) {
                TracedValue value{.tensor = *tensor, .step = step_, .result = -1};
                value.before = current_.at(tensor->id).value;
                for (auto* list : {&out_.statistics[step_], &out_.rewritten[step_]})
                    list->push_back(static_cast<ValueId>(out_.values.size()));
                add(std::move(value));
                writers_[tensor->storage] = {step_, std::nullopt};
                note_write(*tensor);
            }
            return;
        }
        const auto& values = step.begin->values;
        for (std::size_t i = 3; i < std::min<std::size_t>(values.size(), 5); ++i)
            for_each_tensor(values[i], [&](const TensorRef& tensor) {
                current_.erase(tensor.id);
                by_place_.erase(place_of(tensor));
                writers_[tensor.storage] = {step_, std::nullopt};
                note_write(tensor);
            });
    }

    std::optional<std::size_t> snapshot_before(const TensorRef& tensor, std::uint64_t order) const {
        std::optional<std::size_t> best;
        if (const auto list = snapshots_.find(tensor.id); list != snapshots_.end())
            for (const std::size_t i : list->second)
                if (file_.snapshots[i].order < order && is_of(i, tensor)) best = i;
        return best;
    }
    /// Of what the step left in the tensor. The elements of a composite op's result are in the file since the op below
    /// that made it ended.
    std::optional<std::size_t> snapshot_of_result(const TensorRef& tensor, const Step& step) const {
        std::optional<std::size_t> best;
        if (const auto list = snapshots_.find(tensor.id); list != snapshots_.end())
            for (const std::size_t i : list->second) {
                const std::uint64_t order = file_.snapshots[i].order;
                if (order < step.begin->order || !is_of(i, tensor)) continue;
                if (best && order > step.end->order) break;
                best = i;
            }
        return best;
    }

    bool is_of(std::size_t snapshot, const TensorRef& tensor) const {
        const TensorRef& taken = file_.snapshots[snapshot].tensor;
        return tensor.dtype && taken.version == tensor.version && taken.sizes == tensor.sizes &&
               taken.dtype == tensor.dtype;
    }

    const EventFile& file_;
    const std::vector<Step>& steps_;
    Values out_;
    std::int32_t step_ = 0;
    std::unordered_map<std::uint64_t, Current> current_;
    struct AtPlace {
        ValueId last = -1;
        std::map<std::uint32_t, ValueId> by_thread = {};
    };
    std::map<Place, AtPlace> by_place_;
    struct Write {
        std::int32_t step = -1;
        std::optional<std::uint32_t> version = {};  ///< after it; unknown when the write itself was not seen
    };
    struct Written {
        std::int32_t step = -1;
        const TensorRef* to = nullptr;  ///< in an event
    };
    std::unordered_map<std::uint64_t, std::vector<Written>> writes_;   ///< per storage, ascending
    std::unordered_map<std::uint64_t, Write> writers_;                 ///< per storage: the last step that wrote to it
    std::unordered_map<std::uint32_t, std::int32_t> last_of_version_;  ///< the last step that left this version
    std::unordered_set<std::uint64_t> pointed_at_;                     ///< storages that the program has a pointer to
    std::size_t unseen_ = 0;                                           ///< position in EventFile::unseen_writes
    std::unordered_map<std::uint64_t, std::int32_t> unseen_at_;  ///< per storage: the step before which it was written
    std::unordered_map<std::uint64_t, std::vector<std::size_t>> snapshots_;
    std::unordered_map<std::uint64_t, const TensorName*> names_;
};

}  // namespace

ValueMeta Values::meta(ValueId id) const {
    const TensorRef& tensor = values[static_cast<std::size_t>(id)].tensor;
    return {tensor.dtype.value_or(DType::f32), tensor.sizes, tensor.strides, tensor.has(kRequiresGrad),
            tensor.placement};
}

bool Values::is_statistic(ValueId id) const {
    const auto of_step = statistics.find(values[static_cast<std::size_t>(id)].step);
    return of_step != statistics.end() && std::ranges::find(of_step->second, id) != of_step->second.end();
}

/// The function had returned when the tensor was released.
bool ReturnTime::has(const Released& released) const {
    if (released.order < after || released.order >= before) return released.order >= before;
    const bool known =
        callers && released.thread == thread && (released.waiting >= *callers || released.waiting < released.looked_at);
    return known ? released.waiting < *callers : in_doubt;
}

namespace {

/// Of some tensor that was the value and that somebody held then: was what it was `right`?
template <class Right>
bool is_some_held(const Values& values, ValueId id, const ReturnTime& when, const EventFile& file, const Right& right) {
    const auto is_it = [&](std::uint64_t tensor) {
        const auto released = file.released.find(tensor);
        if (released != file.released.end() && !when.has(released->second)) return false;
        const auto& all = values.shown.at(tensor);
        const auto next = std::ranges::lower_bound(all, when.before, {}, [](const auto& entry) { return entry.first; });
        return next != all.begin() && right(std::prev(next)->second);
    };
    const TracedValue& value = values.values[static_cast<std::size_t>(id)];
    return is_it(value.tensor.id) || std::ranges::any_of(value.others, is_it);
}

}  // namespace

bool Values::is_held(ValueId id, const ReturnTime& when, const EventFile& file) const {
    return is_some_held(*this, id, when, file, [&](ValueId shown) { return shown == id; });
}

bool Values::is_place_held(ValueId id, const ReturnTime& when, const EventFile& file) const {
    const auto tensor = [&](ValueId of) -> const TensorRef& { return values[static_cast<std::size_t>(of)].tensor; };
    return is_some_held(*this, id, when, file, [&](ValueId shown) { return same_place(tensor(shown), tensor(id)); });
}

const TensorRef* read_as(const Values& values, const Step& step, std::int32_t index, ValueId id) {
    const std::vector<ValueId>& reads = values.inputs[static_cast<std::size_t>(index)];
    const TensorRef* found = nullptr;
    std::size_t n = 0;
    for (const EventValue& value : step.begin->values)
        for_each_tensor(value, [&](const TensorRef& tensor) {
            if (reads.at(n++) == id && !found) found = &tensor;
        });
    return found;
}

std::int32_t first_operation(const std::vector<std::int32_t>& uses, const std::vector<Step>& steps) {
    const auto is_op = [&](std::int32_t use) { return steps[static_cast<std::size_t>(use)].kind == StepKind::op; };
    const auto found = std::ranges::find_if(uses, is_op);
    return found == uses.end() ? -1 : *found;
}

Values trace_values(const EventFile& file, const std::vector<Step>& steps) { return Tracer(file, steps).trace(); }

}  // namespace whittle::libtorch
