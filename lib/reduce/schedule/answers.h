// The answers of a search for directives, kept in a file: a search that was stopped goes on with them.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "reduce/search/search.h"

namespace whittle::reduce {

/// Of directives: see halide_program::Directive::key.
using Keys = std::set<std::string>;

/// What a run without some directives showed.
struct ScheduleAnswer {
    TestResult result = TestResult::passes;
    Keys fallen = {};  ///< directives that fell away or moved
};

class ScheduleAnswers {
  public:
    /// `failure` and `repeat`: answers to another question do not count. With `resume` reads the file, if there is one;
    /// else begins a new one.
    ScheduleAnswers(std::filesystem::path file, std::string failure, std::size_t repeat, bool resume);

    std::optional<ScheduleAnswer> find(const Keys& left_out) const;
    /// Throws Error where the file cannot be written.
    void add(const Keys& left_out, const ScheduleAnswer& answer);

  private:
    std::filesystem::path file_;
    std::string failure_;
    std::size_t repeat_;
    std::map<Keys, ScheduleAnswer> known_;
};

}  // namespace whittle::reduce
