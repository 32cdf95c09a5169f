// The minimized schedule as people and programs read it.
#include "reduce/schedule/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/words.h"

namespace whittle::reduce {

using nlohmann::json;
using Outcome = MinimizedSchedule::Outcome;

std::string report_row(std::string_view name, const std::string& text) {
    return fmt::format("{:<11} {}\n", name.empty() ? "" : std::string(name) + ":", text);
}

namespace {

std::string rate_text(const MinimizedSchedule& done) {
    const std::string rate = std::to_string(done.failed) + " of " + plural(done.runs, "run");
    return done.repeat == 1 ? rate : rate + "; each candidate is run up to " + plural(done.repeat, "time");
}

/// "cause", "context", "open", or "allows 3, 5".
std::string role_of(const NeededDirective& needed) {
    if (needed.is_cause()) return "cause";
    if (needed.allows.empty()) return needed.open ? "open" : "context";
    std::vector<std::string> numbers;
    for (const int number : needed.allows) numbers.push_back(std::to_string(number));
    return "allows " + join(numbers);
}

}  // namespace

std::string needed_text(const std::vector<NeededDirective>& all) {
    std::size_t role = 0, width = 0;
    for (const NeededDirective& needed : all) {
        role = std::max(role, role_of(needed).size());
        width = std::max(width, needed.directive.text().size());
    }
    std::string text;
    for (const NeededDirective& needed : all)
        text += fmt::format("  {:>3}  {:<{}}  {:<{}}  {}\n", needed.directive.number, role_of(needed), role,
                            needed.directive.text(), width, needed.directive.place.text());
    return text;
}

std::string notes_text(const halide_program::Program& program) {
    std::string text;
    for (const std::string& note : program.notes) text += report_row("note", note);
    return text;
}

json to_json(const NeededDirective& needed) {
    json entry = halide_program::to_json(needed.directive);
    entry["allows"] = needed.allows;
    entry["cause"] = needed.is_cause();
    return entry;
}

std::set<std::string> fallen_in(const halide_program::Program& program) {
    std::map<int, std::string> keys;
    for (const halide_program::Directive& directive : program.directives) keys.emplace(directive.number, directive.key);
    std::set<std::string> fallen;
    for (const halide_program::Event& event : program.events)
        if (const auto of = keys.find(event.of); of != keys.end() && !event.is_error()) fallen.insert(of->second);
    return fallen;
}

namespace {

/// Halide's message says more than how the program ended.
bool is_error(const MinimizedSchedule& done) { return done.failure.find("error: ") != std::string::npos; }

std::string failure_text(const MinimizedSchedule& done) {
    if (done.failure.empty()) return {};
    const std::string error = "Halide's error: " + done.error, rate = " (" + rate_text(done) + ")";
    if (is_error(done)) return report_row("failure", error + rate);
    std::string text = report_row("failure", done.failure + rate);
    if (!done.error.empty()) text += report_row("", error);
    if (done.failure.starts_with("results") && !done.why.empty()) text += report_row("", done.why);
    return text;
}

std::string culprit_text(const Culprits& culprits) {
    constexpr std::size_t kNamed = 2;
    std::vector<std::string> causes;
    for (const NeededDirective& needed : culprits.needed)
        if (needed.is_cause()) causes.push_back(needed.directive.text() + " (" + needed.directive.place.text() + ")");
    const std::string how = culprits.separate        ? ", each on its own"
                            : causes.size() > kNamed ? ", together"
                                                     : " together";
    if (causes.size() > kNamed) return "the " + std::to_string(causes.size()) + " directives marked cause" + how;
    return join(causes, " and ") + (causes.size() > 1 ? how : "");
}

std::string_view name(Outcome outcome) {
    static constexpr std::string_view kNames[] = {"minimized", "not failing", "not the schedule", "no reference",
                                                  "not the cause"};
    return kNames[static_cast<std::size_t>(outcome)];
}

std::string confirmed_text(const MinimizedSchedule& done) {
    if (!done.confirmed)
        return report_row("confirmed",
                          "no: with these directives alone, the program did not fail when it was run again");
    std::string text = report_row("confirmed", "yes: with these directives alone, the program fails in the same way");
    if (!done.minimized_error.empty() && done.minimized_error != done.error)
        text += report_row("", "Halide's error is then: " + done.minimized_error);
    return text;
}

std::string minimized_text(const MinimizedSchedule& done) {
    const Culprits& culprits = done.culprits;
    std::string text = report_row("minimized", std::to_string(culprits.candidates) + " -> " +
                                                   plural(culprits.needed.size(), "directive") + " in " +
                                                   fmt::format("{} queries, {:.1f} s", done.queries, done.seconds));
    text += needed_text(culprits.needed);
    if (!culprits.finished)
        return text +
               report_row(
                   "stopped",
                   "these directives are the smallest set found so far; none is checked in the whole program yet");
    if (!culprits.reservation.empty()) text += report_row("note", culprits.reservation);
    if (done.outcome == Outcome::not_the_cause)
        return text + report_row("culprit",
                                 "not found: these directives are not the cause, because the program with all other "
                                 "directives fails in the same way");
    return text + confirmed_text(done) + report_row("culprit", culprit_text(culprits));
}

}  // namespace

Verdict MinimizedSchedule::verdict() const {
    switch (outcome) {
        case Outcome::minimized:
        case Outcome::not_the_schedule:
        case Outcome::not_the_cause:
            return Verdict::fails;
        case Outcome::not_failing:
            return failure.empty() ? Verdict::right : Verdict::not_judged;
        case Outcome::no_reference:
            return Verdict::not_judged;
    }
    return Verdict::not_judged;
}

std::string to_text(const MinimizedSchedule& done) {
    std::string text = failure_text(done) + notes_text(done.program);
    switch (done.outcome) {
        case Outcome::minimized:
        case Outcome::not_the_cause:
            return text + minimized_text(done);
        case Outcome::not_failing:
            return text +
                   report_row(words(done.verdict()), done.culprits.reservation.empty()
                                                         ? "the program passes in " + plural(done.runs, "run") +
                                                               ", and the results equal the results without a schedule"
                                                         : done.culprits.reservation);
        case Outcome::not_the_schedule:
            return text +
                   report_row("culprit", "not the schedule: the program fails in the same way without any of its " +
                                             plural(done.culprits.candidates, "directive"));
        case Outcome::no_reference:
            return text + report_row(words(done.verdict()), done.why) +
                   report_row(
                       "hint",
                       "if the program does not report its failure itself, add --test SCRIPT, which decides whether a "
                       "run fails");
    }
    return text;
}

json to_json(const MinimizedSchedule& done) {
    json needed = json::array();
    const Culprits& culprits = done.culprits;
    for (const NeededDirective& one : culprits.needed) needed.push_back(to_json(one));
    json result{{"verdict", whittle::name(done.verdict())},
                {"outcome", name(done.outcome)},
                {"failure", done.failure},
                {"failed", done.failed},
                {"runs", done.runs},
                {"repeat", done.repeat},
                {"directives", done.program.directives.size()},
                {"candidates", culprits.candidates},
                {"needed", needed},
                {"queries", done.queries},
                {"seconds", done.seconds},
                {"finished", culprits.finished},
                {"confirmed", done.confirmed},
                {"notes", done.program.notes},
                {"command", done.command},
                {"left_out", culprits.left_out}};
    if (culprits.separate) result["separate"] = true;
    if (!done.error.empty()) result["error"] = done.error;
    if (!done.minimized_error.empty()) result["minimized_error"] = done.minimized_error;
    if (!done.why.empty()) result["why"] = done.why;
    if (done.pipeline) result["pipeline"] = *done.pipeline;
    if (!done.not_captured.empty()) result["not_captured"] = done.not_captured;
    if (!done.inputs.empty()) result["inputs"] = done.inputs.filename().string();
    if (!culprits.reservation.empty()) result["reservation"] = culprits.reservation;
    return result;
}

}  // namespace whittle::reduce
