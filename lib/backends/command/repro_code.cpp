#include "backends/command/repro_code.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "backends/command/command.h"
#include "base/files.h"
#include "base/program_text.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "formats/json_text.h"
#include "text/language.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

std::vector<fs::directory_entry> sorted_entries(const fs::path& folder) {
    std::vector<fs::directory_entry> entries(fs::directory_iterator(folder), {});
    std::sort(entries.begin(), entries.end());
    return entries;
}

/// A file as what it is: a graph's JSON is there to be read.
std::string file_data(const EmitRequest& request, const std::string& name, const std::string& bytes) {
    constexpr std::size_t kLongestText = 1 << 16;
    if (bytes.size() <= kLongestText && is_utf8(bytes) && bytes.find('\0') == std::string::npos)
        return "static const char " + name + "[] =\n    " + language::cpp.quoted_lines(bytes) + ";\n";
    Tensor tensor(DType::u8, {static_cast<std::int64_t>(bytes.size())});
    std::memcpy(tensor.mutable_raw(), bytes.data(), bytes.size());
    return request.define(name, tensor);
}

/// What the command must write, and where it goes.
std::string slots_text(const EmitRequest& request) {
    std::string text;
    for (std::size_t i = 0; i < request.expected.size(); i++) {
        const Tensor& expected = request.expected[i];
        std::string sizes = to_string(expected.sizes());
        sizes = sizes.substr(1, sizes.size() - 2);
        text += "        {" + (expected.numel() ? "out." + request.outputs[i] : std::string("nullptr")) + ", \"" +
                std::string(info_of(expected.dtype()).safetensors) + "\", {" + sizes + "}, " +
                std::to_string(expected.numel() * static_cast<std::int64_t>(size_of(expected.dtype()))) + "},\n";
    }
    return text;
}

using Slots = std::map<std::string, std::string>;

/// The files of a folder, which the program writes again.
void define_files(const EmitRequest& request, const fs::path& folder, Slots& slots) {
    std::size_t number = 0;
    for (const fs::directory_entry& entry : sorted_entries(folder)) {
        const std::string bytes = read_file(entry.path()), name = "file_" + std::to_string(number++);
        slots["FILE_DATA"] += file_data(request, name, bytes);
        slots["FILES"] += "    {" + language::cpp.quoted_lines(entry.path().filename().string()) + ", " + name + ", " +
                          std::to_string(bytes.size()) + "},\n";
    }
}

/// What may be names of files in a text: the longest runs of characters that most such names have; with ".py", for
/// what Python imports: "import a, b", "from c import d".
std::set<std::string> names_in(const std::string& text, bool python) {
    std::set<std::string> names;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const std::string start = trimmed(line);
        const bool imports = python && (start.starts_with("import ") || start.starts_with("from "));
        for (auto at = line.begin(); at != line.end();) {
            const auto is_of_name = [](char c) { return is_word(c) || c == '.' || c == '-'; };
            const auto begin = std::find_if(at, line.end(), is_of_name);
            at = std::find_if_not(begin, line.end(), is_of_name);
            if (begin == at) continue;
            names.emplace(begin, at);
            if (imports) names.insert(std::string(begin, at) + ".py");
        }
    }
    return names;
}

/// The command line; what of it lies beside the repro, in the words that are returned.
std::vector<std::string> define_words(const std::vector<std::string>& words, Slots& slots, SuspectCode& code) {
    std::vector<std::string> beside = words;
    for (std::string& word : beside) {
        if (!is_companion(word)) {
            slots["WORDS"] += "    {" + language::cpp.quoted_lines(word) + ", nullptr},\n";
            continue;
        }
        const fs::path path = fs::absolute(word).lexically_normal();
        code.companions.push_back(path);
        std::ranges::move(files_named_by(path), std::back_inserter(code.companions));
        slots["WORDS"] += "    {" + language::cpp.quoted_lines(path.string()) + ", " +
                          language::cpp.quoted_lines(path.filename().string()) + "},\n";
        word = "./" + path.filename().string();
    }
    return beside;
}

std::string filled(const EmitRequest& request, Slots& slots) {
    slots["SLOTS"] = slots_text(request);
    for (const char* slot : {"FILE_DATA", "FILES", "WORDS", "SLOTS"}) slots[slot] = chomped(slots[slot]);
    return fill_template("repro_command.cpp", slots);
}

}  // namespace

bool is_companion(const std::string& word) {
    std::error_code ignored;
    const bool system = word.starts_with("/usr/") || word.starts_with("/bin/");
    const bool file = !system && (word.find('/') != std::string::npos || fs::path(word).has_extension());
    return file && fs::is_regular_file(word, ignored);
}

std::vector<fs::path> files_named_by(const fs::path& script) {
    constexpr std::uintmax_t kLargestScript = 1 << 20;
    std::vector<fs::path> found = {script};
    for (std::size_t i = 0; i < found.size(); ++i) {  // it grows
        std::error_code ignored;
        if (fs::file_size(found[i], ignored) > kLargestScript) continue;
        const std::string text = read_file(found[i]);
        if (text.find('\0') != text.npos) continue;
        for (const std::string& name : names_in(text, found[i].extension() == ".py")) {
            const fs::path file = script.parent_path() / name;
            const bool hidden = name.front() == '.';  // it may hold secrets
            if (!hidden && fs::is_regular_file(file, ignored) && std::ranges::find(found, file) == found.end())
                found.push_back(file);
        }
    }
    found.erase(found.begin());
    std::ranges::sort(found);
    return found;
}

SuspectCode command_code(const EmitRequest& request, const std::vector<std::string>& words) {
    const Failure& failure = *request.graph.failure;
    SuspectCode code;
    const TempDir folder("whittle-repro");
    write_command_folder(request.graph, failure.options, failure.inputs, folder.path());
    Slots slots = {{"QUESTIONS", ""}, {"ASK", ""}, {"LISTEN", ""}, {"ENDED", ""}, {"ANSWER", ""}};
    define_files(request, folder.path(), slots);
    const std::vector<std::string> beside = define_words(words, slots, code);
    if (std::none_of(words.begin(), words.end(), [](const std::string& word) { return word.find("{}") != word.npos; }))
        slots["WORDS"] += "    {\"{}\", nullptr},\n";
    code.code = filled(request, slots);
    code.header = "command " + shell_quote(words);
    code.spec_beside = "cmd:" + shell_quote(beside);
    return code;
}

SuspectCode worker_code(const EmitRequest& request, const std::vector<std::string>& words, const fs::path& folder,
                        const WorkerQuestion& question) {
    SuspectCode code;
    Slots slots;
    define_files(request, folder, slots);
    code.spec_beside = "worker:" + shell_quote(define_words(words, slots, code));
    code.reads_culprit = !question.text_without.empty();
    const auto line = [](const std::string& name, const std::string& text) {
        return "static const char " + name + "[] =\n    " + language::cpp.quoted_lines(text) + ";\n";
    };
    slots["ASKED"] = code.reads_culprit ? "culprit_on ? question : question_without" : "question";
    slots["QUESTION"] = chomped(line("question", question.text) +
                                (code.reads_culprit ? line("question_without", question.text_without) : ""));
    for (const char* part : {"questions", "ask", "listen", "ended", "answer"}) {
        std::string slot = part;
        std::transform(slot.begin(), slot.end(), slot.begin(), [](unsigned char c) { return std::toupper(c); });
        slots[slot] = "\n" + chomped(fill_template(std::string("repro_worker_") + part + ".cpp", slots));
    }
    code.code = filled(request, slots);
    return code;
}

}  // namespace whittle
