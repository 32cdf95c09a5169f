#include "reduce/schedule/blame.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/interrupt.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "reduce/schedule/runs.h"

namespace whittle::reduce {

using Component = ScheduleBlame::Component;

namespace {

/// "x86", "64", "linux" of a target.
constexpr std::size_t kPlatformWords = 3;
/// Features that are no ability of the processor.
bool is_mode(const std::string& feature) { return feature == "jit" || feature == "user_context"; }

class Blaming {
  public:
    Blaming(const ScheduleRequest& request, const MinimizedSchedule& done)
        : request_(request), done_(done), runs_(request) {}

    ScheduleBlame run() {
        if (done_.failure.find("error") != std::string::npos) {
            blame_.component = Component::schedule;
            return std::move(blame_);
        }
        if (done_.failure.starts_with("results")) runs_.take_reference();
        if (!fails("one thread", {{"HL_NUM_THREADS", "1"}}))
            blame_.component = Component::race;
        else if (!fails("no optional passes of LLVM", limited(0)))
            find_pass();
        else if (const std::vector<std::string> target = target_words();
                 target.size() > kPlatformWords && !fails("no features of the processor", with_features({})))
            find_features();
        return std::move(blame_);
    }

  private:
    bool fails(const std::string& what, const Variables& variables) {
        const bool failing = ask(variables);
        const auto& [name, value] = variables.at(0);
        blame_.tries.push_back({what, name + "=" + value, failing});
        return failing;
    }

    /// In any of the runs that a failure of its rate takes.
    bool ask(const Variables& variables) {
        for (std::size_t i = 0; i < done_.repeat && !interrupt_signal(); ++i) {
            request_.tell(done_.queries + ++asked_, "which part of Halide fails");
            if (runs_.run(done_.culprits.left_out, variables).shown() == done_.failure) return true;
        }
        return false;
    }

    // LLVM counts its optional passes, and skips those behind a number.

    static Variables limited(std::int64_t passes) {
        return {{"HL_LLVM_ARGS", "-opt-bisect-limit=" + std::to_string(passes)}};
    }

    void find_pass() {
        blame_.component = Component::llvm;
        constexpr std::int64_t kMost = std::int64_t(1) << 24;
        std::int64_t passes = 0, failing = 1024;
        while (failing < kMost && !ask(limited(failing))) passes = failing, failing *= 4;
        while (failing - passes > 1 && !interrupt_signal()) {
            const std::int64_t middle = passes + (failing - passes) / 2;
            (ask(limited(middle)) ? failing : passes) = middle;
        }
        const auto print = [&](const std::string& options) {
            Variables variables = limited(failing);
            if (!options.empty()) variables[0].second += " " + options;
            return runs_.run(done_.culprits.left_out, variables).printed;
        };
        blame_.pass = reduce::find_pass(print(""), failing, print);
        const std::string& name = blame_.pass.name;
        blame_.what = "pass " + std::to_string(failing) + (name.empty() ? "" : ", " + name + ",");
        blame_.tries.push_back({"LLVM's optional passes up to " + std::to_string(passes), variable(passes), false});
        blame_.tries.push_back({"LLVM's optional passes up to " + std::to_string(failing), variable(failing), true});
    }
    static std::string variable(std::int64_t passes) {
        return limited(passes)[0].first + "=" + limited(passes)[0].second;
    }

    // The target that Halide compiles for where the program does not say.

    std::vector<std::string> target_words() const { return split(done_.target, '-'); }
    Variables with_features(const std::vector<std::string>& features) const {
        std::vector<std::string> words = target_words();
        words.resize(kPlatformWords);
        append(words, features);
        return {{"HL_JIT_TARGET", join(words, "-")}};
    }

    void find_features() {
        blame_.component = Component::target;
        std::vector<std::string> features = target_words();
        features.erase(features.begin(), features.begin() + kPlatformWords);
        std::erase_if(features, is_mode);
        for (std::size_t i = 0; i < features.size() && !interrupt_signal();) {
            std::vector<std::string> fewer = features;
            fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
            if (ask(with_features(fewer)))
                features = fewer;
            else
                ++i;
        }
        blame_.what = join(features);
        blame_.tries.push_back({"these features alone", "HL_JIT_TARGET=" + with_features(features)[0].second, true});
    }

    const ScheduleRequest& request_;
    const MinimizedSchedule& done_;
    ProgramRuns runs_;
    ScheduleBlame blame_;
    std::size_t asked_ = 0;
};

std::string component_text(const ScheduleBlame& blame) {
    switch (blame.component) {
        case Component::schedule:
            return "the schedule: the failure is an error that Halide reports";
        case Component::race:
            return "a race between the threads of the schedule's parallel loops";
        case Component::llvm:
            return blame.what + " of LLVM's optional passes";
        case Component::target:
            return "Halide's code generation for " + blame.what;
        case Component::lowering:
            return "Halide's lowering";
    }
    return {};
}

std::string_view name(Component component) {
    static constexpr std::string_view kNames[] = {"schedule", "race", "llvm", "target", "lowering"};
    return kNames[static_cast<std::size_t>(component)];
}

}  // namespace

ScheduleBlame blame_schedule(const ScheduleRequest& request, const MinimizedSchedule& done) {
    return Blaming(request, done).run();
}

std::string to_text(const ScheduleBlame& blame) {
    std::string text = "component:  " + component_text(blame) + "\n";
    std::size_t width = 0, variable = 0;
    for (const ScheduleBlame::Try& tried : blame.tries) {
        width = std::max(width, tried.what.size());
        variable = std::max(variable, tried.variable.size());
    }
    for (std::size_t i = 0; i < blame.tries.size(); ++i) {
        const ScheduleBlame::Try& tried = blame.tries[i];
        text += fmt::format("{:<12}{:<{}}  {:<{}}  {}\n", i == 0 ? "tried:" : "", tried.what, width, tried.variable,
                            variable, tried.fails ? "fails" : "passes");
    }
    return text;
}

std::string module_text(const ScheduleBlame& blame, const std::filesystem::path& file) {
    std::string text = fmt::format("{:<12}{}\n", "module:", file.string() + " (the input of the code generator)");
    if (blame.pass.llc.empty()) return text;
    const std::size_t lines = static_cast<std::size_t>(std::ranges::count(blame.pass.module, '\n'));
    text += fmt::format("{:<12}{}\n", "reduced:",
                        blame.pass.lines_before
                            ? fmt::format("by llvm-reduce, {} -> {}", blame.pass.lines_before, plural(lines, "line"))
                            : "no: " + blame.pass.not_reduced);
    for (const bool with : {false, true}) {
        std::vector<std::string> command = blame.pass.llc;
        std::ranges::replace(command, std::string("{}"), file.string());
        if (!with) {
            command.back() = "before.s";
            std::ranges::replace(command, "-opt-bisect-limit=" + std::to_string(blame.pass.number_in_llc),
                                 "-opt-bisect-limit=" + std::to_string(blame.pass.number_in_llc - 1));
        }
        text += fmt::format("{:<12}{}\n", "", shell_quote(command));
    }
    return text;
}

nlohmann::json to_json(const ScheduleBlame& blame) {
    nlohmann::json tries = nlohmann::json::array();
    for (const ScheduleBlame::Try& tried : blame.tries)
        tries.push_back({{"what", tried.what}, {"variable", tried.variable}, {"fails", tried.fails}});
    return {{"component", name(blame.component)}, {"what", blame.what}, {"tries", tries}};
}

}  // namespace whittle::reduce
