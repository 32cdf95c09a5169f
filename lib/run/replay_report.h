// Results of a replay in the forms that CI systems read.
#pragma once

#include <span>
#include <string>

#include "run/replay.h"

namespace whittle {

/// JUnit XML: one test case per record, its class name the record's frame. Known failures and unsupported graphs are
/// skipped test cases with their reason; unexpected passes are passes that say so.
/// https://github.com/testmoapp/junitxml
std::string junit_xml(std::span<const ReplayResult> results);

/// TAP version 13 with diagnostics; known failures carry the directive TODO, unsupported graphs SKIP.
/// https://testanything.org/tap-version-13-specification.html
std::string tap(std::span<const ReplayResult> results);

}  // namespace whittle
