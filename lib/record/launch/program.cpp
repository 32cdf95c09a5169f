#include "record/launch/program.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/log_step.h"
#include "base/seconds.h"
#include "base/variables.h"
#include "base/words.h"
#include "formats/json.h"
#include "frontends/halide/recording.h"
#include "frontends/libtorch/builder.h"
#include "frontends/libtorch/hashes.h"
#include "frontends/libtorch/launch.h"
#include "record/launch/so_far.h"
#include "record/launch/torch_log.h"
#include "tensor/safetensors.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

/// The program, or what runs the module, with its arguments.
libtorch::LaunchOptions command_of(const ProgramRequest& request, const fs::path& inputs, const fs::path& error) {
    if (!request.inputs) return {.program = request.program, .arguments = request.arguments};
    save_safetensors(inputs, *request.inputs);
    return {.program = libtorch::torchscript_runner(request.program),
            .arguments = {request.program.string(), inputs.string(), error.string()}};
}

libtorch::LaunchOptions launch_options(const ProgramRequest& request, libtorch::LaunchOptions command,
                                       const fs::path& own, const TorchLogs& logs) {
    libtorch::LaunchOptions launch{.program = std::move(command.program),
                                   .arguments = std::move(command.arguments),
                                   .limits = {.bytes = static_cast<std::uint64_t>(request.limit_mb) << 20,
                                              .seconds = static_cast<double>(request.limit_seconds)},
                                   .with_data = request.with_data,
                                   .with_times = request.with_times || !variable("WHITTLE_TIMES").empty(),
                                   .with_hashes = request.hashes,
                                   .with_ring = request.last > 0,
                                   .until_nan = request.until_nan,
                                   .only = request.only,
                                   .stdout_to_stderr = request.stdout_to_stderr,
                                   .environment = {{"WHITTLE_TRACE_DIR", own.string()},
                                                   {"WHITTLE_TRACE_RECORDS", std::string(name(request.records))}}};
    std::vector<std::pair<std::string, std::string>>& environment = launch.environment;
    const auto set = [&](const char* variable, const std::string& value) {
        if (!value.empty()) environment.emplace_back(variable, value);
    };
    set(TorchLogs::kVariable, logs.folder().string());
    set("WHITTLE_LOGS", log_spec());
    set("WHITTLE_LOG_FILE", log_file());
    const DebugVariables files = debug_variables();
    set("WHITTLE_DEBUG_DIR", files.dir);
    if (!files.dir.empty()) environment.emplace_back("WHITTLE_DEBUG_PARTS", files.parts);
    set("WHITTLE_DEBUG_FUNCTION", join(request.functions, ","));
    set("WHITTLE_CACHE_SIZE_LIMIT", request.cache_size_limit ? std::to_string(*request.cache_size_limit) : "");
    set("WHITTLE_TIMES", request.with_times ? "1" : "");
    set("WHITTLE_BACKEND", request.backend);
    if (!request.halide.empty()) {
        const halide_program::RecordingOptions options =
            request.halide_runs
                ? halide_program::RecordingOptions{.runs_mb = request.limit_mb}
                : halide_program::RecordingOptions{.left_out = request.halide_left_out, .pipelines = true};
        const halide_program::Recording recording(request.halide, options);
        launch.preload = recording.preload();
        for (const auto& [name, value] : recording.environment()) set(name.c_str(), value);
    }
    append(environment, request.environment);
    append(environment, request.compile_options);
    return launch;
}

