#include "cli/old_spellings.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/words.h"

namespace whittle::cli {

namespace {

constexpr OldSpelling kOldSpellings[] = {
    {"", "--debug-parts LIST", "WHITTLE_DEBUG_PARTS=LIST"},
    {"", "--hyperlink always", "FORCE_HYPERLINK=1"},
    {"", "--hyperlink never", "FORCE_HYPERLINK=0"},
    {"", "--hyperlink auto", "FORCE_HYPERLINK="},
    {"", "--log-file FILE", "WHITTLE_LOG_FILE=FILE"},
    {"", "--pass-limit PASS=K", "--backend-option pass-limit=PASS=K"},
    {"", "--disable NAME", "--backend-option disable=NAME"},
    {"", "--ulp [DTYPE=]N", "--rtol [DTYPE=]Nulp"},
    {"", "--inputs DIR", "--input DIR"},
    {"", "--level LEVEL", "--capture level=LEVEL"},
    {"", "--capture-limit MB", "--capture limit=MB"},
    {"", "--capture-seconds S", "--capture seconds=S"},
    {"", "--cache-size-limit N", "--compile cache_limit=N"},
    {"trace", "--check-capture WHEN", "--capture check=WHEN"},
    {"trace", "--save-every S", "--capture save-every=S"},
    {"trace", "--export", "--fullgraph=export"},
    {"explain", "--timeline FILE", "--times=FILE"},
    {"explain", "--profile-recompiles", "--recompiles=all"},
    {"explain", "--diff BEFORE", "diff BEFORE"},
    {"explain", "--divergence", "divergence"},
    {"explain", "--diagnose", "diagnose"},
    {"explain", "--static FILE.cpp", "static FILE.cpp"},
    {"explain", "--break ID", "break ID"},
    {"explain", "--list-backends", "list backends"},
    {"explain", "--list-variables", "list variables"},
    {"explain", "--list-logs", "list logs"},
    {"minify", "--skip-delta-passes LIST", "--delta-passes -LIST"},
    {"minify", "--print-delta-passes", "passes"},
    {"minify", "--no-fold", "--after file"},
    {"minify", "--test-must-fail", "--check SCRIPT"},
    {"repro", "--python", "--output FILE.py"},
    {"repro", "--no-verify", "--repeat 0"},
    {"repro", "--bundle DIR", "report --bundle DIR"},
    {"repro", "--issue FILE", "report --issue FILE"},
    {"repro", "--title TEXT", "report --title TEXT"},
    {"repro", "--note TEXT", "report --note TEXT"},
    {"repro", "--also BACKEND", "report --also BACKEND"},
    {"repro", "--checked TEXT", "report --checked TEXT"},
    {"repro", "--runs N", "--repeat N"},
    {"repro", "--alarm S", "--timeout S"},
    {"replay", "--junit FILE", "--report junit=FILE"},
    {"replay", "--tap", "--report tap"},
    {"replay", "--shard-index I", "GTEST_SHARD_INDEX=I"},
    {"replay", "--num-shards N", "GTEST_TOTAL_SHARDS=N"},
    {"whittle", "--least N", "--calls N-"},
    {"whittle", "--most N", "--calls -N"},
    {"whittle", "--special", "--data special"},
    {"whittle", "--seconds S", "--time-limit Ss"},
};

/// "--runs" and "N" of "--runs N"; the second is empty for a single word.
std::pair<std::string_view, std::string_view> parts(std::string_view text) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    return {text.substr(0, blank), text.substr(std::min(blank + 1, text.size()))};
}

/// "never" of "--hyperlink never" is a word that is typed as it is; names of values have capitals.
bool is_word(std::string_view value) {
    return !value.empty() && std::ranges::all_of(value, [](unsigned char c) { return std::islower(c); });
}

bool is_variable(std::string_view now) { return std::isupper(static_cast<unsigned char>(now[0])) != 0; }
bool is_command(std::string_view now) { return std::islower(static_cast<unsigned char>(now[0])) != 0; }

/// A command has no commands.
bool belongs_to(const OldSpelling& entry, std::string_view tool) {
    const auto [program, command] = parts(tool);
    return entry.program.empty() || (entry.program == program && (command.empty() || !is_command(entry.now)));
}

/// An old spelling on a command line.
struct Found {
    const OldSpelling* entry;
    std::string value;
    std::size_t words;  ///< that it takes
};

std::optional<Found> found_at(std::string_view tool, std::span<const std::string> words) {
    const std::size_t equals = words[0].find('=');
    const std::string name = words[0].substr(0, equals);
    const bool attached = equals != std::string::npos;
    for (const OldSpelling& entry : kOldSpellings) {
        const auto [old, placeholder] = parts(entry.old);
        if (old != name || !belongs_to(entry, tool)) continue;
        if (placeholder.empty()) return attached ? std::nullopt : std::optional(Found{&entry, "", 1});
        if (!attached && words.size() < 2)
            throw Error("option " + name + " requires a value: " + std::string(entry.old));
        const std::string value = attached ? words[0].substr(equals + 1) : words[1];
        if (!is_word(placeholder) || placeholder == value) return Found{&entry, value, attached ? 1U : 2U};
    }
    return std::nullopt;
}

/// The words of `now`, with the value in place of its name.
std::vector<std::string> filled_in(const Found& found) {
    const std::string_view placeholder = parts(found.entry->old).second;
    std::vector<std::string> words;
    for (std::string_view rest = found.entry->now; !rest.empty();) {
        const auto [word, more] = parts(rest);
        words.emplace_back(word);
        const std::size_t at = placeholder.empty() ? std::string::npos : words.back().rfind(placeholder);
        if (at != std::string::npos) words.back().replace(at, placeholder.size(), found.value);
        rest = more;
    }
    return words;
}

}  // namespace

