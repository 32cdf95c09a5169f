// The fourth reader: the C++ text of the same pipeline that pipeline.h builds, for repro.cpp: it needs Halide and
// nothing of Whittle.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "expr/group.h"

namespace whittle::halide {

/// A group with the schedule that it is written under.
struct ScheduledGroup {
    const expr::Group* group = nullptr;
    const expr::Schedule* schedule = nullptr;
};

/// Helper functions that the text of these groups uses, and only those. Needs <Halide.h>, <cmath>, <cstdint>, <vector>.
std::string halide_support_cpp(const std::vector<ScheduledGroup>& groups, const std::set<std::string>& culprit = {});

/// The class of sound_accesses.h as it stands there.
std::string_view sound_accesses_text();
/// The text between the lines of kernel_helpers.h: each helper after a line "// ---- NAME ----".
std::string_view kernel_helpers_text();

/// A function
///   static void NAME(const T0* in0_data, ..., U0* out0_data, ...)
/// with the parameters of to_loops_cpp() (types from expr::support_cpp() where the group has half types), which builds
/// the pipeline, schedules it with one directive a line as `f.vectorize(x, 8);`, compiles it for `target`
/// (empty is default_target()) and runs it. Halide's errors are thrown. A directive that others require has a variable,
/// so that switching it off by hand switches them off as well; directives that are off read `if (false) …`.
/// Throws Error when a directive names a stage or loop that does not exist.
/// The directives of these texts (expr::print) read `if (culprit_on) …`, a bool that the caller defines.
std::string to_halide_cpp(const expr::Group& group, const expr::Schedule& schedule, const std::string& function_name,
                          const std::string& target = {}, const std::set<std::string>& culprit = {});

/// That function as a file which compiles as it is, with what it needs; its first lines say how.
std::string halide_file_cpp(const expr::Group& group, const expr::Schedule& schedule, const std::string& target);

}  // namespace whittle::halide
