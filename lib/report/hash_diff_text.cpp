#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/number_text.h"
#include "base/words.h"
#include "formats/fields.h"
#include "graph/text.h"
#include "report/hash_diff.h"
#include "report/text_parts.h"

namespace whittle::report {

namespace {

constexpr std::size_t kFrames = 3, kRowsOfADiff = 10;  // shown without verbose

class HashText {
  public:
    explicit HashText(const TextOptions& options) : options_(options) {}

    std::string all(const HashDiff& diff) {
        text_ = diff.before + " -> " + diff.after + ": " + summary(diff) + "\n";
        for (const VariableDiff& one : diff.variables)
            text_ += "  ~ " + one.name + " is " + (one.after.empty() ? "not set" : one.after) + ", was " +
                     (one.before.empty() ? "not set" : one.before) + "\n";
        for (std::size_t i = 0; i < diff.processes.size(); ++i) {
            if (diff.processes.size() > 1)
                text_ += "\nProcess " + std::to_string(i + 1) + ": " + diff.processes[i].command + "\n";
            process(diff.processes[i]);
        }
        return text_;
    }

  private:
    static std::string summary(const HashDiff& diff) {
        std::int64_t operations = 0, differing = 0, gone = 0, added = 0;
        for (const ProcessDiff& process : diff.processes) {
            operations += process.aligned;
            differing += process.differing;
            gone += process.gone_count;
            added += process.added_count;
        }
        if (diff.processes.empty()) return "no operation was recorded";
        if (diff.same() && differing == 0) return "no difference in " + plural(operations, "operation");
        std::vector<std::string> parts{std::to_string(differing) + " of " + plural(operations, "operation") +
                                       (differing == 1 ? " differs" : " differ")};
        if (gone) parts.push_back(plural(gone, "operation is gone", "operations are gone"));
        if (added) parts.push_back(plural(added, "operation is new", "operations are new"));
        if (diff.processes_before != diff.processes_after)
            parts.push_back(plural(diff.processes_after, "process", "processes") + ", was " +
                            std::to_string(diff.processes_before));
        return join(parts);
    }

    void process(const ProcessDiff& diff) {
        found("First input that differs", diff.input);
        found("First operation that is called with other arguments", diff.called);
        found("First operation with equal operands and different bits in the result", diff.bits);
        if (diff.beyond && diff.bits && diff.beyond->after == diff.bits->after)
            text_ += "\nThis operation is also the first whose result differs by more than rounding.\n";
        else
            found("First operation whose result differs by more than rounding", diff.beyond);
        if (diff.differing && !diff.beyond)
            text_ += "\nNo operation was found whose result differs by more than rounding.\n";
        if (diff.not_judged)
            text_ += (diff.beyond ? "\n" : "") + std::string("Not judged: ") + plural(diff.not_judged, "operation") +
                     " (" + join(diff.not_judged_ops) + ")\n";
        one_sided("Operations that are gone", '-', diff.gone, diff.gone_count);
        one_sided("Operations that are new", '+', diff.added, diff.added_count);
        passed_over(diff.passed_over);
        for (const std::string& note : diff.notes) text_ += "note: " + note + "\n";
    }

    static std::string called(const DifferingOperation& operation) {
        return operation.op + "(" + operation.arguments + ")" +
               (operation.under.empty() ? "" : " of " + operation.under);
    }
    void heading(const std::string& words) { text_ += "\n" + Painter(options_).bold(words) + ":\n"; }

    void places(const std::vector<StackFrame>& stack, std::size_t blanks) {
        const std::size_t shown = shown_of(stack.size(), kFrames, options_);
        for (std::size_t i = 0; i < shown; ++i) text_ += std::string(blanks, ' ') + place_line(stack[i]) + "\n";
        text_ += rest_text(blanks, stack.size(), shown);
    }

    void found(const std::string& words, const std::optional<DifferingOperation>& operation) {
        if (!operation) return;
        heading(words);
        text_ += "  operation " + std::to_string(operation->after) +
                 (operation->before == operation->after ? "" : ", was " + std::to_string(operation->before)) + ": " +
                 called(*operation) + "\n";
        if (!operation->arguments_before.empty()) text_ += "    was: " + operation->arguments_before + "\n";
        places(operation->stack, 4);
        const std::string what = operation->verdict.empty() ? "operand " : "result ";
        for (const HashedDifference& one : operation->differences)
            text_ += "    " + what + std::to_string(one.position) + ": " + one.value + " " + numbers(one) + "\n";
        if (!operation->verdict.empty()) text_ += "    " + verdict(*operation) + "\n";
    }

    static std::string numbers(const HashedDifference& one) {
        std::vector<std::string> parts;
        const auto part = [&](const char* name, const std::string& after, const std::string& before) {
            if (before != after) parts.push_back(std::string(name) + " " + after + ", was " + before);
        };
        if (one.value.find('[') == std::string::npos || one.value.ends_with("[]")) {  // all of them are the number
            part("is", shortest(one.sum_after), shortest(one.sum_before));
            part("NaNs", std::to_string(one.nans_after), std::to_string(one.nans_before));
            return parts.empty() ? "has different bits" : join(parts, "; ");
        }
        part("sum", shortest(one.sum_after), shortest(one.sum_before));
        part("sum of magnitudes", shortest(one.absolute_after), shortest(one.absolute_before));
        part("largest", shortest(one.largest_after), shortest(one.largest_before));
        part("NaNs", std::to_string(one.nans_after), std::to_string(one.nans_before));
        return parts.empty() ? "has different bits, but the same sums" : join(parts, "; ");
    }

    static std::string verdict(const DifferingOperation& operation) {
        if (operation.verdict == "not_judged") return "not judged: " + operation.why;
        const std::string moved = significant(operation.moved, 2);
        if (operation.allowed == 0) return "beyond rounding: the op does not round";
        return (operation.verdict == "within_rounding" ? "within rounding: the sums differ by "
                                                       : "beyond rounding: the sums differ by ") +
               moved + " of the sum of magnitudes; rounding explains up to " + significant(operation.allowed, 2);
    }

    void one_sided(const std::string& words, char sign, const std::optional<DifferingOperation>& first,
                   std::int64_t count) {
        if (!first) return;
        heading(words);
        text_ += std::string("  ") + sign + " operation " + std::to_string(sign == '-' ? first->before : first->after) +
                 ": " + called(*first) + "\n";
        places(first->stack, 4);
        if (count > 1) text_ += "    and " + std::to_string(count - 1) + " more\n";
    }

    void passed_over(const std::vector<PassedOver>& all) {
        if (all.empty()) return;
        heading("Ignored differences");
        const std::size_t shown = shown_of(all.size(), kRowsOfADiff, options_);
        for (std::size_t i = 0; i < shown; ++i) {
            const PassedOver& one = all[i];
            const std::string why = one.why == "not_read" ? "nothing reads the result" : "the result is " + one.why;
            text_ += "  " + one.op + (one.stack.empty() ? "" : " at " + place_line(one.stack[0])) + ": " + why + " (" +
                     plural(one.count, "time") + ")\n";
        }
        text_ += rest_text(2, all.size(), shown);
    }

    const TextOptions& options_;
    std::string text_ = {};
};

}  // namespace

std::string to_text(const HashDiff& diff, const TextOptions& options) { return HashText(options).all(diff); }

nlohmann::json to_json(const HashDiff& diff) { return report_json(diff); }

nlohmann::ordered_json hash_diff_output_schema() {
    return report_schema<HashDiff>("What explain diff --values --json prints",
                                   "The differences between two recordings of hashes. More members may be added.");
}

}  // namespace whittle::report
