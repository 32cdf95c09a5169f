// Results of a replay in the forms that CI systems read.
#pragma once

#include <span>
#include <string>

#include "run/replay.h"

namespace whittle {

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
