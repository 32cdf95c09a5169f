#include "repro/schedule/replayed.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <span>

#include "backends/halide/build_info.h"
#include "base/error.h"
#include "base/files.h"
#include "base/subprocess.h"
#include "frontends/halide/runs.h"
#include "repro/schedule/program_text.h"
#include "tensor/npy.h"

namespace whittle::repro {
namespace fs = std::filesystem;
using halide_program::CapturedPipeline;
using halide_program::CapturedRun;
using halide_program::RecordedRuns;

namespace {

std::string without_jit(std::string target) {
    constexpr std::string_view kJit = "-jit";
    if (const std::size_t at = target.find(kJit); at != std::string::npos) target.erase(at, kJit.size());
    return target;
}

/// For the machine that replays: a target that was that of the recording one, or that $HL_JIT_TARGET replaces, is not
/// the program's own choice.
CapturedPipeline for_this_machine(CapturedPipeline pipeline) {
    const char* const chosen = std::getenv("HL_JIT_TARGET");
    if ((chosen && *chosen) || without_jit(pipeline.target) == without_jit(pipeline.usual_target))
        pipeline.target.clear();
    return pipeline;
}

/// What a compiler says first.
std::string first_error(const std::string& said) {
    const std::size_t error = std::min(said.find("error:"), said.size());
    return said.substr(error, said.find('\n', error) - error);
}

/// The results that the program wrote, in the form of the recorded ones.
Tensor result_like(const fs::path& recorded, const fs::path& written) {
    constexpr std::size_t kPrefix = 10;  // of a version 1 file, whose last two bytes are the header's size
    const std::string whole = read_file(recorded);
    const auto byte = [&](std::size_t at) {
        return static_cast<std::size_t>(static_cast<unsigned char>(whole.at(at)));
    };
    const std::size_t header = kPrefix + byte(kPrefix - 2) + (byte(kPrefix - 1) << 8);
    const auto bytes = std::make_shared<const std::string>(whole.substr(0, header) + read_file(written));
    return read_npy(std::as_bytes(std::span(*bytes)), bytes, written.string());
}

class PipelineReplay {
  public:
    PipelineReplay(const RecordedRuns& recorded, const ReplayPipelineRequest& request)
        : recorded_(recorded), request_(request), folder_("whittle-replay") {}

    ReplayedPipeline run() {
        done_.name = recorded_.name;
        done_.identical = true;
        done_.outcome = build();
        for (std::size_t i = 0; i < recorded_.runs.size() && !done_.outcome.failed(); ++i) {
            done_.outcome = run(i);
            if (done_.outcome.failed() && recorded_.runs.size() > 1)
                done_.outcome.message = "run " + std::to_string(i + 1) + ": " + done_.outcome.message;
        }
        done_.identical = done_.identical && !done_.outcome.failed();
        return std::move(done_);
    }

  private:
    Outcome build() {
        std::vector<PipelineCode> codes;
        for (std::size_t i = 0; i < recorded_.runs.size(); ++i) {
            codes.push_back(code_of(for_this_machine(recorded_.runs[i].pipeline), InputValues::recorded,
                                    recorded_.folder, "run" + std::to_string(i)));
            for (const PipelineCode::File& file : codes.back().files)
                fs::copy_file(file.from, folder_.path() / file.name, fs::copy_options::skip_existing);
        }
        write_file(folder_.path() / "runs.cpp", runs_program(codes));
        std::vector<std::string> argv{"g++", "-std=c++17", "-w", "runs.cpp", "-o", "runs"};
        const std::vector<std::string> flags = halide::compile_flags();
        argv.insert(argv.end(), flags.begin(), flags.end());
        constexpr std::chrono::seconds kBuildLimit{300};
        const ProcessResult built =
            run_process(argv, {.folder = folder_.path(), .timeout = kBuildLimit, .remove_if_killed = folder_.path()});
        if (built.good() && !built.timed_out) return {};
        return {.kind = Outcome::Kind::exception,
                .stage = "compile",
                .message = "the program of the pipeline cannot be built with " + halide::version() + ": " +
                           (built.timed_out ? "the compiler did not end in time" : first_error(built.err))};
    }

    Outcome run(std::size_t number) {
        const Limits& limits = request_.limits;
        const ProcessResult process =
            run_process({"./runs", std::to_string(number)}, {.folder = folder_.path(),
                                                             .timeout = limits.timeout,
                                                             .memory_limit = limits.memory,
                                                             .cpu_limit = limits.cpu,
                                                             .remove_if_killed = folder_.path()});
        const bool ended = !process.signal && !process.timed_out && !process.cpu_exceeded && !process.out_of_memory;
        if (ended && process.exit_code == 1)  // an error of Halide
            return {.kind = Outcome::Kind::exception,
                    .stage = "run",
                    .message = process.out.substr(0, process.out.find('\n'))};
        if (!ended || process.exit_code != 0) return outcome_of(process, limits);
        return compared(recorded_.runs[number]);
    }

    Outcome compared(const CapturedRun& run) {
        for (std::size_t i = 0; i < run.results.size(); ++i) {
            const fs::path recorded = recorded_.folder / run.results[i];
            const Tensor expected = load_npy(recorded);
            const Tensor got = result_like(recorded, folder_.path() / (std::to_string(i) + ".bin"));
            done_.identical = done_.identical && same_bits(got, expected);
            if (const auto difference = compare(got, expected, request_.accuracy))
                return {.kind = Outcome::Kind::mismatch,
                        .stage = "run",
                        .message = (run.results.size() > 1 ? "result " + std::to_string(i + 1) + ": " : "") +
                                   difference->description};
        }
        return {};
    }

    const RecordedRuns& recorded_;
    const ReplayPipelineRequest& request_;
    const TempDir folder_;
    ReplayedPipeline done_;
};

}  // namespace

ReplayedPipeline replay_pipeline(const fs::path& record, const ReplayPipelineRequest& request) {
    const RecordedRuns recorded = halide_program::load_runs(record);
    if (recorded.runs.empty()) throw Error({record.string(), "/runs"}, "found no run, expected at least one");
    return PipelineReplay(recorded, request).run();
}

}  // namespace whittle::repro
