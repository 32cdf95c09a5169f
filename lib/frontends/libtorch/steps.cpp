#include "frontends/libtorch/steps.h"

#include <map>
#include <set>

#include "frontends/libtorch/bind.h"
#include "frontends/libtorch/torch_names.h"
#include "ops/aten/capture.h"

namespace whittle::libtorch {
namespace {

/// Ops that give the program a host value of a tensor's elements. Others that return host values (is_floating_point,
/// _batch_norm_impl_index …) tell only what is known without running anything.
bool reads_elements(const OpName& op) {
    const CaptureRole role = capture_role(op.name);
    return role == CaptureRole::reads_elements || role == CaptureRole::branches || role == CaptureRole::compares;
}

/// One thread's events, with the ops that are running.
class ThreadReader {
  public:
    ThreadReader(const EventFile& file, Level level, std::set<std::uint64_t>& seen, std::vector<Step>& steps)
        : file_(file), level_(level), seen_(seen), steps_(steps) {}

    void read(const Event& event) {
        switch (event.kind) {
            case RecordKind::op_begin:
                return begin(event);
            case RecordKind::op_end:
                return end(event);
            case RecordKind::io:
                return add(StepKind::io, event);
            case RecordKind::data_ptr:
                return is_printing(event) ? void() : add(StepKind::data_pointer, event);
            case RecordKind::print_begin:
                return add(StepKind::print, event);
            case RecordKind::raised:
                if (open_.empty() && !steps_.empty()) steps_.back().raised = &event;
                return;
            case RecordKind::from_blob:
                return add(StepKind::blob, event);
            default:
                return;
        }
    }

  private:
    struct Open {
        const Event* begin;
        std::size_t first_step;  ///< position of the first step made since
        bool taken, autograd;
        std::uint32_t stack;
    };

    void add(StepKind kind, const Event& event) {
        if (!inside_taken())
            steps_.push_back({.kind = kind, .begin = &event, .thread = event.thread, .stack = event.stack});
    }

    bool inside_taken() const {
        return std::any_of(open_.begin(), open_.end(), [](const Open& open) { return open.taken; });
    }

    /// What Python's print() and str() compute of a tensor is no operation of the program's: it reads the tensor.
    bool is_printing(const Event& event) {
        if (!file_.runs_python || !open_.empty()) return false;
        const auto [entry, fresh] = printing_.try_emplace(event.stack);
        if (fresh) entry->second = file_.printing_place(event.stack);
        const std::uint64_t place = entry->second;
        const bool more = place && place == printed_at_ && !steps_.empty() && steps_.back().kind == StepKind::print;
        if (place && !more) add(StepKind::print, event);
        printed_at_ = place;
        return place != 0;
    }

    void begin(const Event& event) {
        const OpName& op = file_.op(event);
        const std::uint32_t stack = event.stack || open_.empty() ? event.stack : open_.back().stack;
        const bool checks = capture_role(op.name) == CaptureRole::checks;
        if (event.scope == OpScope::function && (is_printing(event) || checks))
            return open_.push_back({&event, steps_.size(), true, false, stack});
        const bool is_op = event.scope == OpScope::function && (op.flags & kHasSchema);
        const bool composite = op.flags & kComposite;
        const bool wanted =
            !composite || reads_elements(op) || (level_ == Level::api && !(op.flags & kCasts) && is_known(op, event));
        const bool tells_nothing = (op.flags & kReturnsOnlyHost) && !reads_elements(op);
        const bool autograd = event.scope == OpScope::backward || capture_role(op.name) == CaptureRole::backward;
        const bool take = !inside_taken() && is_op && wanted && !tells_nothing && !autograd;
        open_.push_back({&event, steps_.size(), take, autograd, stack});
        if (!take) return;
        steps_.push_back({.begin = &event, .op = &op, .thread = event.thread, .stack = stack});
        for (const Open& open : open_) {
            steps_.back().backward |= open.autograd;
            if (open.begin->scope == OpScope::backward) steps_.back().node = open.begin;
        }
        for (const EventValue& value : event.values)
            for_each_tensor(value, [&](const TensorRef& tensor) { seen_.insert(tensor.id); });
    }

