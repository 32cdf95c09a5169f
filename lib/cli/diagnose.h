// What explain does to find the culprit. explain divergence: the first wrong value. explain diagnose: the procedure,
// the minimized graph, its repro and the report.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>

#include "cli/report_options.h"
#include "cli/subject.h"

namespace whittle::cli {

/// Of both commands.
struct CulpritOptions {
    std::filesystem::path model = {};
    ReportOptions report = {};
    SubjectOptions subject = {};
    std::string compare = {};  ///< of explain divergence: kernels, ring or values; empty: what the backend can
    /// Of explain diagnose: of the search, and again of making a Halide pipeline smaller.
    std::optional<std::chrono::seconds> time_limit = {};
    std::string precision = {};  ///< f16 or bf16: which operations must stay in f32 (diagnose/precision.h)

    /// Of explain diagnose, which also takes programs and writes files; else of explain divergence.
    void declare(Tool& tool, bool diagnoses);
};

/// Of each frame the first kernel, or value, that the backend computes otherwise than the reference. Returns the exit
/// status: 1 when one differs.
int diverge(const Tool& tool, const CulpritOptions& options);

/// With --precision instead of each frame which operations must stay in f32, and the mixed model in MODEL.mixed.json;
/// the exit status is 1 when none holds.
///
/// Of a model, a trace or a program: of each frame that fails on the suspect: what was tried, then the report
/// (diagnose/diagnosis_report.h), and where it fails without the pass that the report names, too, the next report; with
/// --json a list of them. What minimizing and the repro say is shown with --verbose. Returns the exit status: 1 when
/// something fails.
int diagnose(const Tool& tool, const CulpritOptions& options);

}  // namespace whittle::cli
