// What the programs print of a repro.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/program_text.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "judge/frames.h"
#include "repro/steps.h"
#include "repro/verify.h"

namespace whittle::repro {
namespace {

/// Lines behind a label of ten columns.
std::string labelled(const std::string& label, const std::string& lines) {
    std::string text = label;
    for (const char c : chomped(lines)) text += c == '\n' ? "\n" + std::string(label.size(), ' ') : std::string(1, c);
    return text + "\n";
}

/// An exception's message is above; what the program printed of it is not shown again.
bool repeats_message(const Repro& repro, const Failure& failure) {
    const auto is_in = [](const std::string& part, const std::string& whole) {
        return !part.empty() && whole.find(part) != std::string::npos;
    };
    return failure.signature.kind == "exception" &&
           (is_in(failure.message, repro.message) || is_in(repro.message, failure.message));
}

std::string verified_text(const Repro& repro, const Failure& failure) {
    if (!repro.verified) return "NOT verified: " + repro.message + "\n";
    const std::string control = control_of(repro.program);
    std::string lines = std::to_string(repro.runs) + " of " + std::to_string(repro.of) + " runs fail" +
                        (control.empty() ? "" : ", and the control passes (" + control + ")") + "\n" +
                        (repro.message.empty() || repeats_message(repro, failure) ? "" : repro.message + "\n");
    for (const OtherProgram& other : repro.program.others) lines += other.message + "\n";
    return labelled("verified: ", lines);
}

std::size_t lines_of(const Repro& repro) {
    return static_cast<std::size_t>(std::ranges::count(repro.program.text, '\n'));
}

}  // namespace

std::string gone_text(const Failure& failure, bool compared) {
    const Tier tier = compared ? Tier::computes : suspect_of(failure).tier;
    std::string text = "the failure does not reproduce: " + passing_text(failure.backend, tier) + "\n";
    text += labelled("recorded: ", failure.signature.heading() + "\n" + failure.message +
                                       (failure.version.empty() ? "" : "\nwith version " + failure.version));
    return text +
           "hint: if the compiler or the machine has changed, run minify on the original model again; if the failure "
           "occurs only in some runs, add --repeat N; to write the program without running it, add --repeat 0\n";
}

std::string next_line(const std::string& command, bool verified, const Options& options) {
    constexpr std::size_t kLabel = 10;
    return whittle::next_line(options.accepts(verified) ? command : "", kLabel);
}

std::string to_text(const Repro& repro, const Failure& failure, const Options& options) {
    std::string text = "failure:  " + failure.signature.heading() + "\n          " + failure.message + "\n";
    text += repro.tried
                ? "reduced:  to one Halide kernel\n"
                : "data:     " + std::string(name(repro.data)) +
                      (repro.passing.empty() ? "" : " (with " + join(repro.passing) + ", the program does not fail)") +
                      "\n";
    std::string files =
        repro.output.string() + (repro.is_short() ? " (" + plural(lines_of(repro), "line") + ")\n" : "\n");
    for (const std::filesystem::path& sidecar : repro.sidecars) files += sidecar.string() + "\n";
    text += labelled("written:  ", files);
    if (repro.replaced)
        text += "names:    replaced by made-up names; the values of " + plural(*repro.replaced, "tensor") +
                " are replaced, too" +
                (repro.kept.empty()
                     ? ""
                     : "; the values of " + join(repro.kept) + " are kept, because the failure needs these values") +
                "\n";
    if (!repro.not_short.empty()) text += "          no short program: " + repro.not_short + "\n";
    if (options.runs > 0) text += verified_text(repro, failure);
    if (!repro.also.empty()) text += "releases: " + repro.also + "\n";
    const std::filesystem::path folder = repro.output.parent_path();
    if (options.issue || options.bundle) {
        text += labelled("to check: ", before_sending(repro, options));
        if (options.accepts(repro.verified))
            text += "send:     " + options.issue.value_or(folder / "ISSUE.md").string() + " to " + repro.send_to + "\n";
    }
    const std::string in_folder = folder.empty() ? "" : "cd " + shell_quote({folder.string()}) + " && ";
    const std::string command = options.bundle ? "sh " + shell_quote({(folder / "run.sh").string()})
                                               : in_folder + all_commands(repro.program, options);
    return text + next_line(command, repro.verified, options);
}

nlohmann::json to_json(const Repro& repro, const Options& options) {
    return {{"output", repro.output.string()},
            {"verified", repro.verified},
            {"runs", repro.runs},
            {"control", control_of(repro.program)},
            {"compile_command", shell_quote(build_command(repro.program, options))},
            {"run_command", shell_quote(run_command(repro.program, options))},
            {"form", repro.is_short() ? "short" : "harness"},
            {"lines", lines_of(repro)},
            {"data", name(repro.data)},
            {"also", repro.also},
            {"send_to", repro.send_to},
            {"message", repro.message}};
}

}  // namespace whittle::repro
