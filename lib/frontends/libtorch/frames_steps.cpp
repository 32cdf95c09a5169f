// What is left out of the steps before they are put into frames, and what is marked in them, by their stacks.
#include <algorithm>
#include <map>
#include <utility>

#include "frontends/libtorch/frames.h"
#include "frontends/libtorch/python_code.h"
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

std::int64_t leave_out_compiled(const EventFile& file, std::vector<Step>& steps, Symbolizer& symbolizer) {
    enum class Role { of_program, of_compiler, of_generated_code };
    std::map<std::uint32_t, Role> known;
    const auto role_of = [&](std::uint32_t stack) {
        const auto [entry, fresh] = known.try_emplace(stack, Role::of_program);
        const auto pcs = file.stacks.find(stack);
        if (!fresh || pcs == file.stacks.end()) return entry->second;
        for (const std::uint64_t pc : pcs->second) {
            const CodePlace& place = symbolizer.places(pc).back();
            const std::string_view name =
                place.interpreted ? package_file(place.file, file.python_libraries) : std::string_view();
            if (compiles_python(name, place.function)) return entry->second = Role::of_compiler;
            if (runs_generated_code(name)) entry->second = Role::of_generated_code;
        }
        return entry->second;
    };
    if (!file.runs_python) return 0;
    std::int64_t count = 0;
    std::map<std::uint32_t, bool> generated;  // per thread: the last step was of generated code
    std::vector<Step> kept;
    for (Step& step : steps) {
        const Role role = step.kind == StepKind::compiled ? Role::of_generated_code : role_of(step.stack);
        if (role == Role::of_compiler) {
            if (step.kind == StepKind::op) count += step.times();
            continue;
        }
        const bool first = !std::exchange(generated[step.thread], role == Role::of_generated_code);
        if (role == Role::of_program)
            kept.push_back(std::move(step));
        else if (first)
            kept.push_back(
                {.kind = StepKind::compiled, .begin = step.begin, .thread = step.thread, .stack = step.stack});
    }
    steps = std::move(kept);
    return count;
}

void mark_backward(const EventFile& file, std::vector<Step>& steps, Symbolizer& symbolizer) {
    OnStack in_engine(file, symbolizer, runs_backward);
    for (Step& step : steps) step.backward |= in_engine(step.stack);
}

}  // namespace whittle::libtorch
