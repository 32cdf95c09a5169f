#include "agreement.h"

#include <fnmatch.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "base/files.h"

namespace whittle::test {
namespace {

constexpr std::string_view kAspects[] = {"absent", "refused", "crashed",  "results", "dtype",
                                         "sizes",  "strides", "aliasing", "values",  "unspecified"};

std::string trimmed(std::string text) {
    const auto first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
    return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

struct Row {
    int line = 0;
    std::vector<std::string> cells;
};

/// Lines of cells between '|'; what begins with '#' is a comment. The last cell may hold '|'.
std::vector<Row> rows_of(const std::string& path, std::size_t columns) {
    std::vector<Row> rows;
    std::istringstream in(read_file(path));
    int number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        if (trimmed(line).empty() || line.front() == '#') continue;
        Row row{number, {}};
        std::size_t at = 0;
        while (row.cells.size() + 1 < columns) {
            const std::size_t bar = line.find('|', at);
            if (bar == std::string::npos) break;
            row.cells.push_back(trimmed(line.substr(at, bar - at)));
            at = bar + 1;
        }
        row.cells.push_back(trimmed(line.substr(at)));
        if (row.cells.size() != columns || std::ranges::find(row.cells, "") != row.cells.end())
            throw Error({path, "line " + std::to_string(number)},
                        "found " + std::to_string(row.cells.size()) + " columns, expected " + std::to_string(columns));
        rows.push_back(std::move(row));
    }
    return rows;
}

std::set<std::string> dtypes_of(const std::string& cell) {
    if (cell == "*") return {};
    std::istringstream in(cell);
    std::set<std::string> names;
    for (std::string word; in >> word;) {
        if (!dtype_from_name(word)) throw Error("found '" + word + "', expected a dtype");
        names.insert(word);
    }
    return names;
}

bool matches(const std::string& pattern, std::string_view text) {
    return ::fnmatch(pattern.c_str(), std::string(text).c_str(), 0) == 0;
}
bool matches(const std::set<std::string>& dtypes, DType dtype) {
    return dtypes.empty() || dtypes.contains(std::string(name(dtype)));
}
bool matches(const Exception& line, const Case& tried) {
    return matches(line.op, tried.op) && matches(line.dtypes, tried.dtype) &&
           std::ranges::any_of(line.samples, [&](const std::string& sample) { return matches(sample, tried.sample); });
}

std::vector<std::string> samples_of(const std::string& cell) {
    std::vector<std::string> samples;
    std::size_t at = 0;
    for (std::size_t end; (end = cell.find(" ; ", at)) != std::string::npos; at = end + 3)
        samples.push_back(cell.substr(at, end - at));
    samples.push_back(cell.substr(at));
    return samples;
}

}  // namespace

std::string_view name(Aspect aspect) { return kAspects[static_cast<std::size_t>(aspect)]; }

Exceptions::Exceptions(const std::string& path) {
    for (const Row& row : rows_of(path, 5)) {
        const auto aspect = std::ranges::find(kAspects, row.cells[3]);
        if (aspect == std::end(kAspects))
            throw Error({path, "line " + std::to_string(row.line)}, "found the aspect '" + row.cells[3] + "'");
        lines_.push_back({.line = row.line,
                          .op = row.cells[0],
                          .reason = row.cells[4],
                          .samples = samples_of(row.cells[2]),
                          .dtypes = dtypes_of(row.cells[1]),
                          .aspect = static_cast<Aspect>(aspect - std::begin(kAspects))});
    }
}

bool Exceptions::crashes(const Case& tried) const {
    return std::ranges::any_of(
        lines_, [&](const Exception& line) { return line.aspect == Aspect::crashed && matches(line, tried); });
}

std::vector<std::string> Exceptions::judge(const Case& tried, const std::vector<Disagreement>& found) {
    std::vector<std::string> problems;
    std::set<Aspect> known;
    for (Exception& line : lines_) {
        if (!matches(line, tried)) continue;
        line.used = true;
        if (line.aspect == Aspect::unspecified) {
            known.insert(Aspect::values);
            continue;
        }
        known.insert(line.aspect);
        if (std::ranges::find(found, line.aspect, &Disagreement::aspect) == found.end())
            problems.push_back("agrees in its " + std::string(name(line.aspect)) + " though line " +
                               std::to_string(line.line) + " of test/known-failing/libtorch.txt says: " + line.reason);
    }
    for (const Disagreement& one : found)
        if (!known.contains(one.aspect)) problems.push_back(std::string(name(one.aspect)) + ": " + one.description);
    return problems;
}

std::vector<std::string> Exceptions::unused(std::string_view op) const {
    std::vector<std::string> result;
    for (const Exception& line : lines_)
        if (!line.used && line.op == op) result.push_back("line " + std::to_string(line.line) + ": " + line.op);
    return result;
}

NearnessTable::NearnessTable(const std::string& path) {
    for (const Row& row : rows_of(path, 3)) {
        std::istringstream in(row.cells[2]);
        Line line{row.cells[0], dtypes_of(row.cells[1]), {}};
        std::string rest;
        line.nearness.unspecified = row.cells[2] == "unspecified";
        if (line.nearness.unspecified) {
            lines_.push_back(std::move(line));
            continue;
        }
        in >> line.nearness.ulp;
        std::getline(in, rest);
        line.nearness.of_largest = trimmed(rest) == "of largest";
        if (trimmed(rest) == "absolute") std::swap(line.nearness.absolute, line.nearness.ulp);
        if (!in.eof() || (!trimmed(rest).empty() && !line.nearness.of_largest && line.nearness.absolute == 0))
            throw Error({path, "line " + std::to_string(row.line)}, "found '" + row.cells[2] + "'");
        lines_.push_back(std::move(line));
    }
}

Nearness NearnessTable::of(std::string_view op, DType dtype) const {
    Nearness result;
    for (const Line& line : lines_)
        if (matches(line.op, op) && matches(line.dtypes, dtype)) result = line.nearness;
    return result;
}

}  // namespace whittle::test
