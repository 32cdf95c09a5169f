#include "agreement.h"

#include <sys/wait.h>
#include <unistd.h>

#include <fnmatch.h>

#include <algorithm>
#include <csignal>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "ops/samples/sample.h"

namespace whittle::test {
namespace {

constexpr std::string_view kAspects[] = {"absent",  "refused",  "crashed", "results",     "dtype", "sizes",
                                         "strides", "aliasing", "values",  "unspecified", "layout"};

std::string trimmed(std::string text) {
    const auto first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
    return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

struct Row {
    int line = 0;
    std::vector<std::string> cells;
};

/// The file's lines that count, with their numbers; one that begins with a space continues the one
/// before. What begins with '#' is a comment.
std::vector<std::pair<int, std::string>> lines_of(const std::string& path, VersionSections sections) {
    std::vector<std::pair<int, std::string>> lines;
    std::istringstream in(read_file(path));
    int number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        if (trimmed(line).empty() || line.front() == '#' || !sections.counts(line)) continue;
        if (line.front() == ' ' && !lines.empty())
            lines.back().second += ' ' + trimmed(line);
        else
            lines.emplace_back(number, line);
    }
    return lines;
}

/// Cells between '|'. The last cell may hold '|'.
std::vector<Row> rows_of(const std::string& path, std::size_t columns, const VersionSections& sections) {
    std::vector<Row> rows;
    for (const auto& [number, line] : lines_of(path, sections)) {
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

std::vector<std::string> words_of(const std::string& cell) {
    std::istringstream in(cell);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
}

std::set<std::string> dtypes_of(const std::string& cell) {
    if (cell == "*") return {};
    std::set<std::string> names;
    for (const std::string& word : words_of(cell)) {
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
/// The op's name in lines of exceptions.
std::string short_name(std::string_view op) {
    constexpr std::string_view kDialect = "aten.", kDefault = ".default";
    if (op.starts_with(kDialect)) op.remove_prefix(kDialect.size());
    if (op.ends_with(kDefault)) op.remove_suffix(kDefault.size());
    return std::string(op);
}

bool matches(const std::vector<std::string>& patterns, std::string_view text) {
    return std::ranges::any_of(patterns, [&](const std::string& pattern) { return matches(pattern, text); });
}
bool matches(const Exception& line, const Case& tried) {
    return matches(line.ops, short_name(tried.op)) && matches(line.dtypes, tried.dtype) &&
           matches(line.samples, tried.sample);
}

/// What the line says of `tried` is of use.
void use(Exception& line, const Case& tried) {
    line.used.emplace(short_name(tried.op), name(tried.dtype));
    for (const std::string& sample : line.samples)
        if (matches(sample, tried.sample)) line.used.emplace(short_name(tried.op), sample);
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

bool Exception::fits(const Disagreement& found) const {
    return found.aspect == aspect && found.description.find(refusal) != std::string::npos;
}

Exceptions::Exceptions(const std::string& path, const VersionSections& sections) : path_(path) {
    for (const Row& row : rows_of(path, 5, sections)) {
        const auto aspect = std::ranges::find(kAspects, row.cells[3]);
        if (aspect == std::end(kAspects))
            throw Error({path, "line " + std::to_string(row.line)}, "found the aspect '" + row.cells[3] + "'");
        Exception line{.line = row.line,
                       .ops = words_of(row.cells[0]),
                       .samples = samples_of(row.cells[2]),
                       .dtypes = dtypes_of(row.cells[1]),
                       .aspect = static_cast<Aspect>(aspect - std::begin(kAspects)),
                       .refusal = {},
                       .reason = row.cells[4]};
        const std::size_t quote = line.reason.find('"', 1);
        const bool may_quote = line.aspect == Aspect::refused || line.aspect == Aspect::unspecified;
        if (may_quote && line.reason.front() == '"' && quote != std::string::npos)
            line.refusal = line.reason.substr(1, quote - 1);
        lines_.push_back(std::move(line));
    }
}

bool Exceptions::crashes(const Case& tried) const {
    return std::ranges::any_of(
        lines_, [&](const Exception& line) { return line.aspect == Aspect::crashed && matches(line, tried); });
}

bool Exceptions::differs(const Case& tried) const {
    return std::ranges::any_of(lines_, [&](const Exception& line) {
        const bool of_values = line.aspect == Aspect::values || line.aspect == Aspect::unspecified ||
                               line.aspect == Aspect::sizes || line.aspect == Aspect::crashed;
        return of_values && matches(line, tried);
    });
}

std::vector<std::string> Exceptions::judge(const Case& tried, const std::vector<Disagreement>& found) {
    std::vector<std::string> problems;
    std::vector<bool> known(found.size());
    for (Exception& line : lines_) {
        if (!matches(line, tried)) continue;
        const bool unspecified = line.aspect == Aspect::unspecified || line.aspect == Aspect::layout;
        const Aspect may_differ = line.aspect == Aspect::layout ? Aspect::strides : Aspect::values;
        bool fits = false;
        for (std::size_t i = 0; i < found.size(); ++i) {
            const bool unreadable = !line.refusal.empty() && found[i].aspect == Aspect::refused &&
                                    found[i].description.find(line.refusal) != std::string::npos;
            const bool same = unspecified ? found[i].aspect == may_differ || unreadable : line.fits(found[i]);
            fits = fits || same;
            known[i] = known[i] || same;
        }
        if (fits || unspecified) use(line, tried);
        if (!fits && !unspecified && line.refusal.empty())
            problems.push_back("agrees in its " + std::string(name(line.aspect)) + " though line " +
                               std::to_string(line.line) + " of " + path_ + " says: " + line.reason);
    }
    for (std::size_t i = 0; i < found.size(); ++i)
        if (!known[i]) problems.push_back(std::string(name(found[i].aspect)) + ": " + found[i].description);
    return problems;
}

std::string_view Exceptions::listed(const RegisteredOp& op) const {
    const bool own = std::ranges::any_of(
        lines_, [&](const Exception& line) { return std::ranges::count(line.ops, short_name(op.name)) > 0; });
    return own ? op.name : op.record();
}

std::vector<std::string> Exceptions::unused(std::string_view op) const {
    std::vector<std::string> result;
    const std::string which = short_name(op);
    for (const Exception& line : lines_) {
        if (!matches(line.ops, which)) continue;
        std::vector<std::string> needed(line.samples);
        needed.insert(needed.end(), line.dtypes.begin(), line.dtypes.end());
        for (const std::string& what : needed)
            if (!line.used.contains({which, what}))
                result.push_back("line " + std::to_string(line.line) + ": " + which + " '" + what + "'");
    }
    return result;
}

std::vector<std::string> Exceptions::unknown(const std::vector<std::string>& ops) const {
    std::vector<std::string> result;
    for (const Exception& line : lines_)
        for (const std::string& pattern : line.ops)
            if (std::ranges::none_of(ops, [&](const std::string& op) { return matches(pattern, short_name(op)); }))
                result.push_back("line " + std::to_string(line.line) + ": " + pattern);
    return result;
}

std::vector<Disagreement> crash(const std::function<void()>& f) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::signal(SIGFPE, SIG_DFL);  // Catch's own handler would report it
        ::signal(SIGSEGV, SIG_DFL);
        f();
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (!WIFSIGNALED(status)) return {};
    return {{Aspect::crashed, "LibTorch ended by signal " + std::to_string(WTERMSIG(status))}};
}

bool beyond_libtorch(const Sample& sample) {
    const auto stored = [](const Arg& arg) {
        const DType* dtype = std::get_if<DType>(&arg.value);
        return dtype && !is_computed(*dtype);
    };
    return std::ranges::any_of(sample.tensors, [](const Tensor& tensor) { return !is_computed(tensor.dtype()); }) ||
           std::ranges::any_of(sample.args, stored) ||
           std::ranges::any_of(sample.kwargs, [&](const auto& kwarg) { return stored(kwarg.second); });
}

NearnessTable::NearnessTable(const std::string& path, const VersionSections& sections) {
    for (const Row& row : rows_of(path, 3, sections)) {
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
