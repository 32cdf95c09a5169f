#include "cli/program.h"

#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "base/error.h"
#include "base/files.h"
#include "cli/tool.h"
#include "frontends/libtorch/builder.h"
#include "frontends/libtorch/launch.h"
#include "graph/json.h"

namespace whittle::cli {

void ProgramOptions::declare(Tool& tool) {
    tool.section("Programs");
    tool.option("--function", functions, "NAME",
                "Capture the executions of this function instead of those that main calls. May be repeated.");
    tool.choice("--level", level, {"core", "api"},
                "Ops of LibTorch programs: core, as composite ones are made of; api, as the program calls them.");
    tool.option("--capture-limit", limit_mb, "MB", "Cut the capture when its events take more (default 2048).");
    tool.option("--capture-seconds", limit_seconds, "S", "Cut the capture after this time (default 600).");
    tool.after_dashes(arguments, "Arguments of the program.");
}

void ProgramOptions::refuse_for_model(const std::filesystem::path& model) const {
    const ProgramOptions defaults;
    const std::string file = model.string();
    if (!arguments.empty()) throw Error({file, {}}, "found arguments after --, expected none: MODEL is no program");
    if (!functions.empty() || level != defaults.level)
        throw Error({file, {}}, "found --function or --level, which only programs have, expected a program as MODEL");
}

RanProgram run_program(const std::filesystem::path& program, const ProgramOptions& options, bool with_data,
                       bool stdout_to_stderr, const OwnTrace& own_trace) {
    const TempDir folder("whittle-capture");
    const std::filesystem::path own = std::filesystem::absolute(own_trace.folder.value_or(folder.path() / "own"));
    std::error_code no_folder;
    std::filesystem::create_directories(own, no_folder);
    if (no_folder) throw Error({own.string(), {}}, "cannot create the folder: " + no_folder.message());
    libtorch::LaunchOptions launch{
        .program = program,
        .arguments = options.arguments,
        .limits = {.bytes = static_cast<std::uint64_t>(options.limit_mb) << 20,
                   .seconds = static_cast<double>(options.limit_seconds)},
        .with_data = with_data,
        .stdout_to_stderr = stdout_to_stderr,
        .environment = {{"WHITTLE_TRACE_DIR", own.string()}, {"WHITTLE_TRACE_RECORDS", own_trace.records}}};
    std::string functions;
    for (const std::string& name : options.functions) functions += (functions.empty() ? "" : ",") + name;
    if (!functions.empty()) launch.environment.emplace_back("WHITTLE_DEBUG_FUNCTION", functions);
    if (!own_trace.backend.empty()) launch.environment.emplace_back("WHITTLE_BACKEND", own_trace.backend);
    libtorch::LaunchResult launched = libtorch::launch(launch, folder.path());
    RanProgram ran{.exit_code = launched.exit_code,
                   .signal = launched.signal,
                   .status = launched.status_text(),
                   .seconds = launched.seconds};
    if (std::filesystem::exists(own / "index.json")) {
        ran.own = load_index(own);
        for (const IndexGraph& graph : ran.own->graphs) ran.own_graphs.push_back(load_graph(own / graph.file));
        for (const std::string& name : options.functions)
            if (std::find(ran.own->frames.begin(), ran.own->frames.end(), name) == ran.own->frames.end())
                ran.notes.push_back("--function " + name + ": no function of this name was captured");
    } else {
        ran.notes = std::move(launched.notes);
    }
    if (!launched.events) return ran;
    ran.captured = true;
    const libtorch::EventFile events = libtorch::read_events(*launched.events);
    libtorch::CapturedProgram captured =
        libtorch::build_frames(events, {.level = options.level == "api" ? libtorch::Level::api : libtorch::Level::core,
                                        .functions = options.functions,
                                        .ended = ran.status});
    ran.frames = std::move(captured.frames);
    if (captured.op_count == 0) ran.notes.push_back("the program ran no operation of LibTorch");
    ran.notes.insert(ran.notes.end(), captured.notes.begin(), captured.notes.end());
    return ran;
}

int end_as(const RanProgram& program) {
    if (!program.signal) return program.exit_code;
    std::fflush(nullptr);
    const rlimit none{0, 0};  // the program's own core file, if any, is there already
    ::setrlimit(RLIMIT_CORE, &none);
    std::signal(program.signal, SIG_DFL);
    std::raise(program.signal);
    return 128 + program.signal;
}

}  // namespace whittle::cli