/// Names the options of compile(), given by --compile or in the environment, that a program cannot follow: it calls no
/// compile(). What capture itself follows, and what the launch overrides, is left out.
void warn_of_options_without_effect(const ProgramRequest& request, const libtorch::LaunchOptions& launch) {
    using Setting = std::pair<std::string, std::string>;
    constexpr std::string_view kFollowed[] = {"WHITTLE_CAPTURE_DYNAMIC_SHAPES", "WHITTLE_VERBOSE"};
    for (const Variable& entry : variables()) {
        const bool of_compile = entry.option.starts_with('.') || entry.name == "WHITTLE_PROFILE_RECOMPILES";
        if (!of_compile || std::ranges::find(kFollowed, entry.name) != std::end(kFollowed)) continue;
        const auto option = std::ranges::find(request.compile_options, entry.name, &Setting::first);
        const bool is_option = option != request.compile_options.end() && !entry.option.empty();
        const bool is_overridden = std::ranges::count(launch.environment, entry.name, &Setting::first) > 0;
        if (!is_option && (is_overridden || variable(entry.name).empty())) continue;
        std::string instead(entry.tool);
        std::erase(instead, '`');
        const bool is_offered = instead.find("--compile") == std::string::npos;
        log_warning(LogChannel::capture,
                    (is_option ? "--compile " + std::string(entry.option.substr(1)) + "=" + option->second
                               : std::string(entry.name)) +
                        " has no effect: the program does not call compile() of Whittle's API" +
                        (is_offered ? "; for this program, use " + instead : ""));
    }
}

/// What a program of our own API wrote into `folder`.
void read_own(const fs::path& folder, const std::vector<std::string>& functions, RanProgram& ran) {
    ran.own = load_index(folder);
    for (const IndexGraph& graph : ran.own->graphs) ran.own_graphs.push_back(load_graph(folder / graph.file));
    for (const std::string& name : functions)
        if (std::ranges::find(ran.own->frames, name) == ran.own->frames.end())
            ran.notes.push_back("--function " + name + ": no function of this name was captured");
}

std::size_t variants_of(const ProgramRequest& request) {
    return request.cache_size_limit ? static_cast<std::size_t>(*request.cache_size_limit) : libtorch::kMostVariants;
}

bool captures_dynamic_shapes(const ProgramRequest& request) {
    constexpr const char* kName = "WHITTLE_CAPTURE_DYNAMIC_SHAPES";
    for (const auto& [variable, value] : request.compile_options)
        if (variable == kName) return value == "1";
    return flag_variable(kName).value_or(false);
}

/// `files`: of all processes.
void read_events(const std::vector<fs::path>& files, const ProgramRequest& request, RanProgram& ran) {
    const LogStep step(LogStep::Kind::capture, "split the operations of " + request.program.string() + " into graphs");
    std::vector<libtorch::ProcessIdentity> processes;
    for (const fs::path& file : files) {
        processes.push_back(libtorch::read_identity(file));
        if (ran.interpreter.empty()) ran.interpreter = processes.back().interpreter;
    }
    libtorch::ProgramBuilder builder({.level = request.composite ? libtorch::Level::api : libtorch::Level::core,
                                      .functions = request.functions,
                                      .most_variants = variants_of(request),
                                      .dynamic_shapes = captures_dynamic_shapes(request),
                                      .ended = ran.status},
                                     std::move(processes));
    for (const fs::path& file : files) {
        libtorch::ReadLimits limits{.last = request.last};
        if (interrupt_signal()) {  // some seconds of work, whatever there is
            limits.most_records = 150000 / files.size();
            limits.seconds = 4.0 / static_cast<double>(files.size());
        }
        builder.add(libtorch::read_events(file, limits));
    }
    libtorch::CapturedProgram captured = builder.finish();
    ran.frames = std::move(captured.frames);
    for (const libtorch::OpTime& time : captured.op_times)
        ran.op_times.push_back({time.frame, time.op, time.calls, time.seconds});
    for (libtorch::Caller& caller : captured.callers)
        ran.callers.push_back({std::move(caller.frame), std::move(caller.stack), caller.calls});
    if (captured.op_count == 0) ran.notes.push_back("the program ran no LibTorch operation");
    append(ran.notes, captured.notes);
    ran.last = std::move(captured.last);
}

