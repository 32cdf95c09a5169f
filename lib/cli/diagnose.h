// What explain does to find out who is guilty. --divergence: the first wrong value. --diagnose: the procedure, the
// minimized graph, its repro and the letter.
#pragma once

#include <filesystem>

#include "cli/report_options.h"
#include "cli/subject.h"

namespace whittle::cli {

/// Of each frame the first value that the backend computes otherwise than the reference. Returns the exit status: 1
/// when one differs.
int diverge(const Tool& tool, const std::filesystem::path& model, const SubjectOptions& options,
            const ReportSink& sink);

/// Of a model, a trace or a program: of each frame that fails on the suspect: what was tried, then the letter
/// (diagnose/letter.h), and where it fails without the pass that the letter names, too, the next letter; with --json a
/// list of them. What minimizing and the repro say is shown with --verbose. Returns the exit status: 1 when something
/// fails.
int diagnose(const Tool& tool, const std::filesystem::path& model, SubjectOptions options, const ReportSink& sink);

}  // namespace whittle::cli
