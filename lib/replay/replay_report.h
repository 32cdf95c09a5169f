// Results of a replay: as text for people, as JSON, and in the forms that CI systems read.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "replay/replay.h"

namespace whittle {

std::size_t count(std::span<const ReplayResult> results, ReplayResult::Status status);

/// "PASS  traces/records/main.json (halide, 0.12 s)", and below it what is known or different.
std::string to_text(const ReplayResult& result, bool color);
/// "3 records: 2 passed, 1 failed", and the command that makes the first failure small.
std::string summary_text(std::span<const ReplayResult> results);
nlohmann::json to_json(std::span<const ReplayResult> results);
nlohmann::ordered_json replay_output_schema();

/// Of the program: 0 where all is as expected, and for a shard without records; 1 where a record fails, passes against
/// what is known, or none was judged, with `require_judged` where one was not; 2 where one is in error.
int exit_status(std::span<const ReplayResult> results, bool require_judged = false);

/// What each result is called among the others: its path from the given folder on, "ci/resnet/main" of
/// ci/resnet/records/main.json; the whole path where two would be called alike.
std::vector<std::string> test_names(std::span<const ReplayResult> results,
                                    std::span<const std::filesystem::path> arguments);

/// JUnit XML: one test case per record, called as test_names() says, its class name the trace's folder; `arguments` are
/// the files and folders that were replayed. Known failures and unsupported graphs are skipped test cases with their
/// reason; unexpected passes are passes that say so. A failure holds the command that makes it small.
/// https://github.com/testmoapp/junitxml
std::string junit_xml(std::span<const ReplayResult> results, std::span<const std::filesystem::path> arguments);

/// TAP version 13 with diagnostics; known failures carry the directive TODO, unsupported graphs SKIP.
/// https://testanything.org/tap-version-13-specification.html
std::string tap(std::span<const ReplayResult> results);

}  // namespace whittle
