#include "cli/pace_choice.h"

#include "backends/registry.h"
#include "base/error.h"
#include "base/number_text.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "graph/backend_options.h"

namespace whittle::cli {

namespace {

BackendOptions options_of(const std::vector<std::string>& pairs, BackendOptions options) {
    BackendOptions own;
    for (const std::string& pair : pairs) add_option(own, pair);
    for (const auto& [key, value] : own) options[key] = value;
    return options;
}

}  // namespace

void PaceChoice::declare(Tool& tool, const std::string& means) {
    tool.section("Running time");
    tool.option("--slower", factor, "FACTOR",
                means +
                    " FACTOR times (for example 1.5) as long as on the backend of --than. Both backends run in turns, "
                    "until the answer is certain (share/doc/how-to/slowness.md).");
    tool.option("--than", than, "B",
                "With --slower: the backend to compare the time with. Default: the tested backend, without "
                "optimization.");
    tool.option("--than-option", pairs, "KEY=VALUE",
                "With --slower: set an option of the backend to compare with, for example release=1.16.3. Without "
                "--than: compare with the tested backend and its options, except for KEY. May be repeated.");
}

void PaceChoice::check(const BackendChoice& suspect, bool alone) const {
    require_with(!than.empty(), "--than", factor.has_value(), "--slower");
    require_with(!pairs.empty(), "--than-option", factor.has_value(), "--slower");
    if (!factor) return;
    require_range("--slower", *factor, 1, 1e6);
    if (!alone)
        throw Error("--slower cannot be used with --jobs here, because parallel runs disturb each other's times",
                    "minify --launcher runs the candidates on several machines");
    const BackendOptions options = options_of(pairs, than.empty() ? suspect.options() : BackendOptions());
    const std::string named = than.empty() ? suspect.name : than;
    if (!named.empty()) find_backend(named, options);
}

std::optional<Pace> PaceChoice::pace(const BackendSpec& spec, const BackendOptions& options) const {
    if (!factor) return std::nullopt;
    if (than.empty() && pairs.empty()) return Pace{.factor = *factor};
    return Pace{.factor = *factor,
                .than = than.empty() ? spec.text() : BackendSpec(than).text(),
                .options = options_of(pairs, than.empty() ? options : BackendOptions())};
}

std::vector<std::string> PaceChoice::words() const {
    std::vector<std::string> words;
    if (factor) words = {"--slower", shortest(*factor)};
    if (!than.empty()) words.insert(words.end(), {"--than", than});
    for (const std::string& pair : pairs) words.insert(words.end(), {"--than-option", pair});
    return words;
}

}  // namespace whittle::cli
