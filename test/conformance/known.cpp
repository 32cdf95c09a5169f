#include "known.h"

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "base/files.h"

namespace whittle::conformance {
namespace {

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream in(text);
    return {std::istream_iterator<std::string>(in), {}};
}

}  // namespace

bool Known::explains(const Model& model, std::string_view backend) const {
    return backends.contains(std::string(backend)) &&
           std::ranges::all_of(features, [&](const std::string& feature) { return model.features.contains(feature); });
}

KnownFailures::KnownFailures(const std::filesystem::path& file) : file_(file.filename().string()) {
    std::istringstream in(read_file(file));
    int number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        if (line.empty() || line.front() == '#') continue;
        std::istringstream cells(line);
        std::string backends, features, verdict;
        Known known{.line = number};
        std::getline(cells, backends, '|');
        std::getline(cells, features, '|');
        std::getline(cells, verdict, '|');
        std::getline(cells >> std::ws, known.reason);
        const auto words = words_of(verdict);
        const auto* found = words.size() == 1
                                ? std::ranges::find(kVerdicts, words[0], [](Verdict v) { return name(v); })
                                : std::end(kVerdicts);
        for (std::string& backend : words_of(backends)) known.backends.insert(std::move(backend));
        known.features = words_of(features);
        if (known.backends.empty() || known.features.empty() || found == std::end(kVerdicts) ||
            *found == Verdict::pass || known.reason.empty())
            throw Error({file, "line " + std::to_string(number)},
                        "found '" + line + "', expected BACKENDS | FEATURES | VERDICT | REASON");
        known.verdict = *found;
        lines_.push_back(std::move(known));
    }
}

std::string KnownFailures::judge(const Model& model, std::string_view backend, const Judged& judged) const {
    const auto line = std::ranges::find_if(lines_, [&](const Known& known) { return known.explains(model, backend); });
    const Verdict expected = line == lines_.end() ? Verdict::pass : line->verdict;
    if (judged.verdict == expected) return {};
    std::string text(name(judged.verdict));
    if (!judged.message.empty()) text += " (" + judged.message + ")";
    text += ", expected " + std::string(name(expected));
    if (line != lines_.end()) text += " by line " + std::to_string(line->line) + " of " + file_ + ": " + line->reason;
    return text;
}

bool KnownFailures::passes(const Model& model, std::string_view backend) const {
    return std::ranges::none_of(lines_, [&](const Known& known) { return known.explains(model, backend); });
}

std::vector<std::string> KnownFailures::unneeded(const std::vector<Model>& models, std::string_view backend) const {
    std::vector<std::string> result;
    for (auto line = lines_.begin(); line != lines_.end(); ++line) {
        if (!line->backends.contains(std::string(backend))) continue;
        const bool needed = std::ranges::any_of(models, [&](const Model& model) {
            const auto explains = [&](const Known& known) { return known.explains(model, backend); };
            return explains(*line) && std::none_of(lines_.begin(), line, explains);
        });
        if (!needed)
            result.push_back("line " + std::to_string(line->line) + " of " + file_ + " explains no model on " +
                             std::string(backend) + ": " + line->reason);
    }
    return result;
}

}  // namespace whittle::conformance
