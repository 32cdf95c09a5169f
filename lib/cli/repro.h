// repro, and repro report, which writes the text of a bug report, too: how a repro is written and verified.
#pragma once

#include "cli/model.h"
#include "cli/run_options.h"
#include "repro/repro.h"

namespace whittle::cli {

struct ReproOptions : RunOptions {
    repro::Options repro = {};
    bool reports = false;                             ///< of repro report
    bool old_python = false, old_unverified = false;  ///< of old spellings

    void declare(Tool& tool);
};

/// Writes the program, or a script of PyTorch calls where --output names one, and prints what became of it. Returns the
/// exit status: 1 where the graph does not fail, or the program does not show it. Throws Error for bad usage, and as
/// repro::write_repro() and write_python().
int write_repro(const Tool& tool, ReproOptions options);

}  // namespace whittle::cli
