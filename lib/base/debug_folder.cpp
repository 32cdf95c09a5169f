#include "base/debug_folder.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <system_error>

#include "base/error.h"
#include "base/hash.h"
#include "base/number_text.h"
#include "base/variables.h"
#include "base/words.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

using Parts = std::array<bool, std::size(kAllLogArtifacts)>;

std::size_t part_called(const std::string& word, std::string_view place) {
    std::vector<std::string> names;
    for (const LogArtifact artifact : kAllLogArtifacts) names.emplace_back(name(artifact));
    const auto found = std::ranges::find(names, word);
    if (found == names.end())
        throw Error({std::string(place), {}}, "found '" + word + "', expected one or more of " + join(names),
                    did_you_mean(word, names));
    return static_cast<std::size_t>(found - names.begin());
}

/// A title as part of a file's name.
std::string file_name(std::string_view title) {
    constexpr std::size_t kLongest = 80;
    std::string text(title.substr(0, kLongest));
    if (const auto id = text.find(" ["); id != text.npos && text.ends_with(']')) {  // f_0 [1/2]: f_0.1-2
        text.pop_back();
        text.replace(id, 2, ".");
        std::ranges::replace(text.begin() + static_cast<std::ptrdiff_t>(id), text.end(), '/', '-');
    }
    for (char& c : text)
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '.') c = '_';
    return text;
}

constexpr const char* kIndexHead =
    "# Debug files\n\n"
    "In the order in which they were written. `explain list logs` describes the kinds of files.\n\n"
    "| seconds | file | content |\n|---|---|---|\n";

}  // namespace

Parts debug_parts(std::string_view list, std::string_view place) {
    Parts parts;
    std::ranges::transform(kAllLogArtifacts, parts.begin(),
                           [](LogArtifact part) { return is_written_by_default(part); });
    bool first = true;
    for (std::string word : split_list(list)) {
        const bool changes = word.starts_with('+') || word.starts_with('-'), on = !word.starts_with('-');
        if (changes) word.erase(0, 1);
        if (first && !changes) parts.fill(false);
        first = false;
        parts[part_called(word, place)] = on;
    }
    return parts;
}

DebugFolder::DebugFolder(fs::path dir) : dir_(fs::absolute(std::move(dir))) {
    std::error_code failed;
    fs::create_directories(dir_, failed);
    if (failed) throw Error({dir_.string(), {}}, "cannot create the debug folder: " + failed.message());
    if (::access(dir_.c_str(), W_OK | X_OK) != 0) throw Error({dir_.string(), {}}, "cannot write to the debug folder");
}

bool DebugFolder::begin() {
    if (!run_.empty()) return true;
    std::error_code failed;
    for (int n = 1; run_.empty() && !failed; ++n) {  // of two processes only one makes the folder
        fs::path next = dir_ / ("run_" + std::to_string(n));
        if (fs::create_directory(next, failed)) run_ = std::move(next);
    }
    if (!run_.empty()) std::ofstream(run_ / "index.md") << kIndexHead;
    return !run_.empty();
}

fs::path DebugFolder::untold_folder_of(std::string_view section) {
    const std::string title(section);
    return sections_.contains(title) && told_.insert(title).second ? run_ / file_name(title) : fs::path();
}

fs::path DebugFolder::make_folder(const std::string& name) {
    if (!begin()) return {};
    std::error_code failed;
    fs::create_directory(run_ / name, failed);
    return failed ? fs::path() : run_ / name;
}

fs::path DebugFolder::write(LogArtifact artifact, std::string_view title, std::string_view text,
                            std::string_view section) {
    const std::string what = std::string(section) + '\n' + std::string(name(artifact)) + '\n' + std::string(title) +
                             '\n' + std::string(text);
    fs::path& known = written_[content_hash(what)];
    if (!known.empty() || !begin()) return known;
    char number[16];
    std::snprintf(number, sizeof number, "%04d_", ++count_);
    const std::string folder = section.empty() ? "" : file_name(section) + '/';
    std::error_code ignored;  // then the file cannot be written either
    if (!folder.empty() && sections_.insert(std::string(section)).second) fs::create_directory(run_ / folder, ignored);
    const std::string file =
        folder + number + file_name(title) + '.' + std::string(name(artifact)) + std::string(extension(artifact));
    std::ofstream out(run_ / file);
    out << text << (text.ends_with('\n') ? "" : "\n");
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start_;
    std::ofstream index(run_ / "index.md", std::ios::app);
    index << "| " << fixed(seconds.count(), 3) << " | [" << file << "](" << file << ") | " << title << " |\n";
    if (out.flush() && index.flush()) known = run_ / file;
    return known;
}

}  // namespace whittle
