// What --times, --timeline and --html say of times, kernels and memory.
#pragma once

#include <filesystem>
#include <optional>

#include "cli/picture_options.h"
#include "cli/report_options.h"
#include "cli/subject.h"

namespace whittle::cli {

struct ProfileWish {
    bool times = false;  ///< runs the backend, or the default one, where MODEL is no program
    bool page = false;   ///< with the texts of kernels, of a backend that is run anyway
};

/// As the options have it. A program that is run is asked for its times, too: `subject` says so from now on.
ProfileWish wish_of(const ReportOptions& report, const PictureOptions& pictures, SubjectOptions& subject);

/// The graphs of a model file, or the records of a folder, compiled and run on the backend; nothing where nobody asks
/// for that, or the backend is not known yet. To be called before the backend is run otherwise: what that compiles
/// would be found in its cache. Throws Error as load_model() does.
std::optional<Profile> measured(const std::filesystem::path& model, const SubjectOptions& options,
                                const ProfileWish& wish);

/// Fills subject.profile: with what was measured before, else with what a program recorded, run on the backend that was
/// named. Throws Error as load_model() does.
void add_profile(const SubjectOptions& options, const ProfileWish& wish, std::optional<Profile> measured,
                 report::Subject& subject);

}  // namespace whittle::cli
