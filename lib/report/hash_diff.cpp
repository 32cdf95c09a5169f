#include "report/hash_diff.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "base/words.h"
#include "report/hash_align.h"
#include "report/hash_judge.h"
#include "report/hash_run.h"

namespace whittle::report {
namespace fs = std::filesystem;

namespace {

using Pair = std::pair<std::uint32_t, std::uint32_t>;  ///< positions

std::string hex(std::uint64_t hash) {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
    return text;
}

HashedDifference difference(std::size_t position, const std::string& value, const HashRow& before,
                            const HashRow& after) {
    return {.position = static_cast<std::int64_t>(position),
            .value = value,
            .before = hex(before.hash),
            .after = hex(after.hash),
            .sum_before = before.sum,
            .sum_after = after.sum,
            .absolute_before = before.absolute,
            .absolute_after = after.absolute,
            .largest_before = before.largest,
            .largest_after = after.largest,
            .nans_before = before.nans,
            .nans_after = after.nans};
}

class Comparison {
  public:
    Comparison(const HashRun& before, const HashRun& after) : before_(before), after_(after) {}

    ProcessDiff compare() {
        result_.command = after_.process().command;
        result_.operations_before = before_.size();
        result_.operations_after = after_.size();
        for (const HashRun* run : {&before_, &after_})
            for (const std::string& note : run->process().notes) add_once(result_.notes, note);
        align_threads();
        std::ranges::sort(pairs_);
        result_.aligned = static_cast<std::int64_t>(pairs_.size());
        for (const Pair& pair : pairs_) look_at(pair);
        // Once the runs have parted, what the program reads back differs, too: running statistics, arrays of NumPy.
        if (result_.input && result_.bits && result_.bits->after < result_.input->after) result_.input.reset();
        for (const auto& [known, passed] : passed_over_) result_.passed_over.push_back(passed);
        result_.not_judged_ops.assign(not_judged_.begin(), not_judged_.end());
        return std::move(result_);
    }

  private:
    // ---- Which operation is which

    void align_threads() {
        counterparts_.resize(after_.rows() + 1);
        const auto before = before_.threads(), after = after_.threads();
        static const std::vector<std::uint32_t> kNone;
        for (const auto& [thread, positions] : before) {
            const auto other = after.find(thread);
            align_thread(positions, other == after.end() ? kNone : other->second);
        }
        for (const auto& [thread, positions] : after)
            if (!before.contains(thread)) align_thread(kNone, positions);
        match_by_dataflow();
    }

    static std::vector<std::uint64_t> keys(const HashRun& run, const std::vector<std::uint32_t>& positions) {
        std::vector<std::uint64_t> keys;
        for (const std::uint32_t position : positions) keys.push_back(run.key(position));
        return keys;
    }

    void align_thread(const std::vector<std::uint32_t>& before, const std::vector<std::uint32_t>& after) {
        std::size_t i = 0, k = 0;
        const auto leave_out = [&](std::size_t first, std::size_t second) {
            alone_before_.insert(alone_before_.end(), before.begin() + at(i), before.begin() + at(first));
            alone_after_.insert(alone_after_.end(), after.begin() + at(k), after.begin() + at(second));
        };
        for (const auto& [first, second] : align(keys(before_, before), keys(after_, after))) {
            leave_out(first, second);
            add(before[first], after[second]);
            i = first + 1;
            k = second + 1;
        }
        leave_out(before.size(), after.size());
    }
    static std::ptrdiff_t at(std::size_t position) { return static_cast<std::ptrdiff_t>(position); }

    void add(std::uint32_t before, std::uint32_t after) {
        pairs_.emplace_back(before, after);
        const std::size_t results = std::min(before_.form(before).results.size(), after_.form(after).results.size());
        for (std::uint32_t i = 0; i < results; ++i) counterparts_[after_.row(after) + i] = before_.row(before) + i;
    }

    /// Operations of one place that read the same results, or inputs with the same elements, are the same, in whatever
    /// order they run.
    void match_by_dataflow() {
        std::ranges::sort(alone_before_);
        std::ranges::sort(alone_after_);
        std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> known;
        for (auto position = alone_before_.rbegin(); position != alone_before_.rend(); ++position)
            known[flow_key(before_, *position, [](std::uint32_t row) { return row; })].push_back(*position);
        std::set<std::uint32_t> matched;
        for (const std::uint32_t position : alone_after_) {
            const auto same =
                known.find(flow_key(after_, position, [this](std::uint32_t row) { return counterparts_[row]; }));
            if (same == known.end() || same->second.empty()) {
                count_one_sided(after_, position, result_.added, result_.added_count, false);
                continue;
            }
            matched.insert(same->second.back());
            add(same->second.back(), position);
            same->second.pop_back();
        }
        for (const std::uint32_t position : alone_before_)
            if (!matched.contains(position)) count_one_sided(before_, position, result_.gone, result_.gone_count, true);
    }

