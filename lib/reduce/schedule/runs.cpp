#include "reduce/schedule/runs.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/error.h"
#include "base/pattern.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "tensor/npy.h"

namespace whittle::reduce {

namespace fs = std::filesystem;
using halide_program::Event;
using halide_program::Recording;
using halide_program::RecordingOptions;

namespace {

std::string ending(const ProcessResult& process) {
    if (process.timed_out) return "did not end in time";
    if (process.signal) return "killed by " + signal_name(process.signal);
    return process.exit_code ? "exit status " + std::to_string(process.exit_code) : "";
}

std::string failure_of(const ProcessResult& process, const halide_program::Program& program) {
    std::string failure = ending(process);
    if (const Event* const error = program.first_error()) failure += (failure.empty() ? "" : ", ") + kind_of(*error);
    return failure;
}

bool contains(const std::vector<std::int64_t>& codes, int code) {
    return std::ranges::find(codes, code) != codes.end();
}

/// What the script or command says.
std::string judged(const ProcessResult& process, const ScheduleRequest& request) {
    const bool ended = !process.signal && !process.timed_out;
    if (!request.test.empty()) return ended && process.exit_code == 0 ? "the test script exits with status 0" : "";
    if (!ended) return "check: " + ending(process);
    const int code = process.exit_code;
    const bool fails = code && (request.fail_codes.empty() || contains(request.fail_codes, code)) &&
                       !contains(request.ignore_codes, code);
    return fails ? "check: exit status " + std::to_string(code) : "";
}

/// A file that runs the program in this environment.
fs::path write_candidate(const ScheduleRequest& request, const Variables& environment, const fs::path& folder) {
    std::vector<std::string> words{"exec", "env"};
    for (const auto& [name, value] : environment) words.push_back(name + "=" + value);
    append(words, command_of(request));
    const fs::path file = folder / "program";
    write_file(file, "#!/bin/sh\n" + shell_quote(words) + " \"$@\"\n");
    fs::permissions(file, fs::perms::owner_all);
    return file;
}

}  // namespace

std::vector<std::string> command_of(const ScheduleRequest& request) {
    std::vector<std::string> words{fs::absolute(request.program).lexically_normal().string()};
    append(words, request.arguments);
    return words;
}

std::string kind_of(const Event& error) {
    static const Pattern loop(R"(\b(\w+)(\$\d+)?\.s\d+(\.[\w$]+)+)"), unique(R"(\$\d+)"),
        dimension(R"(\bdimension (\d+))"), number(R"(-?\b\d+(\.\d+)?\b)");
    std::string text = loop.replaced(error.message(), "\\1.…");
    text = dimension.replaced(unique.replaced(std::move(text), ""), "dimension _\\1");
    return error.what + ": " + replaced(number.replaced(std::move(text), "…"), "dimension _", "dimension ");
}

ProgramRuns::ProgramRuns(const ScheduleRequest& request)
    : request_(request), asks_(!request.test.empty() || !request.check.empty()), scratch_("whittle-schedule") {}

RunEnd ProgramRuns::run(const fs::path& folder, const RecordingOptions& options, bool asks,
                        const Variables& variables) const {
    const Recording recording(folder, options);
    Variables environment = recording.whole_environment();
    append(environment, variables);
    std::vector<std::string> argv = command_of(request_);
    constexpr std::size_t kMostPrinted = std::size_t(64) << 20;  // LLVM prints modules
    ProcessOptions process{.timeout = request_.timeout, .memory_limit = request_.memory};
    if (!variables.empty()) process.output_limit = kMostPrinted;
    if (asks) {
        const std::string file = write_candidate(request_, environment, folder).string();
        argv = request_.check;
        if (argv.empty()) argv = {request_.test.string(), file};
        for (std::string& word : argv) word = replaced(std::move(word), "{}", file);
    } else {
        process.environment = environment;
    }
    const ProcessResult result = run_process(argv, process);
    RunEnd end{.unresolved = result.out_of_memory || result.ended_from_outside,
               .program = halide_program::read_recording(folder, request_.program)};
    if (!variables.empty()) end.printed = result.err;
    if (const Event* const error = end.program.first_error()) end.error = error->message();
    end.failure = asks ? judged(result, request_) : failure_of(result, end.program);
    if (!reference_.empty() && end.failure.empty()) end.difference = differences(recording.results_folder());
    return end;
}

RunEnd ProgramRuns::run(const std::set<std::string>& left_out, const Variables& variables) const {
    static std::atomic<std::size_t> count{0};
    const fs::path folder = scratch_.path() / ("run" + std::to_string(count++));
    RunEnd end = run(folder, {.left_out = left_out, .results = !reference_.empty()}, asks_, variables);
    std::error_code ignored;
    fs::remove_all(folder, ignored);  // results may be large
    return end;
}

RunEnd ProgramRuns::run_itself() const { return run(scratch_.path() / "itself", {}, false); }

halide_program::Program ProgramRuns::capture(const std::set<std::string>& left_out, const fs::path& inputs) const {
    const fs::path folder = scratch_.path() / "captured";
    const RunEnd end = run(folder, {.left_out = left_out, .captured = true}, false);
    const fs::path from = Recording(folder, {}).inputs_folder();
    if (!inputs.empty()) fs::remove_all(inputs);
    if (!inputs.empty() && !fs::is_empty(from)) fs::copy(from, inputs);
    return end.program;
}

std::string ProgramRuns::take_reference() {
    const RecordingOptions options{.reference = true, .results = true};
    const fs::path folder = scratch_.path() / "reference";
    const RunEnd first = run(folder, options, false);
    if (!first.failure.empty()) return "the reference (the program without a schedule) fails: " + first.failure;
    reference_ = folder / "results";
    if (fs::is_empty(reference_))
        return "the program realizes no pipeline in its own process, so there are no results to compare";
    const RunEnd second = run(scratch_.path() / "again", options, false);
    if (second.difference.empty()) return {};
    return "two runs of the reference (the program without a schedule) compute different results: " + second.difference;
}

std::string ProgramRuns::differences(const fs::path& results) const {
    std::set<fs::path> names;
    for (const fs::path& folder : {reference_, results})
        for (const fs::directory_entry& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
    for (const fs::path& name : names) {
        if (!fs::exists(reference_ / name) || !fs::exists(results / name))
            return "the program and the reference have different numbers of results";
        if (const auto difference = compare(load_npy(results / name), load_npy(reference_ / name), request_.accuracy))
            return difference->description;
    }
    return {};
}

}  // namespace whittle::reduce
