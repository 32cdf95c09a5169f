#include "cli/record_choice.h"

#include <algorithm>
#include <charconv>

#include "base/command_words.h"
#include "base/error.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "cli/messages.h"
#include "cli/model.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "graph/json.h"
#include "trace/frame_record.h"
#include "trace/record.h"

namespace whittle::cli {
namespace fs = std::filesystem;

namespace {

void check_is_record(const fs::path& file) {
    if (!fs::is_regular_file(file) || is_record(file) || is_frame_record(file)) return;
    const ModelKind kind = recognize(file);
    if (kind == ModelKind::graph && format_of_json(file) != "whittle.graph") return;  // damaged: read and told
    throw Error(
        {file.string(), {}},
        "it is " + std::string(kind == ModelKind::onnx ? "an " : "a ") + std::string(name(kind)) + ", not a record",
        "record it with " + shell_quote(program_words("trace", {"-o", "traces", file.string()})) + ", then run " +
            program_called("replay") + " traces");
}

Shard shard_of(const std::string& shard) {
    if (shard.empty()) return shard_from_environment().value_or(Shard{});
    const char* const why = "expected I/N with I from 1 to N";
    std::int64_t index = 0, count = 0;
    const char* const end = shard.data() + shard.size();
    const auto [slash, wrong] = std::from_chars(shard.data(), end, index);
    if (wrong != std::errc() || slash == end || *slash != '/' || std::from_chars(slash + 1, end, count).ptr != end)
        throw invalid_value(shard, "--shard", why);
    if (index < 1 || index > count) throw invalid_value(shard, "--shard", why);
    return {static_cast<std::size_t>(index - 1), static_cast<std::size_t>(count)};
}

}  // namespace

void RecordChoice::declare(Tool& tool) {
    tool.section("Record selection");
    tool.option("--filter", filter, "RE", "Replay only records whose path matches this regular expression.");
    tool.option("--to-event", to_event, "K",
                "Stop after the first K records of each DIR. If only records of failed captures are given: stop after "
                "K events of each record.");
    tool.option("--shard", shard, "I/N",
                "Replay part I of N, where the first part is 1. If there are fewer than I records, the part is empty "
                "and passes. Default: part $GTEST_SHARD_INDEX of $GTEST_TOTAL_SHARDS, where the first part is 0.");
    tool.option(
        "--xfail", xfail, "FILE",
        "File of known failures. Each line has a pattern for records, and a reason after '#'. A pattern is for the "
        "name "
        "of a record, its path or the end of its path, or its name in a JUnit or TAP report; * matches anything.");
}

void RecordChoice::check_usage(std::span<const fs::path> arguments) const {
    for (const fs::path& argument : arguments) check_is_record(argument);
    if (to_event) require_range("--to-event", static_cast<double>(*to_event), 1, 1e9);
    shard_of(shard);
}

std::vector<fs::path> RecordChoice::records(const Tool& tool, const std::vector<fs::path>& arguments,
                                            const KnownFailures& known) const {
    const std::vector<fs::path> all =
        find_records(arguments, to_event ? std::optional(static_cast<std::size_t>(*to_event)) : std::nullopt);
    if (!filter.empty() && select_records(all, filter, {}).empty())
        throw invalid_value(filter, "--filter", "it matches none of " + plural(all.size(), "record"));
    std::vector<fs::path> selected = select_records(all, filter, shard_of(shard));
    for (const std::string& pattern : known.unused(all))
        warn(tool, xfail->string() + ": no record matches '" + pattern + "'");
    return selected;
}

std::optional<std::size_t> RecordChoice::events(std::span<const fs::path> arguments) const {
    const auto is_frame = [](const fs::path& file) { return !fs::is_directory(file) && is_frame_record(file); };
    if (!to_event || !std::all_of(arguments.begin(), arguments.end(), is_frame)) return std::nullopt;
    return static_cast<std::size_t>(*to_event);
}

}  // namespace whittle::cli
