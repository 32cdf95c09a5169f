// Backends that are a folder: a worker (share/doc/how-to/compiler.md) with a description of what it takes to run it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace whittle {

/// FOLDER/backend.json, with FOLDER's name as the backend's:
///   {"description": TEXT, "worker": [WORD, …], "needs": [PROGRAM or FILE, …], "install": TEXT,
///    "arguments": {OPTION: TEXT, …}, "variant": OPTION, "earlier": [BACKEND, …]}
/// In words, files and texts `{here}` stands for FOLDER and `{data}` for the folder where what is installed for it
/// lies: whittle/backends/NAME of $XDG_DATA_HOME or ~/.local/share. The last three members are optional.
struct DescribedBackend {
    std::string name, description;
    std::vector<std::string> worker;   ///< its command line
    std::vector<std::string> needs;    ///< programs and files
    std::vector<std::string> missing;  ///< of these
    std::string install;               ///< the command that installs that
    /// Options of the backend that decide how the worker is started: the command line gets "--OPTION=VALUE".
    std::vector<std::string> arguments = {};
    std::string variant = {};               ///< the one of them that the backend NAME:VALUE sets; empty: none
    std::vector<std::string> earlier = {};  ///< backends that are the first parts of this one, fewest first
    std::filesystem::path file;             ///< the description
};

/// Reads the description in a folder. Throws Error.
DescribedBackend read_described_backend(const std::filesystem::path& folder);

/// The same, of NAME:VALUE with the value of `variant` among the worker's words.
DescribedBackend variant_of(DescribedBackend backend, const std::string& value);

/// Throws Error, which says how it is installed, where something is missing.
void expect_installed(const DescribedBackend& backend);

}  // namespace whittle
