// The names of Catch2 2, which the tests use, where Catch2 3 is installed.
#pragma once

#include <catch2/catch_all.hpp>

namespace Catch {
using Matchers::EndsWith;
using Matchers::StartsWith;
using Matchers::UnorderedEquals;
inline auto Contains(const std::string& text) { return Matchers::ContainsSubstring(text); }
}  // namespace Catch
using Catch::Approx;
