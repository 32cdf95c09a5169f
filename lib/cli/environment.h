// What a bug report needs to say of the machine and the build: in records, in the head of repro.cpp, by `repro env`.
#pragma once

#include <map>
#include <string>

#include "backends/spec.h"
#include "graph/backend.h"

namespace whittle::cli {

class Tool;

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

/// The first line of what the program prints with --version; empty where it is not there.
std::string version_line(const std::string& program);

/// `repro env`: a line for each, or JSON.
void print_environment(const Tool& tool);

}  // namespace whittle::cli
