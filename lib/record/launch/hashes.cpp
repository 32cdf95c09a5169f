#include "record/launch/hashes.h"

#include "base/error.h"
#include "base/words.h"

namespace whittle {

HashedRun record_hashes(ProgramRequest program, const TraceRequest& request,
                        const std::map<std::string, std::string>& variables) {
    program.hashes = true;
    program.folder = request.folder;
    HashedRun run{.ran = run_program(program)};
    run.index = {.program = program.program.string(),
                 .arguments = program.arguments,
                 .variables = variables,
                 .processes = std::move(run.ran.hashes)};
    if (run.index.processes.empty())
        throw Error({run.ran.identity().string(), {}},
                    "found no operation of LibTorch, expected at least one to record", join(run.ran.notes, "; "));
    TraceFolder folder(request.folder, request.models, request.suspect.spec.text(), request.environment);
    save_hashes(request.folder, run.index);
    folder.add_file(kHashIndex);
    for (const HashedProcess& process : run.index.processes) folder.add_file(process.rows);
    folder.save();
    return run;
}

Traced record_operation(const HashIndex& recording, std::int64_t operation, TraceRequest request) {
    ProgramRequest program{.program = recording.program,
                           .arguments = recording.arguments,
                           .with_data = true,
                           .only = static_cast<std::uint64_t>(operation),
                           .stdout_to_stderr = true,
                           .save_every = 0,
                           .folder = request.folder};
    for (const auto& [name, value] : recording.variables) program.environment.emplace_back(name.substr(1), value);
    const RanProgram ran = run_program(program);
    request.models = {ran.identity()};
    if (ran.frames.empty())
        throw Error({ran.identity().string(), {}},
                    "the program was run again, and did not reach operation " + std::to_string(operation) +
                        ": the program " + ran.ending(),
                    join(ran.notes, "; "));
    return trace(ran, request);
}

}  // namespace whittle
