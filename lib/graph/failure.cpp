#include "graph/failure.h"

#include <span>

#include "base/subprocess.h"
#include "base/words.h"
#include "graph/backend_options.h"

namespace whittle {

std::string Signature::text() const {
    std::string text = kind;
    if (!detail.empty()) text += " (" + detail + ")";
    if (!stage.empty()) text += " at " + stage;
    if (!part.empty()) text += " of " + part;
    if (rate.flaky()) text += ", in " + std::to_string(rate.failed) + " of " + std::to_string(rate.runs) + " runs";
    return text;
}

std::string Signature::heading() const {
    Signature above = *this;
    if (kind == "exception") above.detail.clear();
    return above.text();
}

std::string Failure::text() const {
    if (signature.kind != "exception" || message.empty()) return signature.text();
    return signature.heading() + ": " + message_in_line(message);
}

std::string Culprit::text() const {
    if (!directive.empty()) {
        const std::string what = component == "switch" ? op : "directive";
        if (together.empty()) return what + " " + directive;
        std::string text = what + "s " + directive;
        for (const std::string& other : together) text += (&other == &together.back() ? " and " : ", ") + other;
        return text + " together";
    }
    if (component == "lowering") return "lowering of " + op;
    if (component == "gradient") return "gradient rule of " + op;
    const std::string bisected = together.size() == 2
                                     ? (application.empty() ? " (" : " (first bad application: " + application + "; ") +
                                           "last good: --backend-option " + together[0] +
                                           ", first bad: --backend-option " + together[1] + ")"
                                     : "";
    const std::string passes = op + (partner.empty() ? "" : " together with " + partner);
    if (component == "pass") return "pass " + passes + bisected;
    if (!bisected.empty()) return component + ", on the graph that pass " + passes + " makes" + bisected;
    return component;
}

std::string Pace::text() const {
    if (than.empty()) return "its own code without optimization";
    std::vector<std::string> pairs;
    for (const auto& [key, value] : options) pairs.push_back(key + "=" + value);
    return than + (pairs.empty() ? "" : " (" + join(pairs) + ")");
}

namespace {

/// "a, b, c, d, and 9 more".
std::string first_of(const std::vector<std::string>& names) {
    constexpr std::size_t kMost = 4;
    if (names.size() <= kMost) return join(names);
    return join(std::span(names).first(kMost)) + ", and " + std::to_string(names.size() - kMost) + " more";
}

}  // namespace

std::vector<std::string> culprit_notes(const Failure& failure) {
    std::vector<std::string> notes;
    if (!failure.culprit) return notes;
    const Culprit& culprit = *failure.culprit;
    if (!culprit.directive.empty() && !culprit.together.empty())
        notes.emplace_back("the failure occurs only with all of these together");
    if (!culprit.dependents.empty())
        notes.push_back(
            "disable=" + culprit.directive +
            " also switches off the directives that depend on this directive: " + first_of(culprit.dependents));
    if (!failure.options.empty())
        notes.push_back("found in the minimized graph with " + shell_quote(option_words(failure.options)));
    return notes;
}

}  // namespace whittle