    void end(const Event& event) {
        // An event file that was cut may lack ends: close what it left open.
        while (!open_.empty() && (open_.back().begin->depth > event.depth)) open_.pop_back();
        if (open_.empty() || open_.back().begin->op != event.op) return;
        const Open open = open_.back();
        open_.pop_back();
        if (open.taken) {
            if (open.first_step == steps_.size()) return;  // a printed tensor's, or a check
            Step& step = steps_[open.first_step];
            step.end = &event;
            see_results(event);
        } else if (open.begin->scope == OpScope::function && (file_.op(event).flags & kHasSchema) && !inside_taken()) {
            end_composite(open, event);
        } else if (is_compiled_region(file_.op(event).name) && !inside_taken() && steps_.size() == open.first_step) {
            steps_.push_back(
                {.kind = StepKind::compiled, .begin = open.begin, .thread = event.thread, .stack = open.stack});
        }
    }

    void see_results(const Event& event) {
        for (const EventValue& value : event.values)
            for_each_tensor(value, [&](const TensorRef& tensor) { seen_.insert(tensor.id); });
    }

    /// A composite op a result of which no op below it made, or all of whose results none filled, works on memory
    /// directly: then it is the op. So it is where it threw, and no op below it. (What only some of its results hold is
    /// data: the lengths of a packed sequence.)
    void end_composite(const Open& open, const Event& event) {
        bool unseen = false, filled_unseen = true, any = false;
        for (const EventValue& value : open.begin->values)
            for_each_tensor(value, [&](const TensorRef& tensor) { seen_.insert(tensor.id); });
        for (const EventValue& value : event.values)
            for_each_tensor(value, [&](const TensorRef& tensor) {
                unseen |= !seen_.contains(tensor.id);
                if (element_count(tensor.sizes) == 0) return;
                any = true;
                filled_unseen = filled_unseen && is_filled_unseen(open, tensor);
            });
        const Step composite{
            .begin = open.begin, .end = &event, .op = &file_.op(event), .thread = event.thread, .stack = open.stack};
        const auto threw_inside = std::any_of(steps_.begin() + static_cast<std::ptrdiff_t>(open.first_step),
                                              steps_.end(), [](const Step& step) { return step.threw(); });
        const bool threw = composite.threw() && !(composite.op->flags & kReturnsOnlyHost) && !threw_inside;
        if (!threw && !unseen && !(any && filled_unseen)) return;
        std::erase_if(steps_, [&](const Step& step) {
            return step.thread == event.thread && &step >= steps_.data() + open.first_step;
        });
        steps_.push_back(composite);
        see_results(event);
    }

    /// The op is given tensors, allocated the result's memory below it and wrote there by no op: max_pool1d without
    /// gradients. An op that is given none may leave what lay in memory there (empty), or have its elements from the
    /// program (TorchScript's tensor).
    bool is_filled_unseen(const Open& open, const TensorRef& result) const {
        bool takes_tensors = false;
        for (const EventValue& value : open.begin->values)
            for_each_tensor(value, [&](const TensorRef&) { takes_tensors = true; });
        if (!takes_tensors || capture_role(file_.op(*open.begin).name) == CaptureRole::allocates) return false;
        const auto is_there = [&](const EventValue& value) {
            const TensorRef* tensor = value.tensor();
            return tensor && tensor->has(kHasStorage) && tensor->storage == result.storage;
        };
        bool allocated = false;
        for (std::size_t i = open.first_step; i < steps_.size(); ++i) {
            const Step& step = steps_[i];
            if (step.kind != StepKind::op || !step.end) continue;
            if (capture_role(step.op->name) == CaptureRole::allocates)
                allocated |= std::ranges::any_of(step.end->values, is_there);
            else if (writes_argument(*step.op) && std::ranges::any_of(step.begin->values, is_there))
                return false;
        }
        return allocated;
    }

