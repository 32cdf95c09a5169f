#include "cli/record_choice.h"

#include <algorithm>

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
        shell_quote(program_words("trace", {"-o", "traces", file.string()})) + " makes records of it, for " +
            program_called("replay") + " traces");
}

Shard shard_of(const RecordChoice& choice) {
    if (!choice.shard_index) return shard_from_environment().value_or(Shard{});
    return {static_cast<std::size_t>(*choice.shard_index), static_cast<std::size_t>(*choice.num_shards)};
}

}  // namespace

void RecordChoice::declare(Tool& tool) {
    tool.section("Which records");
    tool.option("--filter", filter, "RE", "Only records whose path this regular expression finds.");
    tool.option(
        "--to-event", to_event, "K",
        "Stop after the first K records of each DIR, in the order they were made: a record is one event, the run "
        "of one graph. Where only frames' records are named: after the first K events of each, inputs and calls.");
    tool.option("--shard-index", shard_index, "I",
                "With --num-shards: run part I (from 0). $GTEST_SHARD_INDEX is honoured.");
    tool.option("--num-shards", num_shards, "N", "Number of parts of equal size. $GTEST_TOTAL_SHARDS is honoured.");
    tool.option("--xfail", xfail, "FILE",
                "Known failures: on each line a pattern for a record's name or its path from any folder on, the reason "
                "behind '#'.");
}

void RecordChoice::check_usage(std::span<const fs::path> arguments) const {
    for (const fs::path& argument : arguments) check_is_record(argument);
    if (to_event) require_range("--to-event", static_cast<double>(*to_event), 1, 1e9);
    require_with(shard_index.has_value(), "--shard-index", num_shards.has_value(), "--num-shards");
    require_with(num_shards.has_value(), "--num-shards", shard_index.has_value(), "--shard-index");
}

std::vector<fs::path> RecordChoice::records(const Tool& tool, const std::vector<fs::path>& arguments,
                                            const KnownFailures& known) const {
    const std::vector<fs::path> all =
        find_records(arguments, to_event ? std::optional(static_cast<std::size_t>(*to_event)) : std::nullopt);
    if (!filter.empty() && select_records(all, filter, {}).empty())
        throw invalid_value(filter, "--filter", "it matches none of " + plural(all.size(), "record"));
    std::vector<fs::path> selected = select_records(all, filter, shard_of(*this));
    for (const std::string& pattern : known.unused(all))
        warn(tool, xfail->string() + ": no record is called '" + pattern + "'");
    return selected;
}

std::optional<std::size_t> RecordChoice::events(std::span<const fs::path> arguments) const {
    const auto is_frame = [](const fs::path& file) { return !fs::is_directory(file) && is_frame_record(file); };
    if (!to_event || !std::all_of(arguments.begin(), arguments.end(), is_frame)) return std::nullopt;
    return static_cast<std::size_t>(*to_event);
}

}  // namespace whittle::cli
