// Backends by name: what `--backend` accepts and `explain list backends` shows.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/spec.h"
#include "graph/backend.h"

namespace whittle {

/// Finds a backend:
///   NAME                 built in (eager, halide), or exported by a library in one of backend_folders(), or a folder
///                        in one (backends/described.h), which may have variants: NAME:VALUE
///   PATH/LIB.so[:NAME]   a shared library (whittle_backend.h), NAME where it has several
///   cmd:PROGRAM ARGS     a command (backends/command/command.h)
///   worker:PROGRAM ARGS  a command that is asked again and again (backends/command/worker.h)
///   explain(BACKEND)     one of these, which says what it is given (backends/debug/explain.cpp)
/// Throws Error for an unknown name, with the list of what exists and a close spelling, and for a library that cannot
/// be loaded.
std::unique_ptr<Backend> find_backend(const BackendSpec& spec);

/// Finds it for being asked under these options: throws Error (graph/backend_options.h) for a value that an option of
/// the backend cannot have, before anything runs. An option that it does not know is a warning, once in this process.
/// Only whoever offers Optioned (graph/abilities.h) knows its options.
std::unique_ptr<Backend> find_backend(const BackendSpec& spec, const BackendOptions& options);
/// The same of one that was found.
void check_options(Backend& backend, const BackendOptions& options);

/// Adds a backend of this process, or replaces the one of that name that was added before. Throws Error for a name
/// that cannot be told from another spelling of --backend or belongs to one that is built in.
void add_backend(const std::string& name, std::function<std::unique_ptr<Backend>()> make);
/// Whether the name is one that was added: other processes do not know it.
bool made_here(const std::string& name);

/// A recorded spec for who reads it in another folder: a library or a file among a command's words that is named by a
/// relative path and is not there is looked for beside `file`, the record or graph that names it, and up to two folders
/// above. Throws Error for one that is in none of these places: another folder's failure to find it is no bug.
BackendSpec found_near(const BackendSpec& spec, const std::filesystem::path& file);

/// The files that decide what the backend of this spec does: its library, what its command's words name, or, of one
/// that is built in or that the program made itself, this program, our libraries and those that ops come from.
std::vector<std::filesystem::path> backend_files(const BackendSpec& spec);

/// Backends that run the first parts of this one's compiler alone, fewest first, as its description lists them.
std::vector<std::string> earlier_backends(const BackendSpec& spec);

/// What a backend is for: a compiler or runtime of somebody's; Whittle's own kernels, with or without checks; or a bug
/// that tests of Whittle need.
enum class BackendPurpose { compiler, debug, test };

struct BackendInfo {
    std::string name, description;
    std::string from;  ///< "built in", or the path of the library or description
    BackendPurpose purpose = BackendPurpose::compiler;
    std::string missing = {};  ///< why it cannot be used so far, and how it is installed; empty: it can be used
};

/// The built-in backends, then those of the libraries and of the folders in backend_folders(), in order of file name.
/// What cannot be loaded is left out with a warning in the log.
std::vector<BackendInfo> list_backends();

/// The releases of a backend's compiler that option release= selects.
struct BackendReleases {
    std::string backend;
    std::vector<std::string> names = {};  ///< oldest first
    std::string installer = {};           ///< the command that installs another one; empty: none is known
    std::string problem = {};             ///< why its compiler cannot be asked; empty: it was
};

/// Of the built-in backends and of the folders, as far as they have releases. Starts their compilers.
std::vector<BackendReleases> list_releases();

/// Ops that a shared library registers with LibTorch (TORCH_LIBRARY) become ops of the registry, for all backends: see
/// load_op_library() in backends/libtorch. Throws Error as that does, and where Whittle was built without LibTorch.
void load_op_library(const std::filesystem::path& file);

/// Where backends are looked for: the folders of WHITTLE_BACKEND_PATH, then the one beside the library of Whittle that
/// the program uses (build tree or installation).
std::vector<std::filesystem::path> backend_folders();

}  // namespace whittle
