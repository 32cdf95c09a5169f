// Outcomes between processes: plain fields in a fixed order, each string and list preceded by its length.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "judge/outcome.h"

namespace whittle {

std::string encode(const Outcome& outcome);

/// Nothing for bytes that encode() did not write: a process that went mad can send anything.
std::optional<Outcome> decode(std::string_view bytes);

}  // namespace whittle
