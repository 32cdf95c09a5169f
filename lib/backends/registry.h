// Backends by name: what `--backend` accepts and `--list-backends` shows.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/backend.h"

namespace whittle {

/// Finds a backend:
///   NAME                 built in (eager, halide), or exported by a library in one of backend_folders()
///   PATH/LIB.so[:NAME]   a shared library (whittle_backend.h), NAME where it has several
///   cmd:PROGRAM ARGS     a command (backends/command/command.h)
/// Throws Error for an unknown name, with the list of what exists and a close spelling, and for a library that cannot
/// be loaded.
std::unique_ptr<Backend> find_backend(const std::string& spec);

/// The library of a spec PATH/LIB.so[:NAME], and NAME or nothing.
struct LibrarySpec {
    std::filesystem::path library;
    std::string name;
};
/// Nothing for a spec that names no file.
std::optional<LibrarySpec> library_of(const std::string& spec);

/// A recorded spec for who reads it in another folder: a library or a file among a command's words that is named by a
/// relative path and is not there is looked for beside `file`, the record or graph that names it, and up to two folders
/// above. Throws Error for one that is in none of these places: another folder's failure to find it is no bug.
std::string found_near(const std::string& spec, const std::filesystem::path& file);

struct BackendInfo {
    std::string name, description;
    std::string from;  ///< "built in", or the library's path
};

/// The built-in backends, then those of the libraries in backend_folders(), in order of file name. A library that
/// cannot be loaded is left out with a warning in the log.
std::vector<BackendInfo> list_backends();

/// Where libraries are looked for: the folders of WHITTLE_BACKEND_PATH, then the one that belongs to the running
/// program (build tree or installation).
std::vector<std::filesystem::path> backend_folders();

}  // namespace whittle
