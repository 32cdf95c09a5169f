// What a bug report needs to say of the machine and the build: in records, in the head of repro.cpp, by `repro env`;
// and the version, which --version prints.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "backends/spec.h"
#include "graph/backend.h"

namespace whittle::cli {

class Tool;

/// "0.1.0".
std::string version_number();
/// What --version prints for one program: the version, the compiler, the libraries built in, and what was left out.
std::string version_text(const std::string& program);

/// "whittle", "compiler", "libraries", "os", "kernel", "cpu", "cores", "memory": only what could be found out. Nothing
/// that names the user, the host or a path.
std::map<std::string, std::string> environment();
/// And "backend", its name and version under these options, where it says one. Throws Error as find_backend() does.
std::map<std::string, std::string> environment(const BackendSpec& spec, const BackendOptions& options);

/// What the program of a backend that is a command says of itself, asked with --version: "bash: GNU bash, version 5.2".
/// Empty for other backends, and for programs that packages did not install: whoever wrote one for this takes no
/// --version.
std::string command_version(const std::string& backend);

/// "$NAME" of the variables that change what is captured or compiled, or where a compiler and its parts are found;
/// "(set)" in place of a value whose name says that it is a secret.
std::map<std::string, std::string> reported_variables();

/// The text with USER, HOST and ~ in place of the names of the user, the machine and the home folder, and without the
/// passwords in addresses.
std::string without_private(const std::string& text);

/// Of `repro env`.
struct EnvironmentOptions {
    std::filesystem::path bundle = {};      ///< empty: none is asked for
    std::vector<std::string> command = {};  ///< run, and its output kept

    void declare(Tool& tool);
};

/// Prints a line for each fact, or JSON. With --bundle: writes what a report to another project needs besides the
/// repro, as a folder that can be read before it is sent: environment.txt (versions, processor and its vector features,
/// Halide's target, compilers, variables that change what is compiled), and, where there is a command, command.txt and
/// log.txt: what it printed under the log; and left_out.txt: what none of them has. The user's and the machine's names
/// and the home folder are replaced in all of them. Throws Error for a folder that holds something, and where a file
/// cannot be written.
void print_environment(const Tool& tool, const EnvironmentOptions& options);

}  // namespace whittle::cli
