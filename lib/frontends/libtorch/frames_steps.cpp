// What is left out of the steps before they are put into frames, and what is marked in them, by their stacks.
#include <algorithm>
#include <map>

#include "frontends/libtorch/frames.h"
#include "frontends/libtorch/stack_reader.h"
#include "frontends/libtorch/torch_names.h"

namespace whittle::libtorch {

namespace {

/// Per stack: whether it has such a function, each looked at once.
template <class Is>
class OnStack {
  public:
    OnStack(const EventFile& file, Symbolizer& symbolizer, Is is) : file_(file), symbolizer_(symbolizer), is_(is) {}

    bool operator()(std::uint32_t stack) {
        const auto [entry, fresh] = known_.try_emplace(stack, false);
        const auto pcs = file_.stacks.find(stack);
        if (!fresh || pcs == file_.stacks.end()) return entry->second;
        return entry->second = std::ranges::any_of(
                   pcs->second, [&](std::uint64_t pc) { return is_(symbolizer_.places(pc).back().function); });
    }

  private:
    const EventFile& file_;
    Symbolizer& symbolizer_;
    const Is is_;
    std::map<std::uint32_t, bool> known_;
};

}  // namespace

void leave_out_compiler(const EventFile& file, std::vector<Step>& steps, Symbolizer& symbolizer) {
    OnStack compiles(file, symbolizer, compiles_script);
    std::erase_if(steps, [&](const Step& step) { return compiles(step.stack); });
}

std::int64_t leave_out_imports(const EventFile& file, std::vector<Step>& steps, Symbolizer& symbolizer) {
    std::map<std::uint32_t, bool> known;
    // Innermost first: the interpreter's own import comes before anything of the user's.
    const auto imports = [&](std::uint32_t stack) {
        const auto [entry, fresh] = known.try_emplace(stack, false);
        const auto pcs = file.stacks.find(stack);
        if (!fresh || pcs == file.stacks.end()) return entry->second;
        for (const std::uint64_t pc : pcs->second) {
            const CodePlace& place = symbolizer.places(pc).back();
            if (place.interpreted && place.user) break;
            if (place.interpreted && imports_modules(place.file)) return entry->second = true;
        }
        return false;
    };
    std::int64_t count = 0;
    std::erase_if(steps, [&](const Step& step) {
        const bool left_out = file.runs_python && imports(step.stack);
        if (left_out && step.kind == StepKind::op) count += step.times();
        return left_out;
    });
    return count;
}

void mark_backward(const EventFile& file, std::vector<Step>& steps, Symbolizer& symbolizer) {
    OnStack in_engine(file, symbolizer, runs_backward);
    for (Step& step : steps) step.backward |= in_engine(step.stack);
}

}  // namespace whittle::libtorch
