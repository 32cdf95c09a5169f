#include "replay/replay_report.h"

#include <algorithm>
#include <map>

#include "base/number_text.h"
#include "base/words.h"
#include "formats/fields.h"
#include "formats/json_text.h"

namespace whittle {
namespace fs = std::filesystem;

using Status = ReplayResult::Status;

template <>
struct Choices<Status> {
    static constexpr Status all[] = {Status::passed, Status::failed, Status::skipped,
                                     Status::xfail,  Status::xpass,  Status::error};
};
template <>
struct Choices<Verdict> {
    static constexpr Verdict all[] = {Verdict::right, Verdict::fails, Verdict::not_judged};
};
template <>
struct Fields<ReplayResult> {
    static void visit(auto& field) {
        field("file", &ReplayResult::file, "");
        field("name", &ReplayResult::name, "");
        field("backend", &ReplayResult::backend, "The backend that ran the record; empty if the record did not run.");
        field("status", &ReplayResult::status, "");
        field("outcome", &ReplayResult::outcome,
              "Kind of the outcome: ok, mismatch, exception, crash, slow, timeout, out_of_memory, unsupported, error; "
              "capture_fault: the record itself is wrong; not_judged: see the verdict.");
        field("verdict", &ReplayResult::verdict, "");
        field("identical", &ReplayResult::identical, "Whether every output equals the recorded output bit by bit.");
        field("first_difference", &ReplayResult::first_difference,
              "The first difference, the outcome's message, or why the record is not judged; empty when passed.");
        field("seconds", &ReplayResult::seconds, "", Count{});
        field.maybe("times", &ReplayResult::times,
                    "With --slower: the comparison of the time with the time of --than.");
        field.maybe("compared", &ReplayResult::compared,
                    "The sources of the results with which the backend's results were compared.");
        field.maybe("agree", &ReplayResult::agree, "If results differ: groups of sources whose results agree.");
        field.maybe("recorded_error", &ReplayResult::recorded_error,
                    "For a record of a capture that failed: its error, with which it should fail again.");
        field.maybe("next", &ReplayResult::next, "For a failed record: the command that minimizes the failure.");
    }
};

namespace {

struct Results {
    std::vector<ReplayResult> records;

    static void fields(auto& field) {
        const auto counted = [&](const char* name, Status status, const char* meaning) {
            field(
                name, [status](const Results& all) { return count(all.records, status); }, meaning);
        };
        counted("passed", Status::passed, "");
        counted("failed", Status::failed, "");
        counted("skipped", Status::skipped, "The number of records without a verdict.");
        counted("xfail", Status::xfail, "The number of records that failed and are listed as known failures.");
        counted("xpass", Status::xpass,
                "The number of records that passed although they are listed as known failures.");
        counted("errors", Status::error, "The number of records that are missing, or that could not be read or run.");
        field("verdict", &Results::verdict,
              "The verdict on all records: fails if a record fails, else not_judged if a record is not judged, else "
              "right.");
        field("records", &Results::records, "");
    }

