#include "diagnose/release_history.h"

#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "base/words.h"
#include "diagnose/asker.h"
#include "graph/abilities.h"

namespace whittle::diagnose {
namespace {

const char* word(Again answer) {
    return answer == Again::right ? "right" : answer == Again::fails ? "wrong" : "cannot tell";
}

Again ask(const std::string& release, const BackendOptions& options, Asker& asker) {
    Again again = Again::otherwise;
    std::string why;
    try {
        const Asker::Asked& asked = asker.ask(options);
        again = asked.again;
        if (again == Again::otherwise) why = " (" + asked.message + ")";
    } catch (const Error& error) {  // it cannot be started, or does not have the failure's options
        why = std::string(" (") + error.what() + ")";
    }
    log_info(LogChannel::run, "release " + release + ": " + word(again) + why);
    return again;
}

}  // namespace

std::string ReleaseHistory::text() const {
    std::string text;
    if (last_good.empty())
        text = "wrong in all tested releases since " + first_bad;
    else
        text = last_good + " is right; wrong since " + first_bad;
    const std::string all = "of " + std::to_string(installed) + " installed releases";
    if (last_good.empty() && cannot_tell.empty())
        text += ", the oldest " + all;
    else
        text += " (" + all + (cannot_tell.empty() ? "" : "; " + join(cannot_tell) + " gave no verdict") + ")";
    if (newest.empty()) return text;
    return text + "; " +
           (newest_is == "cannot tell" ? newest + " gave no verdict"
                                       : (newest_is == "wrong" ? "still wrong in " : "right in ") + newest);
}

std::optional<ReleaseHistory> release_history(const Graph& graph, Backend& backend, const Limits& limits,
                                              const std::function<bool()>& stop) {
    Releases* const releases = offered<Releases>(backend);
    if (!releases || !graph.failure) return std::nullopt;
    const BackendOptions& options = graph.failure->options;
    const std::vector<std::string> names = releases->releases();
    const auto failing = std::ranges::find(names, names.size() < 2 ? "" : releases->release_of(options));
    if (failing == names.end()) return std::nullopt;
    Asker asker(graph, backend, limits, stop);
    const auto ask_release = [&](std::size_t i) {
        return ask(names[i], releases->in_release(options, names[i]), asker);
    };
    const Begin begin = begin_of_failure(static_cast<std::size_t>(failing - names.begin()), ask_release);
    ReleaseHistory history{.installed = names.size(), .first_bad = names[begin.fails]};
    if (begin.right) history.last_good = names[*begin.right];
    for (const std::size_t silent : begin.silent) history.cannot_tell.push_back(names[silent]);
    if (*failing == names.back()) return history;
    history.newest = names.back();
    history.newest_is = word(ask_release(names.size() - 1));
    return history;
}

}  // namespace whittle::diagnose
