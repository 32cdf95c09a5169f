// The minimized schedule as people and programs read it.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/words.h"
#include "reduce/schedule/minimize.h"

namespace whittle::reduce {

using nlohmann::json;
using Outcome = MinimizedSchedule::Outcome;

namespace {

std::string row(std::string_view name, const std::string& text) {
    return fmt::format("{:<11} {}\n", std::string(name) + ":", text);
}

std::string rate_text(const MinimizedSchedule& done) {
    const std::string rate = std::to_string(done.failed) + " of " + plural(done.runs, "run");
    return done.repeat == 1 ? rate : rate + "; each candidate is run up to " + plural(done.repeat, "time");
}

/// "cause", or "allows 3, 5".
std::string role_of(const NeededDirective& needed) {
    std::vector<std::string> numbers;
    for (const int number : needed.allows) numbers.push_back(std::to_string(number));
    return numbers.empty() ? "cause" : "allows " + join(numbers);
}

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

std::string culprit_text(const MinimizedSchedule& done) {
    std::vector<std::string> causes;
    for (const NeededDirective& needed : done.needed)
        if (needed.allows.empty())
            causes.push_back(needed.directive.text() + " (" + needed.directive.place.text() + ")");
    return join(causes, " and ") + (causes.size() > 1 ? " together" : "");
}

std::string_view name(Outcome outcome) {
    static constexpr std::string_view kNames[] = {"minimized", "not failing", "not the schedule", "no reference"};
    return kNames[static_cast<std::size_t>(outcome)];
}

std::string notes_text(const MinimizedSchedule& done) {
    std::string text;
    for (const std::string& note : done.program.notes) text += row("note", note);
    return text;
}

std::string minimized_text(const MinimizedSchedule& done) {
    std::string text =
        row("minimized", std::to_string(done.candidates) + " -> " + plural(done.needed.size(), "directive") + " in " +
                             fmt::format("{} queries, {:.1f} s", done.queries, done.seconds));
    text += needed_text(done.needed);
    if (!done.finished)
        text += row("stopped", "the smallest set found so far");
    else if (!done.reservation.empty())
        text += row("note", done.reservation);
    if (done.finished)
        text += row("confirmed",
                    done.confirmed ? "yes: with these directives alone, the program fails in the same way"
                                   : "no: with these directives alone, the program did not fail when it was run again");
    return text + row("culprit", culprit_text(done));
}

}  // namespace

std::string to_text(const MinimizedSchedule& done) {
    std::string text;
    if (!done.failure.empty()) text += row("failure", done.failure + " (" + rate_text(done) + ")");
    if (done.failure.starts_with("results") && !done.why.empty()) text += std::string(12, ' ') + done.why + "\n";
    text += notes_text(done);
    switch (done.outcome) {
        case Outcome::minimized:
            return text + minimized_text(done);
        case Outcome::not_failing:
            return text + row("not failing", done.reservation.empty()
                                                 ? "the program ends well in " + plural(done.runs, "run") +
                                                       ", and computes what it computes without a schedule"
                                                 : done.reservation);
        case Outcome::not_the_schedule:
            return text + row("culprit", "not the schedule: the program fails in the same way without any of its " +
                                             plural(done.candidates, "directive"));
        case Outcome::no_reference:
            return text + row("no verdict", done.why) +
                   row("hint", "--test SCRIPT decides whether a run fails, where the program itself does not say so");
    }
    return text;
}

json to_json(const MinimizedSchedule& done) {
    json needed = json::array();
    for (const NeededDirective& one : done.needed) {
        json entry = halide_program::to_json(one.directive);
        entry["allows"] = one.allows;
        entry["cause"] = one.allows.empty();
        needed.push_back(std::move(entry));
    }
    json result{{"outcome", name(done.outcome)}, {"failure", done.failure},
                {"failed", done.failed},         {"runs", done.runs},
                {"repeat", done.repeat},         {"directives", done.program.directives.size()},
                {"candidates", done.candidates}, {"needed", needed},
                {"queries", done.queries},       {"seconds", done.seconds},
                {"finished", done.finished},     {"confirmed", done.confirmed},
                {"notes", done.program.notes}};
    if (!done.why.empty()) result["why"] = done.why;
    if (done.pipeline) result["pipeline"] = *done.pipeline;
    if (!done.not_captured.empty()) result["not_captured"] = done.not_captured;
    if (!done.inputs.empty()) result["inputs"] = done.inputs.filename().string();
    if (!done.reservation.empty()) result["reservation"] = done.reservation;
    return result;
}

}  // namespace whittle::reduce