std::span<const OldSpelling> old_spellings() { return kOldSpellings; }

bool is_old_spelling(std::string_view tool, std::string_view name) {
    return std::ranges::any_of(kOldSpellings, [&](const OldSpelling& entry) {
        return parts(entry.old).first == name && belongs_to(entry, tool);
    });
}

bool old_spelling_takes_next(std::string_view tool, std::string_view word) {
    return std::ranges::any_of(kOldSpellings, [&](const OldSpelling& entry) {
        const auto [old, placeholder] = parts(entry.old);
        return old == word && !placeholder.empty() && belongs_to(entry, tool);
    });
}

Respelled respelled(std::string_view tool, std::span<const std::string> words,
                    const std::function<bool(const std::string&)>& declares) {
    Respelled now;
    std::vector<std::string> command;  // and what stands right behind it
    std::set<std::string> demanding;   // "--fullgraph" of "--fullgraph=export", which says more than the option alone
    for (std::size_t i = 0; i < words.size();) {
        const std::optional<Found> found = found_at(tool, words.subspan(i));
        const std::string option = words[i].substr(0, words[i].find('='));
        if (!found || declares(option)) {
            if (found) now.advice.push_back(option + " is deprecated; use: " + std::string(found->entry->now));
            now.words.push_back(words[i++]);
            continue;
        }
        i += found->words;
        std::vector<std::string> instead = filled_in(*found);
        if (is_command(found->entry->now)) {
            if (!command.empty() && command[0] != instead[0])
                throw Error(option + " cannot be used with " + std::string(tool) + " " + command[0]);
            if (command.empty()) command.push_back(instead[0]);
            instead.erase(instead.begin());
        }
        now.old.push_back(option);
        const bool options = !instead.empty() && instead[0].starts_with('-');
        if (options && instead[0].find('=') != std::string::npos)
            demanding.insert(instead[0].substr(0, instead[0].find('=')));
        std::vector<std::string>& place = is_variable(found->entry->now) ? now.variables
                                          : options                      ? now.words
                                                                         : command;
        append(place, instead);
    }
    std::erase_if(now.words, [&](const std::string& word) { return demanding.contains(word); });
    now.words.insert(now.words.begin(), command.begin(), command.end());
    return now;
}

std::string old_spellings_page() {
    std::string text =
        "# Old spellings of options\n\n"
        "<!-- Generated: explain list spellings > share/doc/reference/old-spellings.md -->\n\n"
        "These options are deprecated: they work for one more release. A program that gets such an option prints the "
        "new\n"
        "spelling on stderr.\n\n"
        "| program | old | now |\n|---|---|---|\n";
    for (const OldSpelling& entry : kOldSpellings) {
        text += "| " + std::string(entry.program.empty() ? "all" : entry.program) + " | `" + std::string(entry.old) +
                "` | `" + (is_command(entry.now) ? std::string(entry.program) + " " : "") + std::string(entry.now) +
                "` |\n";
    }
    return text;
}

}  // namespace whittle::cli
