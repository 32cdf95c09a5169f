// Why two runs of a program differ: two recordings of hashes, aligned by place and by which result feeds which operand,
// and the operations at which they part (trace --hashes, explain diff --values).
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "capture/hash_index.h"
#include "formats/shared_fields.h"
#include "report/show.h"

namespace whittle::report {

/// A result or an operand in both runs.
struct HashedDifference {
    static constexpr const char* kName = "hashed_difference";
    std::int64_t position = 0;
    std::string value = {}, before = {}, after = {};
    double sum_before = 0, sum_after = 0, absolute_before = 0, absolute_after = 0, largest_before = 0,
           largest_after = 0;
    std::int64_t nans_before = 0, nans_after = 0;

    static void fields(auto& field) {
        using Self = HashedDifference;
        field("position", &Self::position, "The position among the results or operands, from 0.", Count{});
        field("value", &Self::value, "The type, as in: f32[2, 3]");
        field("before", &Self::before, "The hash of the elements, in hexadecimal digits.");
        field("after", &Self::after, "");
        field("sum_before", &Self::sum_before, "The sum of the elements.");
        field("sum_after", &Self::sum_after, "");
        field("absolute_before", &Self::absolute_before, "The sum of the magnitudes.");
        field("absolute_after", &Self::absolute_after, "");
        field("largest_before", &Self::largest_before, "The largest magnitude.");
        field("largest_after", &Self::largest_after, "");
        field("nans_before", &Self::nans_before, "The number of NaNs.", Count{});
        field("nans_after", &Self::nans_after, "", Count{});
    }
};

/// An operation of both runs, or of one.
struct DifferingOperation {
    static constexpr const char* kName = "differing_operation";
    std::string op = {}, under = {}, arguments = {}, arguments_before = {};
    std::int64_t before = 0, after = 0;  ///< its number in that run, 0: it is not there
    std::vector<StackFrame> stack = {};
    std::vector<HashedDifference> differences = {};
    std::string verdict = {}, why = {};
    double moved = 0, allowed = 0;

    static void fields(auto& field) {
        using Self = DifferingOperation;
        field("op", &Self::op, "");
        field.maybe("under", &Self::under, "The node of the backward pass that called the operation.");
        field("arguments", &Self::arguments, "The types of the arguments, as in: f32[2, 3], f32[3], 1");
        field.maybe("arguments_before", &Self::arguments_before,
                    "The types of the arguments in the first run, if different.");
        field("before", &Self::before,
              "The number of the operation in the first run, from 1; 0 if the first run does not have the operation.",
              Count{});
        field("after", &Self::after,
              "The number of the operation in the second run, from 1; 0 if the second run does not have the operation.",
              Count{});
        field("stack", &Self::stack, "The user's stack, innermost frame first.");
        field.maybe("differences", &Self::differences, "Results that differ, or the operand that differs.");
        field.maybe("verdict", &Self::verdict, "", OneOf{" within_rounding beyond_rounding not_judged"});
        field.maybe("why", &Self::why, "Why the operation is not judged.");
        field.maybe("moved", &Self::moved, "How far the sums differ, relative to the sum of the magnitudes.");
        field.maybe("allowed", &Self::allowed,
                    "How far rounding can move the sums, relative to the sum of the magnitudes.");
    }
};

/// Operations whose results may differ.
struct PassedOver {
    std::string op = {}, why = {};
    std::vector<StackFrame> stack = {};
    std::int64_t count = 0;

    static void fields(auto& field) {
        field("op", &PassedOver::op, "");
        field("why", &PassedOver::why, "", OneOf{"random uninitialized not_read"});
        field("stack", &PassedOver::stack, "The user's stack, innermost frame first.");
        field("count", &PassedOver::count, "The number of operations.", Count{});
    }
};

/// What one process did in both runs.
struct ProcessDiff {
    std::string command = {};
    std::int64_t operations_before = 0, operations_after = 0, aligned = 0, differing = 0;
    std::optional<DifferingOperation> input = {}, called = {}, bits = {}, beyond = {}, gone = {}, added = {};
    std::int64_t gone_count = 0, added_count = 0, not_judged = 0;
    std::vector<std::string> not_judged_ops = {}, notes = {};
    std::vector<PassedOver> passed_over = {};

    /// Results that may differ aside.
    bool same() const { return !input && !called && !bits && !beyond && gone_count + added_count == 0; }

    static void fields(auto& field) {
        using Self = ProcessDiff;
        field("command", &Self::command, "");
        field("same", &Self::same, "Whether there are only differences that are expected, such as random results.");
        field("operations_before", &Self::operations_before, "", Count{});
        field("operations_after", &Self::operations_after, "", Count{});
        field("aligned", &Self::aligned, "The number of operations that both runs have.", Count{});
        field("differing", &Self::differing, "The number of operations of both runs whose results differ.", Count{});
        field.maybe(
            "first_input", &Self::input,
            "The first operation that reads a different input: an operand that no recorded operation computed.");
        field.maybe("first_call", &Self::called, "The first operation that is called with other arguments.");
        field.maybe("first_in_bits", &Self::bits,
                    "The first operation whose operands agree, and whose result differs in its bits.");
        field.maybe("first_beyond_rounding", &Self::beyond,
                    "The first operation whose result differs by more than rounding.");
        field.maybe("first_gone", &Self::gone, "The first operation that only the first run has.");
        field("gone", &Self::gone_count, "The number of operations that only the first run has.", Count{});
        field.maybe("first_added", &Self::added, "The first operation that only the second run has.");
        field("added", &Self::added_count, "The number of operations that only the second run has.", Count{});
        field("not_judged", &Self::not_judged, "Operations that differ, and whose rounding error has no known bound.",
              Count{});
        field.maybe("not_judged_ops", &Self::not_judged_ops, "");
        field.maybe("passed_over", &Self::passed_over, "Operations whose results may differ.");
        field.maybe("notes", &Self::notes, "What could not be recorded.");
    }
};

/// An environment variable that differs; empty where it is not set.
struct VariableDiff {
    std::string name = {}, before = {}, after = {};
    static void fields(auto& field) {
        field("name", &VariableDiff::name, "");
        field("before", &VariableDiff::before, "");
        field("after", &VariableDiff::after, "");
    }
};

struct HashDiff {
    std::string before = {}, after = {};
    std::vector<VariableDiff> variables = {};
    std::int64_t processes_before = 0, processes_after = 0;
    std::vector<ProcessDiff> processes = {};

    bool same() const;

    static void fields(auto& field) {
        field("before", &HashDiff::before, "The folder of the first run.");
        field("after", &HashDiff::after, "The folder of the second run.");
        field("same", &HashDiff::same, "Whether there are only differences that are expected, such as random results.");
        field("variables", &HashDiff::variables, "Environment variables that differ.");
        field("processes_before", &HashDiff::processes_before, "", Count{});
        field("processes_after", &HashDiff::processes_after, "", Count{});
        field("processes", &HashDiff::processes,
              "The processes that both runs have, in the order in which they began.");
    }
};

/// Of two folders of trace --hashes. Throws Error for what cannot be read.
HashDiff diff_hashes(const std::filesystem::path& before, const std::filesystem::path& after);

std::string to_text(const HashDiff& diff, const TextOptions& options);
nlohmann::json to_json(const HashDiff& diff);
nlohmann::ordered_json hash_diff_output_schema();

}  // namespace whittle::report
