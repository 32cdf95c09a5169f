// record_hashes(): a run of a program as a folder of hashes (capture/hash_index.h). record_operation(): another run of
// it, up to one operation, whose operands and results become a record.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "capture/hash_index.h"
#include "record/launch/trace.h"

namespace whittle {

struct HashedRun {
    RanProgram ran = {};
    HashIndex index = {};
};

/// `variables`: what is noted of the environment. Throws Error where the program ran no operation of LibTorch, and as
/// run_program() does.
HashedRun record_hashes(ProgramRequest program, const TraceRequest& request,
                        const std::map<std::string, std::string>& variables);

/// The operation with that number, from 1, of the program that a recording is of, under the variables that it notes.
/// Throws Error where it was not reached.
Traced record_operation(const HashIndex& recording, std::int64_t operation, TraceRequest request);

}  // namespace whittle