    const EventFile& file_;
    Level level_;
    std::set<std::uint64_t>& seen_;
    std::vector<Step>& steps_;
    std::vector<Open> open_;
    std::map<std::uint32_t, std::uint64_t> printing_;  ///< per stack: see EventFile::printing_place()
    std::uint64_t printed_at_ = 0;                     ///< of the last event: 0, it was none of a print
};

}  // namespace

bool Step::threw() const {
    return kind == StepKind::op && end && end->values.empty() && op->schema.find("-> ()") == std::string::npos;
}

bool writes_argument(const OpName& op) { return op.writes; }

namespace {

void number_results(const EventValue& value, ResultNumbers& numbers) {
    if (value.tensor()) numbers.defined.push_back(numbers.count);
    if (value.tensor() || value.undefined) ++numbers.count;
    if (const auto* list = value.list())
        for (const EventValue& element : *list) number_results(element, numbers);
}

}  // namespace

ResultNumbers result_numbers(const Event& end) {
    ResultNumbers numbers;
    for (const EventValue& value : end.values) number_results(value, numbers);
    return numbers;
}

std::size_t written_outs(const OpName& op) {
    std::string_view params = std::string_view(op.schema).substr(0, op.schema.find(") ->"));
    std::size_t outs = 0;
    for (;; ++outs) {
        const auto comma = params.rfind(',');
        if (comma == std::string_view::npos) return 0;  // the first argument
        const std::string_view last = params.substr(comma);
        if (last.find('!') == std::string_view::npos) break;
        if (last.find('[') != std::string_view::npos) return 0;  // a list of tensors
        params = params.substr(0, comma);
    }
    return params.find('!') == std::string_view::npos ? outs : 0;
}

bool writes_memory(const Step& step) {
    if (step.kind != StepKind::op || !writes_argument(*step.op) || !step.end) return false;
    if (capture_role(step.op->name) == CaptureRole::resizes) return false;  // to the same sizes, perhaps
    const std::span<const EventValue> written = written_among(*step.op, step.begin->values);
    if (written.empty() || step.end->values.size() < written.size()) return false;
    for (std::size_t i = 0; i < written.size(); ++i) {
        const TensorRef *before = written[i].tensor(), *after = step.end->values[i].tensor();
        if (!before || !after || before->storage != after->storage || before->sizes != after->sizes ||
            before->strides != after->strides)
            return false;
    }
    return true;
}

std::vector<std::int32_t> forward_ops(const EventFile& file, const std::vector<Step>& steps) {
    std::map<std::pair<std::uint64_t, std::int64_t>, std::int32_t> by_number;  // LibTorch's thread, sequence number
    std::vector<std::int32_t> forward(steps.size(), -1);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const Step& step = steps[i];
        if (step.kind != StepKind::op) continue;
        const auto thread = file.threads.find(step.thread);
        if (step.node) {
            const auto op = by_number.find({step.node->forward_thread, step.node->sequence});
            if (op != by_number.end()) forward[i] = op->second;
        } else if (step.begin->sequence >= 0 && thread != file.threads.end()) {
            by_number[{thread->second.number, step.begin->sequence}] = static_cast<std::int32_t>(i);
        }
    }
    return forward;
}

std::vector<bool> through_backward(const EventFile& file, const std::vector<Step>& steps,
                                   const std::vector<std::int32_t>& forward) {
    std::set<std::pair<std::uint64_t, std::int64_t>> recorded;      // LibTorch's thread, numbers that passes gave
    std::map<std::int32_t, std::set<const Event*>> differentiated;  // by recorded passes: per forward op, its nodes
    std::vector<bool> through(steps.size(), false);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const Step& step = steps[i];
        if (step.kind != StepKind::op || !step.node) continue;
        if (forward[i] < 0) {
            through[i] = recorded.contains({step.node->forward_thread, step.node->sequence});
        } else if (const auto known = differentiated.find(forward[i]); known != differentiated.end()) {
            through[i] = known->second.size() > known->second.count(step.node);
        }
        if (!step.begin->grad_mode) continue;
        if (forward[i] >= 0) differentiated[forward[i]].insert(step.node);
        const auto thread = file.threads.find(step.thread);
        if (step.begin->sequence >= 0 && thread != file.threads.end())
            recorded.emplace(thread->second.number, step.begin->sequence);
    }
    return through;
}

std::vector<Step> steps_of(const EventFile& file, Level level) {
    // Each thread on its own: positions of open ops stay valid while another thread runs.
    std::map<std::uint32_t, std::vector<Step>> steps;
    std::map<std::uint32_t, ThreadReader> readers;
    std::set<std::uint64_t> seen;
    for (const Event& event : file.events) {
        auto reader = readers.find(event.thread);
        if (reader == readers.end())
            reader = readers.emplace(event.thread, ThreadReader(file, level, seen, steps[event.thread])).first;
        reader->second.read(event);
    }
    std::vector<Step> all;
    for (auto& [thread, own] : steps) all.insert(all.end(), own.begin(), own.end());
    std::ranges::sort(all, {}, [](const Step& step) { return step.order(); });
    return all;
}

}  // namespace whittle::libtorch