    template <class Counterpart>
    static std::uint64_t flow_key(const HashRun& run, std::uint32_t position, Counterpart&& counterpart) {
        std::uint64_t key = run.key(position);
        const std::uint32_t row = run.row(position);
        for (std::uint32_t i = 0; i < run.form(position).operands; ++i) {
            const std::uint32_t operand = run.operand(row, i);
            const bool value = operand && run.form_of_row(run.owner(operand)).is_value();
            key = (key ^ (value ? run.at(operand).hash : operand ? counterpart(operand) : 0)) * 0x9e3779b97f4a7c15ull;
            key ^= key >> 32;
        }
        return key;
    }

    void count_one_sided(const HashRun& run, std::uint32_t position, std::optional<DifferingOperation>& first,
                         std::int64_t& count, bool is_before) {
        ++count;
        const std::int64_t number = std::int64_t{position} + 1;
        if (first && (is_before ? first->before : first->after) <= number) return;
        first = described(run, position);
        (is_before ? first->before : first->after) = number;
    }

    // ---- What differs

    static DifferingOperation described(const HashRun& run, std::uint32_t position) {
        const HashForm& form = run.form(position);
        return {.op = form.op, .under = form.under, .arguments = form.arguments, .stack = run.stack(position)};
    }
    DifferingOperation described(const Pair& pair) const {
        DifferingOperation both = described(after_, pair.second);
        both.before = std::int64_t{pair.first} + 1;
        both.after = std::int64_t{pair.second} + 1;
        if (before_.form(pair.first).arguments != both.arguments)
            both.arguments_before = before_.form(pair.first).arguments;
        return both;
    }

    BothRows rows(std::uint32_t before, std::uint32_t after) const {
        return {&before_.at(before), &after_.at(after), after_.value(after)};
    }

    /// Notes why results of the operation may differ.
    void pass_over(const Pair& pair, const char* why) {
        const HashForm& form = after_.form(pair.second);
        PassedOver& passed = passed_over_[{why, form.op, form.stack.value_or(-1)}];
        if (passed.count++ == 0) passed = {.op = form.op, .why = why, .stack = after_.stack(pair.second), .count = 1};
    }

    struct Operands {
        std::vector<BothRows> both;
        bool known = true, same = true;
        std::optional<std::size_t> input;  ///< the first that no operation made, and that differs
        bool unwritten = false;
    };
    Operands operands_of(const Pair& pair) const {
        Operands all;
        const auto count = static_cast<std::uint32_t>(after_.form(pair.second).operands);
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint32_t before = before_.operand(before_.row(pair.first), i),
                                after = after_.operand(after_.row(pair.second), i);
            if (!before || !after) {
                all.known = false;
                continue;
            }
            all.both.push_back(rows(before, after));
            if (all.both.back().same()) continue;
            all.same = false;
            if (before_.is_unwritten(before) || after_.is_unwritten(after))
                all.unwritten = true;
            else if (!all.input && before_.is_input(before) && after_.is_input(after))
                all.input = i;
        }
        return all;
    }

    /// Results that differ and that something reads.
    std::vector<std::size_t> differing_results(const Pair& pair) {
        const std::vector<HashedValue>& results = after_.form(pair.second).results;
        std::vector<std::size_t> differing;
        bool unread = false;
        for (std::size_t i = 0; i < results.size(); ++i) {
            const auto place = static_cast<std::uint32_t>(i);
            const std::uint32_t before = before_.row(pair.first) + place, after = after_.row(pair.second) + place;
            if (!results[i].hashed || rows(before, after).same()) continue;
            const bool read = before_.is_read(before) || after_.is_read(after);
            unread |= !read;
            if (read || !after_.value(after).is_tensor()) differing.push_back(i);
        }
        if (differing.empty() && unread) pass_over(pair, "not_read");
        return differing;
    }

