#include "frontends/libtorch/filling.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "frontends/libtorch/bind.h"
#include "ops/aten/capture.h"

namespace whittle::libtorch {
namespace {

std::vector<std::uint64_t> storages(const Event& event) {
    std::vector<std::uint64_t> found;
    for (const EventValue& value : event.values)
        for_each_tensor(value, [&](const TensorRef& tensor) {
            if (!tensor.number) found.push_back(tensor.has(kHasStorage) ? tensor.storage : 0);
        });
    return found;
}

class FillingFinder {
  public:
    FillingFinder(const EventFile& file, const std::vector<Step>& steps)
        : steps_(steps), filling_(steps.size(), false) {
        for (const TensorName& name : file.names) named_.insert(name.tensor);
    }

    std::vector<bool> find() {
        for (std::size_t i = 0; i < steps_.size(); ++i)
            if (steps_[i].kind == StepKind::op && steps_[i].end) visit(i);
        return std::move(filling_);
    }

  private:
    void visit(std::size_t index) {
        const Step& step = steps_[index];
        // A number of the host as a tensor: what reads it has the number.
        if (capture_role(step.op->name) == CaptureRole::wraps_number) {
            filling_[index] = true;
            return;
        }
        const std::vector<std::uint64_t> read = storages(*step.begin), made = storages(*step.end);
        if (capture_role(step.op->name) == CaptureRole::adopts) return;
        if (makes_memory(step)) {
            for (const std::uint64_t storage : read)
                if (!made.empty() && storage == made.front()) return leave(storage, true);  // resize_()
            for (const std::uint64_t storage : made) add(storage, index);
            return;
        }
        // A view, or a number written: only this memory goes in and comes out.
        if (!read.empty() && !made.empty() && fresh_.contains(read.front()) && !is_random(*step.op)) {
            const auto same = [&](std::uint64_t storage) { return storage == read.front(); };
            if (std::ranges::all_of(read, same) && std::ranges::all_of(made, same))
                return use_alone(step, read.front(), index);
        }
        const std::span<const std::uint64_t> written = written_among(*step.op, read);
        for (const std::uint64_t storage : read)
            leave(storage, writes_argument(*step.op) && std::ranges::find(written, storage) != written.end());
    }

    /// The step is given this memory only, and gives it back.
    void use_alone(const Step& step, std::uint64_t storage, std::size_t index) {
        Fresh& fresh = fresh_[storage];
        const CaptureRole role = capture_role(step.op->name);
        const bool writes = writes_argument(*step.op), detaches = writes && role == CaptureRole::detaches;
        const bool fills = role == CaptureRole::fills && fresh.constant == 0;
        if (writes && !detaches && !fills) return leave(storage, false);  // mul_(2), or a write to torch.tensor()
        const bool ends = ends_constant(step);
        if (!writes && !ends) return fresh.views.push_back(index);
        add(storage, index);
        if (ends && (detaches || !names_parameter(step))) fresh.constant = fresh.steps.size();
    }

    /// The views up to here may have led to what is written.
    void add(std::uint64_t storage, std::size_t index) {
        filling_[index] = storage != 0;
        if (!storage) return;
        Fresh& fresh = fresh_[storage];
        for (const std::size_t view : std::exchange(fresh.views, {})) {
            filling_[view] = true;
            fresh.steps.push_back(view);
        }
        fresh.steps.push_back(index);
    }

    /// A parameter or buffer, torch.tensor(…).view(…); or another object for the same elements, as the last step of
    /// torch.tensor() or Parameter(): detach() of what is neither a parameter nor needs a gradient.
    bool ends_constant(const Step& step) const {
        if (names_parameter(step)) return true;
        const TensorRef* of = step.begin->values.front().tensor();
        return of && step.end->values.front().tensor() && capture_role(step.op->name) == CaptureRole::detaches &&
               !of->has(kRequiresGrad) && !named_.contains(of->id);
    }
    bool names_parameter(const Step& step) const {
        const TensorRef* made = step.end->values.front().tensor();
        return made && named_.contains(made->id);
    }

    /// Something reads the memory, or writes what was computed to it: then its steps are calls like others, but for
    /// those of a constant that was complete.
    void leave(std::uint64_t storage, bool written) {
        const auto found = fresh_.find(storage);
        if (found == fresh_.end()) return;
        const Fresh& fresh = found->second;
        for (std::size_t i = fresh.constant; written && i < fresh.steps.size(); ++i) filling_[fresh.steps[i]] = false;
        fresh_.erase(found);
    }

    const std::vector<Step>& steps_;
    std::vector<bool> filling_;
    std::set<std::uint64_t> named_;  ///< parameters and buffers
    /// Of memory that nothing has read: what filled it, and the views since then, which are for whoever reads them.
    struct Fresh {
        std::vector<std::size_t> steps = {}, views = {};
        std::size_t constant = 0;  ///< so many steps made a constant: torch.tensor()
    };
    std::map<std::uint64_t, Fresh> fresh_;  ///< per storage
};

}  // namespace

void mark_unwritten(std::vector<Step>& steps) {
    std::set<std::uint64_t> fresh, shown;  // nothing wrote there; a tensor with elements was
    const auto show = [&](const Event& event) {
        for (const EventValue& value : event.values)
            for_each_tensor(value, [&](const TensorRef& tensor) {
                if (element_count(tensor.sizes) > 0) shown.insert(tensor.storage);
            });
    };
    for (Step& step : steps) {
        if (step.kind != StepKind::op || !step.end) continue;
        const std::vector<std::uint64_t> read = storages(*step.begin);
        show(*step.begin);
        if (capture_role(step.op->name) == CaptureRole::resizes && !read.empty())
            step.unwritten = fresh.contains(read.front()) || !shown.contains(read.front());
        if (!makes_memory(step))
            for (const std::uint64_t storage : read) fresh.erase(storage);
        else if (!step.unwritten)
            for (const std::uint64_t storage : storages(*step.end))
                if (!shown.contains(storage)) fresh.insert(storage);  // set_() may show a tensor's
        show(*step.end);
    }
}

void mark_blank(std::vector<Step>& steps) {
    struct Made {
        Step* step;
        const TensorRef* tensor;
    };
    std::map<std::uint64_t, Made> untouched;  // by storage
    for (Step& step : steps) {
        if (step.kind != StepKind::op || !step.end) continue;
        const auto& given = step.begin->values;
        const bool fills = capture_role(step.op->name) == CaptureRole::fills;
        const bool overwrites = fills || (written_outs(*step.op) && writes_memory(step));
        for (const EventValue& value : written_among(*step.op, given)) {
            const TensorRef* written = value.tensor();
            const auto filled = written ? untouched.find(written->storage) : untouched.end();
            if (filled != untouched.end() && overwrites)
                filled->second.step->blank = same_place(*filled->second.tensor, *written);
        }
        const bool allocates = makes_memory(step);
        if (!allocates)  // empty_like() reads no elements
            for (const std::uint64_t storage : storages(*step.begin)) untouched.erase(storage);
        const TensorRef* made = step.end->values.size() == 1 ? step.end->values.front().tensor() : nullptr;
        const bool whole = made && made->has(kHasStorage) && made->offset == 0 && !made->placement &&
                           made->obstacle().empty() && is_contiguous(made->sizes, made->strides);
        if (allocates && whole) untouched.insert_or_assign(made->storage, Made{&step, made});
    }
}

std::vector<bool> filling_steps(const EventFile& file, const std::vector<Step>& steps) {
    return FillingFinder(file, steps).find();
}

}  // namespace whittle::libtorch
