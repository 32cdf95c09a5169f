#include "cli/usage.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/command_words.h"
#include "base/number_text.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "cli/model.h"
#include "cli/tool.h"
#include "formats/failure_file.h"
#include "trace/folder.h"

namespace whittle::cli {

namespace fs = std::filesystem;

namespace {

std::string number_text(double value) { return significant(value, 12); }

/// The file itself and what belongs to it.
std::vector<fs::path> with_sidecars(const fs::path& file) {
    const fs::path failure = failure_path(file);
    fs::path tensors = file, failure_tensors = failure;
    return {file, tensors.replace_extension(".safetensors"), failure,
            failure_tensors.replace_extension(".safetensors")};
}

/// Also what an index says of further files; one that cannot be read is told by who needs it.
bool is_part_of_trace(const fs::path& output, const fs::path& folder) {
    const fs::path inside = fs::weakly_canonical(output).lexically_relative(fs::weakly_canonical(folder));
    if (inside.empty()) return false;
    const fs::path first = *inside.begin();
    for (const char* part : {"index.json", "log.jsonl", "graphs", "records"})
        if (first == part) return true;
    try {
        const std::vector<fs::path> listed = trace_files(folder);
        return std::ranges::find(listed, inside) != listed.end();
    } catch (const Error&) {
        return false;
    }
}

/// One that both write; devices (/dev/stdout) take what several have to say.
bool is_same_file(const fs::path& one, const fs::path& other) {
    std::error_code ignored;
    if (fs::exists(one, ignored) && fs::exists(other, ignored))
        return fs::is_regular_file(one, ignored) && fs::equivalent(one, other, ignored);
    return fs::weakly_canonical(fs::absolute(one)) == fs::weakly_canonical(fs::absolute(other));
}

/// Why it cannot be written into the folder that it names, which is there; empty when it can.
std::string why_unwritable(const fs::path& output) {
    std::error_code ignored;
    if (fs::is_directory(output, ignored)) return std::generic_category().message(EISDIR);
    const bool special = fs::exists(output, ignored) && !fs::is_regular_file(output, ignored);  // /dev/stdout
    fs::path place = special ? output : fs::absolute(output).parent_path();
    if (!special && !fs::is_directory(place, ignored)) return std::generic_category().message(ENOTDIR);
    return ::access(place.c_str(), W_OK) == 0 ? "" : std::generic_category().message(errno);
}

void check_output(const std::string& option, const fs::path& output, const std::vector<fs::path>& read) {
    std::error_code ignored;
    if (const fs::path folder = output.parent_path(); !folder.empty() && !fs::exists(folder, ignored))
        throw Error({option, {}},
                    "cannot write '" + output.string() + "': there is no folder '" + folder.string() + "'",
                    "mkdir -p " + shell_quote({folder.string()}));
    if (const std::string why = why_unwritable(output); !why.empty())
        throw Error({option, {}}, "cannot write '" + output.string() + "': " + why);
    if (!fs::is_regular_file(output, ignored)) return;
    for (const fs::path& input : read) {
        const std::vector<fs::path> kept = with_sidecars(input);
        const bool same =
            std::ranges::any_of(kept, [&](const fs::path& file) { return fs::equivalent(output, file, ignored); });
        if (same || (fs::is_directory(input, ignored) && is_part_of_trace(output, input)))
            throw Error({option, {}},
                        "'" + output.string() + "' is an input of this command, and inputs are never overwritten");
    }
}

}  // namespace

Error invalid_value(const std::string& value, const std::string& option, const std::string& why,
                    const std::string& hint) {
    return Error("invalid value '" + value + "' for " + option + ": " + why, hint);
}

void check_choice(const std::string& option, const std::string& given, const std::vector<std::string>& words) {
    if (std::ranges::find(words, given) == words.end())
        throw invalid_value(given, option, "expected one of " + join(words), did_you_mean(given, words));
}

Error missing_argument(const std::string& program, const std::string& name) {
    return Error("missing argument " + name, "see " + program_called(program) + " --help");
}

Error unknown_command(const Tool& tool, const std::string& word) {
    const std::string close = did_you_mean(word, tool.command_words());
    return Error("unknown command '" + word + "'",
                 close.empty() ? "to list the commands: " + tool.called() + " --help" : close);
}

void require_with(bool given, const std::string& option, bool other_given, const std::string& other) {
    if (given && !other_given) throw Error(option + " requires " + other);
}

void require_range(const std::string& option, double value, double low, double high) {
    if (value >= low && value <= high) return;
    throw invalid_value(number_text(value), option, "expected " + number_text(low) + " to " + number_text(high));
}

std::vector<fs::path> files_read(const fs::path& model, const InputOptions& inputs) {
    std::vector<fs::path> files{model, model_file(model)};
    const InputOptions all = inputs.completed(model);
    const std::optional<fs::path> values = all.data_set();
    for (const std::string& word : all.inputs)
        if (word != values) files.emplace_back(word.substr(word.find('=') + 1));
    if (!values) return files;
    if (!fs::is_directory(*values)) return files.push_back(*values), files;
    for (const fs::directory_entry& entry : fs::directory_iterator(*values))
        if (entry.path().extension() == ".pb" || entry.path().extension() == ".npy") files.push_back(entry.path());
    return files;
}

void UsedFiles::reads(const std::optional<fs::path>& file) {
    if (file) read.push_back(*file);
}

void UsedFiles::reads(const fs::path& model, const InputOptions& inputs) {
    for (fs::path& file : files_read(model, inputs)) read.push_back(std::move(file));
}

void UsedFiles::reads_words(const std::vector<std::string>& command) {
    std::error_code ignored;
    for (const std::string& word : command)
        for (const std::string& name : {word, word.substr(word.find('=') + 1)})
            if (fs::is_regular_file(name, ignored)) read.emplace_back(name);
}

void UsedFiles::writes(const std::string& option, const std::optional<fs::path>& file) {
    if (file && !file->empty()) written.push_back({option, *file});
}

void check_files(const UsedFiles& files) {
    for (const UsedFiles::Written& output : files.written) {
        const std::string name = output.file.string();
        if (name.starts_with("--"))  // the option's own value was forgotten
            throw Error({output.option, {}}, "found the option " + name + ", expected a file",
                        "for a file of this name, write ./" + name);
        check_output(output.option, output.file, files.read);
    }
    for (std::size_t i = 0; i < files.written.size(); ++i)
        for (std::size_t k = 0; k < i; ++k)
            if (is_same_file(files.written[k].file, files.written[i].file))
                throw Error(files.written[k].option + " and " + files.written[i].option + " name the same file: '" +
                            files.written[i].file.string() + "'");
}

void print_json(const nlohmann::json& json) {
    const std::string text = json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace whittle::cli
