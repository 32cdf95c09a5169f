// Bugs that tests inject into compilations, through the hook of compile/hooks.h.
#pragma once

#include <string>

#include "compile/hooks.h"

namespace whittle {

/// A hook that makes one pass wrong, as the table in bugs.cpp says: "schedule", "lower=OP". BUG+BUG: both, of different
/// passes. Throws Error for an unknown bug or op, and for an op on which the bug would have no effect.
AfterPass planted_bug(const std::string& text);
/// The table, for scripts/planted --help: a line for each bug.
std::string planted_bugs_text();
std::string planted_bug_line(const std::string& spelling, const std::string& doc);

/// The bug is in the compilations of this process as long as the object lives.
class Planted {
  public:
    explicit Planted(const std::string& bug) { program::set_after_pass(planted_bug(bug)); }
    ~Planted() { program::set_after_pass({}); }
    Planted(const Planted&) = delete;
    Planted& operator=(const Planted&) = delete;
};

}  // namespace whittle
