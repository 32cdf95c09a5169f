// Kernels that were judged one by one, as text and as JSON.
#include <algorithm>

#include "base/words.h"
#include "formats/shared_fields.h"
#include "report/divergence.h"
#include "report/text_parts.h"

namespace whittle {

template <>
struct Fields<KernelJudgement> {
    static void visit(auto& field) {
        field("kernel", &KernelJudgement::kernel, "");
        field.maybe("part", &KernelJudgement::part, "");
        field("nodes", &KernelJudgement::nodes, "");
        field(
            "line", [](const KernelJudgement& kernel) { return report::line_of(kernel.stack); }, "");
        field("code", &KernelJudgement::code, "");
        field("same_code", &KernelJudgement::same_code, "");
        field(
            "verdict", [](const KernelJudgement& kernel) { return name(kernel.verdict); }, "");
        field.maybe("reason", &KernelJudgement::reason, "");
    }
};

template <>
struct Fields<KernelJudgements> {
    static void visit(auto& field) {
        field(
            "arithmetic",
            [](const KernelJudgements& all) {
                return std::string(all.arithmetic == KernelArithmetic::ring ? "ring" : "floats");
            },
            "");
        field("optimized", &KernelJudgements::optimized, "");
        field("kernels", &KernelJudgements::kernels, "");
        field.maybe("no_kernels", &KernelJudgements::none, "");
        field.maybe("passes", &KernelJudgements::passes, "");
        field(
            "first_kernel",
            [](const KernelJudgements& all) {
                const KernelJudgement* const first = all.first_wrong();
                return first ? std::optional(first->kernel) : std::nullopt;
            },
            "", OrNull{});
    }
};

namespace report {
namespace {

constexpr std::size_t kShownKernels = 20, kKernelsBefore = 3,
                      kKernelsAfter = 3;  // kernels: where all are shown_kernels; else around the first
constexpr std::size_t kCodeDigits = 12;

std::string kernel_nodes_text(const KernelJudgement& kernel) {
    return join(
        kernel.nodes, [](const std::string& node) { return "%" + node; }, " ");
}

std::string kernel_called(const KernelJudgement& kernel) {
    return kernel.kernel + (kernel.part.empty() ? "" : " of " + kernel.part);
}

std::string kernel_code_text(const KernelJudgement& kernel) {
    if (kernel.code.empty()) return "";
    return kernel.code.substr(0, kCodeDigits) + (kernel.same_code ? " same" : "");
}

Row kernel_row(const KernelJudgement& kernel) {
    return {std::string(words(kernel.verdict)), kernel_called(kernel), kernel_code_text(kernel),
            kernel_nodes_text(kernel),          line_of(kernel.stack), kernel.reason};
}

/// Begin and end of those that the text has.
std::pair<std::size_t, std::size_t> shown_kernels(const KernelJudgements& all, const TextOptions& options) {
    const std::size_t count = all.kernels.size();
    if (options.verbose || count <= kShownKernels) return {0, count};
    const KernelJudgement* const first = all.first_wrong();
    if (!first) return {0, kShownKernels};
    const auto at = static_cast<std::size_t>(first - all.kernels.data());
    return {at > kKernelsBefore ? at - kKernelsBefore : 0, std::min(count, at + kKernelsAfter + 1)};
}

std::string kernels_summary(const KernelJudgements& all) {
    const auto count = [&](Verdict verdict) {
        return std::to_string(std::ranges::count(all.kernels, verdict, &KernelJudgement::verdict)) + " ";
    };
    const bool ring = all.arithmetic == KernelArithmetic::ring;
    const std::size_t kernels = all.kernels.size();
    std::string text =
        "kernels:     " +
        (all.optimized ? plural(kernels, "part", "parts") + " of the optimized model" : plural(kernels, "kernel")) +
        " judged " + (ring ? "in ring arithmetic" : "as compiled") + ", one by one: " + count(Verdict::fails) +
        "wrong, " + count(Verdict::right) + "right, " + count(Verdict::not_judged) + "not judged\n";
    if (const KernelJudgement* const first = all.first_wrong()) {
        const std::string line = line_of(first->stack);
        text += "first wrong: " + kernel_called(*first) + ": " + kernel_nodes_text(*first) +
                (line.empty() ? "" : "   # " + line) + "\n             " + first->reason + "\n";
    }
    return text;
}

/// Where the whole fails and no kernel does, as compiled.
std::string only_whole_text(const KernelJudgements& all, const std::string& command) {
    const bool all_judged = std::ranges::none_of(
        all.kernels, [](const KernelJudgement& kernel) { return kernel.verdict == Verdict::not_judged; });
    if (!all.passes.empty())
        return "             no kernel fails, but the graph that the kernels compute differs from the model: " +
               all.passes + "\n             a pass is wrong; to find the wrong pass: explain diagnose\n";
    const std::string unit = all.optimized ? "part" : "kernel";
    return "             " +
           (all_judged ? "only the whole graph fails: each " + unit + " alone computes what the reference computes"
                       : "no " + unit + " that could be judged fails") +
           "\n             to find the operations that fail together: " + command + "\n";
}

}  // namespace

std::string to_text(const KernelJudgements& all, const Outcome& whole, const std::string& command,
                    const TextOptions& options) {
    std::string text = whole_text(whole);
    if (!all.none.empty()) return text + "kernels:     not judged: " + all.none + "\n";
    text += kernels_summary(all);
    const bool ring = all.arithmetic == KernelArithmetic::ring;
    if (whole.failed() && !all.first_wrong() && !ring) text += only_whole_text(all, command);
    const auto [begin, end] = shown_kernels(all, options);
    std::vector<Row> rows = {{"verdict", all.optimized ? "part" : "kernel", "machine code", "nodes", "line", "reason"}};
    for (std::size_t i = begin; i < end; ++i) rows.push_back(kernel_row(all.kernels[i]));
    if (rows.size() == 1) return text;
    text += "\n" + table(rows, {.columns = options.verbose ? 0 : options.columns});
    if (end - begin < all.kernels.size()) text += "  (-v shows all " + std::to_string(all.kernels.size()) + ")\n";
    if (ring || all.optimized) return text;
    return text +
           "\n  machine code  hash of the machine code of the kernel that ran alone; same: the kernel has the same\n"
           "                machine code inside the whole graph\n";
}

nlohmann::json to_json(const KernelJudgements& kernels) { return report_json(kernels); }

}  // namespace report
}  // namespace whittle
