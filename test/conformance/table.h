// What the models say of each op.
#pragma once

#include <array>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "judge.h"

namespace whittle::conformance {

/// One model on one backend, as a line: what processes that share the work tell each other.
struct Report {
    std::string model, backend;
    std::vector<std::string> ops;
    Judged judged;
};
std::string to_line(const Report& report);
/// Throws Error for what is no such line.
Report report_from_line(const std::string& line);

/// For each op the models that have it and, for each backend, how many of these pass, are wrong …; a model counts for
/// each of its ops, and once in the last line.
void print_table(std::ostream& out, const std::vector<Report>& reports);

}  // namespace whittle::conformance
