// What --times, --timeline and --html say of times, kernels and memory.
#pragma once

#include <filesystem>

#include "cli/subject.h"

namespace whittle::cli {

struct ProfileWish {
    bool times = false;  ///< runs the backend, or the default one, where MODEL is no program
    bool page = false;   ///< with the texts of kernels, of a backend that is run anyway
};

/// Fills subject.profile: the graphs of a model or the records of a folder are compiled and run on the backend, and
/// what a program recorded where one was named. Throws Error as load_model() does.
void add_profile(const std::filesystem::path& model, const SubjectOptions& options, const ProfileWish& wish,
                 debug::Subject& subject);

}  // namespace whittle::cli