    void look_at(const Pair& pair) {
        const HashForm &before = before_.form(pair.first), &after = after_.form(pair.second);
        if (before.operands != after.operands || before.results != after.results ||
            before.arguments != after.arguments) {
            if (!result_.called) result_.called = described(pair);
            ++result_.differing;
            return;
        }
        const Operands operands = operands_of(pair);
        if (operands.input && !result_.input) {
            const std::size_t i = *operands.input;
            result_.input = described(pair);
            const auto place = static_cast<std::uint32_t>(i);
            const std::uint32_t row = after_.operand(after_.row(pair.second), place);
            result_.input->differences.push_back(difference(i, after_.value(row).text(),
                                                            before_.at(before_.operand(before_.row(pair.first), place)),
                                                            after_.at(row)));
        }
        const std::vector<std::size_t> differing = differing_results(pair);
        if (differing.empty()) return;
        if (after_.passed(pair.second) == Passed::random) return pass_over(pair, "random");
        if (operands.unwritten || after_.passed(pair.second) == Passed::uninitialized)
            return pass_over(pair, "uninitialized");
        ++result_.differing;
        if (!operands.known) return;
        const bool first = operands.same && !result_.bits;
        if (!first && result_.beyond) return;
        judge(pair, operands, differing, first);
    }

    void judge(const Pair& pair, const Operands& operands, const std::vector<std::size_t>& differing, bool first) {
        DifferingOperation found = described(pair);
        HashJudgement worst{.verdict = HashJudgement::Verdict::within};
        for (const std::size_t i : differing) {
            const auto place = static_cast<std::uint32_t>(i);
            const BothRows both = rows(before_.row(pair.first) + place, after_.row(pair.second) + place);
            found.differences.push_back(difference(i, both.value.text(), *both.before, *both.after));
            const HashJudgement judged = judge_hashes(found.op, operands.both, both);
            const bool worse = judged.verdict == HashJudgement::Verdict::beyond
                                   ? worst.verdict != judged.verdict || judged.moved > worst.moved
                                   : worst.verdict == HashJudgement::Verdict::within;
            if (worse) worst = judged;
        }
        using enum HashJudgement::Verdict;
        found.verdict = worst.verdict == within   ? "within_rounding"
                        : worst.verdict == beyond ? "beyond_rounding"
                                                  : "not_judged";
        found.why = worst.why;
        found.moved = worst.moved;
        found.allowed = worst.allowed;
        if (worst.verdict == not_judged && !worst.carried) {
            ++result_.not_judged;
            not_judged_.insert(found.op);
        }
        if (worst.verdict == beyond && !result_.beyond) result_.beyond = found;
        if (first) result_.bits = std::move(found);
    }

    const HashRun &before_, &after_;
    ProcessDiff result_;
    std::vector<Pair> pairs_;
    std::vector<std::uint32_t> alone_before_, alone_after_;  ///< positions without a counterpart so far
    std::vector<std::uint32_t> counterparts_;                ///< of the second run's rows, 0: none
    std::map<std::tuple<std::string, std::string, std::int64_t>, PassedOver> passed_over_;
    std::set<std::string> not_judged_;
};

std::vector<VariableDiff> variable_diffs(const HashIndex& before, const HashIndex& after) {
    std::map<std::string, VariableDiff> all;
    for (const auto& [name, value] : before.variables) all[name] = {.name = name, .before = value};
    for (const auto& [name, value] : after.variables) {
        all[name].name = name;
        all[name].after = value;
    }
    std::vector<VariableDiff> differing;
    for (const auto& [name, one] : all)
        if (one.before != one.after) differing.push_back(one);
    return differing;
}

}  // namespace

bool HashDiff::same() const {
    return processes_before == processes_after && std::ranges::all_of(processes, &ProcessDiff::same);
}

HashDiff diff_hashes(const fs::path& before, const fs::path& after) {
    const HashIndex first = load_hashes(before), second = load_hashes(after);
    HashDiff diff{.before = before.string(),
                  .after = after.string(),
                  .variables = variable_diffs(first, second),
                  .processes_before = static_cast<std::int64_t>(first.processes.size()),
                  .processes_after = static_cast<std::int64_t>(second.processes.size())};
    for (std::size_t i = 0; i < std::min(first.processes.size(), second.processes.size()); ++i) {
        const HashRun one(before, first.processes[i]), other(after, second.processes[i]);
        diff.processes.push_back(Comparison(one, other).compare());
    }
    return diff;
}

}  // namespace whittle::report
