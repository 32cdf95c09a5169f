#include "graph/backend_options.h"

#include <algorithm>
#include <limits>

#include "base/number_text.h"
#include "base/words.h"

namespace whittle {

namespace {

constexpr const char *kDisable = "disable", *kPassLimit = "pass-limit";

void add_part(BackendOptions& options, const std::string& key, const std::string& part) {
    std::string& value = options[key];
    value += (value.empty() ? "" : ";") + part;
}

}  // namespace

std::vector<std::string> option_parts(const BackendOptions& options, const std::string& key) {
    std::vector<std::string> result;
    const auto found = options.find(key);
    if (found == options.end()) return result;
    for (std::string& part : split(found->second, ';'))
        if (!part.empty()) result.push_back(std::move(part));
    return result;
}

BackendOptions switched_off(BackendOptions options, const std::vector<std::string>& names) {
    for (const std::string& name : names) add_part(options, kDisable, name);
    return options;
}

BackendOptions limited_to(BackendOptions options, const std::string& pass, int most) {
    add_part(options, kPassLimit, pass + "=" + std::to_string(most));
    return options;
}

BackendOptions without_limits(BackendOptions options) {
    options.erase(kDisable), options.erase(kPassLimit);
    return options;
}

std::vector<std::string> option_words(const BackendOptions& options) {
    std::vector<std::string> words;
    for (const auto& [key, value] : options) words.insert(words.end(), {"--backend-option", key + "=" + value});
    return words;
}

void add_option(BackendOptions& options, const std::string& pair) {
    const auto equals = pair.find('=');
    if (equals == std::string::npos || equals == 0)
        throw Error("invalid value '" + pair + "' for --backend-option: expected KEY=VALUE");
    const std::string key = pair.substr(0, equals);
    if (key != kPassLimit && key != kDisable && options.contains(key))
        throw Error("--backend-option: '" + key + "' is given twice");
    add_part(options, key, pair.substr(equals + 1));
}

Error wrong_option(const std::string& key, const std::string& found, const std::string& expected,
                   const std::vector<std::string>& words) {
    return Error({"backend option " + key, {}}, "found '" + found + "', expected " + expected,
                 did_you_mean(found, words));
}

Error no_release(const std::string& release, const std::vector<std::string>& installed, const std::string& install) {
    return Error({"backend option release", {}},
                 "found '" + release + "', expected " +
                     (installed.empty() ? "no release: this backend has no releases to choose from"
                                        : "one of " + join(installed)),
                 install.empty() ? "" : "to install another release: " + install);
}

std::size_t option_choice(const BackendOptions& options, const std::string& key,
                          const std::vector<std::string>& words) {
    const auto given = options.find(key);
    if (given == options.end()) return 0;
    expect_known(key, given->second, words);
    return static_cast<std::size_t>(std::ranges::find(words, given->second) - words.begin());
}

int option_number(const std::string& key, const std::string& text, int least, int most) {
    if (const auto number = number_of<int>(text); number && *number >= least && *number <= most) return *number;
    const bool bounded = most < std::numeric_limits<int>::max();
    const std::string range = bounded ? " from " + std::to_string(least) + " to " + std::to_string(most)
                                      : ", " + std::to_string(least) + " or more";
    throw wrong_option(key, text, "a number" + range);
}

double option_fraction(const BackendOptions& options, const std::string& key, double otherwise) {
    const auto found = options.find(key);
    if (found == options.end() || found->second.empty()) return otherwise;
    if (const auto number = number_of<double>(found->second); number && *number >= 0 && *number <= 1) return *number;
    throw wrong_option(key, found->second, "a number from 0 to 1");
}

void expect_known(const std::string& key, const std::string& name, const std::vector<std::string>& known) {
    if (std::ranges::find(known, name) != known.end()) return;
    throw wrong_option(key, name,
                       known.empty() ? "no value: the backend has no values to choose from" : "one of " + join(known),
                       known);
}

std::vector<OptionLimit> option_limits(const BackendOptions& options, const std::vector<Limitable>& known) {
    const std::string key = kPassLimit;
    std::vector<std::string> names;
    for (const Limitable& one : known) names.push_back(one.name);
    std::vector<OptionLimit> limits;
    for (const std::string& part : option_parts(options, key)) {
        const auto equals = part.find('=');
        const std::string name = part.substr(0, equals);
        expect_known(key, name, names);
        if (equals == part.npos) throw wrong_option(key, part, "NAME=K, a name and a number");
        const auto found = std::ranges::find(names, name);
        limits.push_back({name, option_number(key + " " + name, part.substr(equals + 1), 0,
                                              known[static_cast<std::size_t>(found - names.begin())].most)});
    }
    return limits;
}

}  // namespace whittle
