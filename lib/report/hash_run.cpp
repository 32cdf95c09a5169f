#include "report/hash_run.h"

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "ops/aten/capture.h"
#include "ops/core/registry.h"

namespace whittle::report {

namespace {

std::uint64_t mix(std::uint64_t key, std::string_view text) {
    for (const char c : text) key = (key ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
    return (key ^ text.size()) * 0x9e3779b97f4a7c15ull + 1;
}

/// Paths are another machine's, and lines move when a program is changed.
std::uint64_t key_of(const HashForm& form, const HashedProcess& process) {
    std::uint64_t key = mix(mix(0xcbf29ce484222325ull, form.op), form.under);
    if (!form.stack) return key;
    for (const StackFrame& frame : process.stacks[static_cast<std::size_t>(*form.stack)]) {
        key = mix(mix(key, std::filesystem::path(frame.file).filename().string()), frame.function);
        key = mix(key, frame.text.empty() ? std::to_string(frame.line) : frame.text);
    }
    return key;
}

/// "aten.add.Tensor" -> "aten::add".
std::string name_of(const std::string& target) {
    const auto dot = target.find('.');
    if (dot == std::string::npos) return target;
    return target.substr(0, dot) + "::" + target.substr(dot + 1, target.find('.', dot + 1) - dot - 1);
}

Passed passed_of(const HashForm& form) {
    const CaptureRole role = capture_role(name_of(form.op));
    if (role == CaptureRole::allocates || role == CaptureRole::resizes) return Passed::uninitialized;
    const RegisteredOp* const op = Registry::instance().op(form.op);
    return role == CaptureRole::draws || (op && op->def->random) ? Passed::random : Passed::none;
}

}  // namespace

HashRun::HashRun(const std::filesystem::path& folder, const HashedProcess& process)
    : process_(process), rows_(folder / process.rows, process.forms.size()), read_(std::size_t{rows_.size()} + 1) {
    for (const HashForm& form : process.forms) {
        keys_.push_back(key_of(form, process));
        passed_.push_back(form.is_operation() ? passed_of(form) : Passed::none);
    }
    for (std::uint32_t row = 1; row <= rows_.size(); ++row) {
        if (!rows_.row(row).form) continue;
        const HashForm& form = form_of_row(row);
        const auto operands = static_cast<std::uint32_t>(form.operands);
        const std::uint64_t last =
            std::uint64_t{row} +
            std::max<std::uint64_t>(form.results.size(), (std::uint64_t{operands} + kRowOperands - 1) / kRowOperands);
        if (last > std::uint64_t{rows_.size()} + 1)
            throw Error({(folder / process.rows).string(), {}},
                        "found only the first rows of an operation, expected " + std::to_string(last - row) + " rows");
        if (form.is_operation()) operations_.push_back(row);
        for (std::uint32_t i = 0; i < operands; ++i) read_[operand(row, i)] = true;
    }
}

std::vector<StackFrame> HashRun::stack(std::uint32_t position) const {
    const HashForm& of = form(position);
    return of.stack ? process_.stacks[static_cast<std::size_t>(*of.stack)] : std::vector<StackFrame>();
}

std::map<std::int64_t, std::vector<std::uint32_t>> HashRun::threads() const {
    std::map<std::int64_t, std::vector<std::uint32_t>> threads;
    for (std::uint32_t position = 0; position < size(); ++position) threads[form(position).thread].push_back(position);
    return threads;
}

std::uint32_t HashRun::owner(std::uint32_t row) const {
    while (!rows_.row(row).form) --row;
    return row;
}

const HashedValue& HashRun::value(std::uint32_t row) const {
    static const HashedValue unknown{.type = "unknown", .hashed = false};
    const std::uint32_t first = owner(row);
    const std::vector<HashedValue>& results = form_of_row(first).results;
    return row - first < results.size() ? results[row - first] : unknown;
}

bool HashRun::is_unwritten(std::uint32_t row) const {
    const std::uint32_t first = owner(row);
    if (passed_[rows_.row(first).form - 1] == Passed::uninitialized) return true;
    const bool is_value = form_of_row(first).is_value() && form_of_row(first).operands > 0;
    return is_value && operand(first, 0) && is_unwritten(operand(first, 0));
}

}  // namespace whittle::report
