// Checks that several programs make on their options, and their machine output.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace whittle::cli {

struct InputOptions;
class Tool;

// The mistakes on a command line, in the words that clap (cargo) and git have for them.

/// "invalid value 'many' for --jobs: WHY".
Error invalid_value(const std::string& value, const std::string& option, const std::string& why,
                    const std::string& hint = {});

/// Throws Error for a value of the option that is none of `words`.
void check_choice(const std::string& option, const std::string& given, const std::vector<std::string>& words);

/// "missing argument MODEL".
Error missing_argument(const std::string& program, const std::string& name);

/// "unknown command 'clean'", where the tool has commands, of which one may be close.
Error unknown_command(const Tool& tool, const std::string& word);

/// Throws Error where an option is given without the one that it belongs to: "--rtol requires --accuracy".
void require_with(bool given, const std::string& option, bool other_given, const std::string& other);

/// Throws Error naming the option unless low <= value <= high.
void require_range(const std::string& option, double value, double low, double high);

/// What one run reads and writes. Each program makes the list of its own (Tool::files()), which check_files() judges
/// before anything is opened.
struct UsedFiles {
    struct Written {
        std::string option;
        std::filesystem::path file;
    };
    std::vector<std::filesystem::path> read = {};
    std::vector<Written> written = {};

    void reads(const std::optional<std::filesystem::path>& file);
    /// The model, and the values of its inputs: those that are given, else those that are beside it.
    void reads(const std::filesystem::path& model, const InputOptions& inputs);
    /// Words of a command that are files, also behind the "=" of an option: the command may read them.
    void reads_words(const std::vector<std::string>& command);
    void writes(const std::string& option, const std::optional<std::filesystem::path>& file);
};

/// Throws Error when what is to be written is called as options are, when a file could not be written (its folder must
/// be there: a mistyped path makes none), when it is one of those that are read, belongs to one (the tensors beside a
/// graph), or is a part of a trace folder among them, and when two options write one file.
void check_files(const UsedFiles& files);

/// The model and the values of its inputs, as UsedFiles::reads() has them.
std::vector<std::filesystem::path> files_read(const std::filesystem::path& model, const InputOptions& inputs);

/// One JSON document on stdout. Bytes that are not UTF-8 (a file's name, a compiler's words) are replaced.
void print_json(const nlohmann::json& json);

}  // namespace whittle::cli
