// Checks that several programs make on their options, and their machine output.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace whittle::cli {

struct InputOptions;

// The mistakes on a command line, in the words that clap (cargo) and git have for them.

/// "invalid value 'many' for --jobs: WHY".
Error invalid_value(const std::string& value, const std::string& option, const std::string& why,
                    const std::string& hint = {});

/// "missing argument MODEL".
Error missing_argument(const std::string& program, const std::string& name);

/// Throws Error where an option is given without the one that it belongs to: "--rtol requires --accuracy".
void require_with(bool given, const std::string& option, bool other_given, const std::string& other);

/// Throws Error naming the option unless low <= value <= high.
void require_range(const std::string& option, double value, double low, double high);

/// What a program reads: the model and the values given for its inputs.
std::vector<std::filesystem::path> files_read(const std::filesystem::path& model, const InputOptions& inputs);

/// For a file that is written when the work is done: throws Error when `output`, the value of `option`, could not be
/// written (its folder must be there: a mistyped path makes none), or when it is one of the files `read`, belongs to
/// one (the tensors beside a graph), or is a part of a trace folder among them.
void check_output(const std::string& option, const std::filesystem::path& output,
                  std::span<const std::filesystem::path> read);

/// One JSON document on stdout. Bytes that are not UTF-8 (a file's name, a compiler's words) are replaced.
void print_json(const nlohmann::json& json);

}  // namespace whittle::cli