/// Moves what the recorder wrote into the folder. `files`: of all processes.
void take_hashes(const std::vector<fs::path>& files, const fs::path& folder, RanProgram& ran) {
    for (const fs::path& file : files) {
        const fs::path rows = libtorch::rows_beside(file);
        if (rows.empty()) continue;
        HashedProcess& process = ran.hashes.emplace_back(libtorch::hashed_process(libtorch::read_events(file)));
        process.rows = "rows-" + std::to_string(ran.hashes.size()) + ".bin";
        RowFileHeader header{};
        std::ifstream(rows, std::ios::binary).read(reinterpret_cast<char*>(&header), sizeof header);
        fs::resize_file(rows, sizeof header + header.rows * sizeof(HashRow));
        const fs::path to = folder / process.rows;
        std::error_code elsewhere;  // on another disk
        fs::rename(rows, to, elsewhere);
        if (elsewhere) fs::copy_file(rows, to, fs::copy_options::overwrite_existing);
    }
}

/// What is written while the program runs. Of one that has written a trace of its own nothing is.
SoFarWork work_so_far(const ProgramRequest& request, const fs::path& events, const fs::path& own, bool& saved) {
    const fs::path made = events.string() + ".so-far";
    const auto begin = std::chrono::steady_clock::now();
    return {.every = request.save_every,
            .wanted = [events, own,
                       &saved] { return libtorch::is_recording(events) && (saved || !fs::exists(own / "index.json")); },
            .write =
                [&request, events, made, begin] {
                    RanProgram ran{.program = request.program,
                                   .arguments = request.arguments,
                                   .status = std::string(libtorch::kStillRuns),
                                   .seconds = seconds_since(begin)};
                    read_events(libtorch::event_files(events.parent_path()), request, ran);
                    if (ran.frames.empty()) throw Error("no graph has been captured so far");
                    request.so_far(ran, made);
                },
            .take =
                [made, own, &saved] {
                    take_trace(made, own);
                    saved = true;
                }};
}

}  // namespace

RanProgram run_program(const ProgramRequest& request) {
    const TempDir scratch("whittle-capture");
    const fs::path own = fs::absolute(request.folder.value_or(scratch.path() / "own"));
    std::error_code no_folder;
    fs::create_directories(own, no_folder);
    if (no_folder) throw Error({own.string(), {}}, "cannot create the folder: " + no_folder.message());
    LogStep step(LogStep::Kind::capture, "run " + request.program.string());
    const fs::path refused = scratch.path() / "refused";
    bool saved = false;  // the trace in the folder is ours
    std::jthread so_far;
    if (request.so_far && request.save_every > 0)
        so_far = write_so_far(work_so_far(request, scratch.path() / libtorch::kEventFile, own, saved));
    const TorchLogs torch_logs(scratch.path() / "torch");
    const libtorch::LaunchOptions options =
        launch_options(request, command_of(request, scratch.path() / "inputs.safetensors", refused), own, torch_logs);
    libtorch::LaunchResult launched = libtorch::launch(options, scratch.path());
    so_far = {};  // joins
    if (request.inputs && fs::exists(refused)) {
        const std::string told = read_file(refused);
        const auto end = told.find('\n');
        throw Error({request.program.string(), {}}, told.substr(0, end),
                    told.substr(std::min(end, told.size() - 1) + 1));
    }
    RanProgram ran{.program = request.program,
                   .arguments = request.arguments,
                   .exit_code = launched.exit_code,
                   .signal = launched.signal,
                   .status = launched.status_text(),
                   .seconds = launched.seconds};
    ran.torch_compilations = torch_logs.compilations();
    ran.signal ? step.failed() : step.done();
    if (!saved && fs::exists(own / "index.json"))
        read_own(own, request.functions, ran);
    else
        ran.notes = std::move(launched.notes);
    if (request.hashes)
        take_hashes(launched.events, own, ran);
    else if (!launched.events.empty())
        read_events(launched.events, request, ran);
    if (!ran.frames.empty() && !ran.own) warn_of_options_without_effect(request, options);
    return ran;
}

}  // namespace whittle