    Verdict verdict() const {
        std::vector<Verdict> all;
        for (const ReplayResult& record : records) all.push_back(record.verdict);
        return worst(all);
    }
};

/// Of a status: the word of a line, and its color.
struct Look {
    const char *word, *paint;
};
Look look_of(Status status) {
    constexpr const char *kGreen = "\033[32m", *kYellow = "\033[33m", *kRed = "\033[31m";
    static constexpr Look kLooks[] = {{"PASS ", kGreen}, {"FAIL ", kRed}, {"SKIP ", kYellow},
                                      {"XFAIL", kGreen}, {"XPASS", kRed}, {"ERROR", kRed}};
    return kLooks[static_cast<std::size_t>(status)];
}

/// Text of an XML attribute or element. XML 1.0 has no place for control characters, not even escaped.
std::string xml(const std::string& text) {
    static const std::map<char, std::string> kEscaped = {{'&', "&amp;"},  {'<', "&lt;"},   {'>', "&gt;"},
                                                         {'"', "&quot;"}, {'\n', "&#10;"}, {'\t', "&#9;"}};
    std::string out;
    for (const char c : as_utf8(text)) {
        const auto escaped = kEscaped.find(c);
        const bool control = static_cast<unsigned char>(c) < 0x20;
        out += escaped != kEscaped.end() ? escaped->second : control ? "\xef\xbf\xbd" : std::string(1, c);
    }
    return out;
}

std::string attribute(const char* key, const std::string& value) {
    return std::string(" ") + key + "=\"" + xml(value) + "\"";
}

/// A record that passes must leave the list, or nobody sees when it fails again.
constexpr const char* kStale = "passed, although listed as a known failure";

/// Nothing else leaves no record to replay: a folder without records and a filter that finds none are errors.
constexpr const char* kEmptyShard = "there are fewer records than shards";

std::string known(const ReplayResult& result, const std::string& words) {
    return result.known_reason.empty() ? words : words + ": " + result.known_reason;
}

fs::path without_slash(const fs::path& path) {
    const fs::path normal = path.lexically_normal();
    return normal.has_filename() ? normal : normal.parent_path();
}

/// From the given folder on; a file that was given itself is its name.
std::string name_from(const fs::path& record, std::span<const fs::path> arguments) {
    const fs::path file = record.lexically_normal();
    fs::path name = file.filename();
    for (const fs::path& argument : arguments) {
        const fs::path folder = without_slash(argument);
        const fs::path inside = folder == "." && file.is_relative() ? file : file.lexically_relative(folder);
        if (inside.empty() || *inside.begin() == ".." || inside == ".") continue;
        name = folder == "." || folder == ".." ? inside : folder.filename() / inside;
        break;
    }
    return path_as_name(std::move(name)).generic_string();
}

/// The folder that holds the trace: with the name it tells records of several folders apart.
std::string folder_of(const ReplayResult& result) {
    const fs::path folder = result.file.lexically_normal().parent_path();
    const std::string text = (folder.filename() == "records" ? folder.parent_path() : folder).string();
    return text.empty() ? "." : text;
}

/// What a test case holds; empty for a plain pass.
std::string verdict(const ReplayResult& result) {
    const std::string type = attribute("type", result.outcome);
    switch (result.status) {
        case Status::passed:
            return {};
        case Status::failed:
            return "<failure" + attribute("message", result.first_difference) + type +
                   (result.next.empty() ? "/>" : ">next: " + xml(result.next) + "</failure>");
        case Status::error:
            return "<error" + attribute("message", result.first_difference) + type + "/>";
        case Status::skipped:
            return "<skipped" + attribute("message", result.first_difference) + "/>";
        case Status::xfail:
            return "<skipped" + attribute("message", known(result, "known failure") + "; " + result.first_difference) +
                   "/>";
        case Status::xpass:
            return "<failure" + attribute("message", known(result, kStale)) + attribute("type", "xpass") + "/>";
    }
    __builtin_unreachable();
}

/// One line of a diagnostic: TAP's lines end where they end.
std::string one_line(const std::string& text) { return as_line(text, text.size()); }

/// '#' starts a directive, so that it is escaped in descriptions.
std::string description(const std::string& text) {
    std::string out;
    for (const char c : one_line(text)) {
        if (c == '#' || c == '\\') out += '\\';
        out += c;
    }
    return out;
}

}  // namespace

std::size_t count(std::span<const ReplayResult> results, Status status) {
    return static_cast<std::size_t>(std::ranges::count(results, status, &ReplayResult::status));
}

std::string to_text(const ReplayResult& result, bool color) {
    const Look look = look_of(result.status);
    std::string text = (color ? look.paint + std::string(look.word) + "\033[0m" : look.word) + " " +
                       result.file.string() + " (" + (result.backend.empty() ? "not run" : result.backend) + ", " +
                       fixed(result.seconds, 2) + " s)\n";
    if (!result.stopped_after.empty()) text += "      stopped after " + result.stopped_after + "\n";
    if (!result.recorded_error.empty()) text += "      recorded error: " + one_line(result.recorded_error) + "\n";
    if (!result.known_reason.empty()) text += "      known: " + result.known_reason + "\n";
    if (!result.times.empty() && result.times != result.first_difference) text += "      " + result.times + "\n";
    if (!result.first_difference.empty() && result.status != Status::error)  // errors follow on stderr
        text += "      " + (result.status == Status::skipped ? std::string(words(result.verdict)) : result.outcome) +
                ": " + result.first_difference + "\n";
    return text;
}

std::string summary_text(std::span<const ReplayResult> results) {
    if (results.empty()) return plural(results.size(), "record") + ": " + kEmptyShard + "\n";
    std::string text = plural(results.size(), "record") + ": " + std::to_string(count(results, Status::passed)) +
                       " passed, " + std::to_string(count(results, Status::failed)) + " failed";
    for (const Status status : {Status::skipped, Status::xfail, Status::xpass, Status::error})
        if (const std::size_t some = count(results, status))
            text += ", " + std::to_string(some) + " " + std::string(name(status));
    text += results.size() > 0 && count(results, Status::skipped) == results.size() ? "; no record was judged" : "";
    const auto has_next = [](const auto& result) { return !result.next.empty(); };
    const auto next = std::ranges::find_if(results, has_next);
    return text + "\n" + (next == results.end() ? "" : next_line(next->next));
}

nlohmann::json to_json(std::span<const ReplayResult> results) {
    return report_json(Results{{results.begin(), results.end()}});
}

nlohmann::ordered_json replay_output_schema() {
    return report_schema<Results>("What replay --json prints",
                                  "Counts, and one entry per record in order. More members may be added.");
}

int exit_status(std::span<const ReplayResult> results, bool require_judged) {
    if (count(results, Status::error)) return 2;
    const std::size_t skipped = count(results, Status::skipped);
    const bool too_few = skipped > 0 && (require_judged || skipped == results.size());
    return count(results, Status::failed) || count(results, Status::xpass) || too_few ? 1 : 0;
}

std::vector<std::string> test_names(std::span<const ReplayResult> results, std::span<const fs::path> arguments) {
    std::vector<std::string> names;
    std::map<std::string, int> count;
    for (const ReplayResult& result : results) ++count[names.emplace_back(name_from(result.file, arguments))];
    for (std::size_t i = 0; i < names.size(); ++i)
        if (count[names[i]] > 1) names[i] = results[i].file.lexically_normal().generic_string();
    return names;
}

std::string junit_xml(std::span<const ReplayResult> results, std::span<const fs::path> arguments) {
    const std::vector<std::string> names = test_names(results, arguments);
    const auto number = [&](Status status) { return count(results, status); };
    double seconds = 0;
    for (const ReplayResult& result : results) seconds += result.seconds;
    const std::string counts = attribute("tests", std::to_string(results.size())) +
                               attribute("failures", std::to_string(number(Status::failed) + number(Status::xpass))) +
                               attribute("errors", std::to_string(number(Status::error))) +
                               attribute("skipped", std::to_string(number(Status::skipped) + number(Status::xfail))) +
                               attribute("time", fixed(seconds, 3));
    std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + counts + ">\n  <testsuite" +
                       attribute("name", "whittle replay") + counts + ">\n";
    for (std::size_t i = 0; i < results.size(); ++i) {
        const ReplayResult& result = results[i];
        text += "    <testcase" + attribute("name", names[i]) + attribute("classname", folder_of(result)) +
                attribute("file", result.file.string()) + attribute("time", fixed(result.seconds, 3));
        const std::string inside = verdict(result);
        text += inside.empty() ? "/>\n" : ">" + inside + "</testcase>\n";
    }
    return text + "  </testsuite>\n</testsuites>\n";
}

std::string tap(std::span<const ReplayResult> results) {
    std::string text = "TAP version 13\n1.." + std::to_string(results.size());
    text += results.empty() ? " # SKIP " + std::string(kEmptyShard) + "\n" : "\n";
    for (std::size_t i = 0; i < results.size(); ++i) {
        const ReplayResult& result = results[i];
        const bool bad = result.status != Status::passed && result.status != Status::skipped;
        text +=
            std::string(bad ? "not ok " : "ok ") + std::to_string(i + 1) + " - " + description(result.file.string());
        if (result.status == Status::xfail) text += " # TODO " + one_line(known(result, "known failure"));
        if (result.status == Status::skipped) text += " # SKIP " + one_line(result.first_difference);
        text += "\n";
        if (result.status == Status::xpass)
            text += "# " + one_line(known(result, kStale)) + "\n";
        else if (bad)
            text += "# " + result.outcome + ": " + one_line(result.first_difference) + "\n";
    }
    return text;
}

}  // namespace whittle
