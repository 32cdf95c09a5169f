#include "reduce/kernel/search.h"

#include <algorithm>

#include "base/error.h"
#include "expr/canonical.h"
#include "reduce/kernel/edits.h"

namespace whittle::reduce {
namespace kernel {

std::string Search::key(const KernelCase& kernel) {
    std::string text = expr::key(kernel.group, kernel.schedule) + "\n" + std::to_string(kernel.culprit) +
                       (kernel.with_workarounds ? " with workarounds" : "") + (kernel.careful ? " careful" : "") + "\n";
    for (const std::string& target : kernel.targets) text += target + "\n";
    for (const Tensor& input : kernel.inputs) text += content_hash(input) + "\n";
    return text;
}

namespace {

/// Updates that run over a domain that nothing of them mentions: to Halide there is none then.
std::size_t forgotten_domains(const expr::Group& group) {
    std::size_t count = 0;
    for (const expr::Stage& stage : group.stages)
        for (expr::Update update : stage.updates) {
            bool used = update.domain.empty();
            const auto look = [&](const expr::Expr& e) {
                const bool of_domain =
                    e->op == expr::Op::variable && std::ranges::count(update.domain, e->name, &expr::LoopVar::name) > 0;
                used = used || of_domain;
            };
            each_expression(update, [&](const expr::Expr& root) { return expr::visit(root, look), root; });
            count += !used;
        }
    return count;
}

}  // namespace

bool Search::attempt(KernelCase candidate) {
    if (time_is_up()) return false;
    if (forgotten_domains(candidate.group) > forgotten_domains(best_.group)) return false;
    try {
        expr::verify(candidate.group);
    } catch (const Error&) {
        return false;
    }
    if (!seen_.insert(key(candidate)).second) return false;
    tried_++;
    if (!still_fails_(candidate)) return false;
    milestones_.push_back(candidate);
    best_ = std::move(candidate);
    return true;
}

}  // namespace kernel

KernelReduction reduce_kernel(const KernelCase& start, const StillFails& still_fails,
                              std::chrono::steady_clock::time_point deadline) {
    using namespace kernel;
    Search search(start, still_fails, deadline);
    std::size_t before = 0;
    // What a later step removes lets an earlier one go further: until nothing changes.
    for (std::size_t accepted = 1; accepted != before && !search.time_is_up();) {
        before = accepted;
        // Dimensions first, too: what has few compiles in half the time.
        for (const auto step : {fewer_dimensions, plainer_build, fewer_directives, fewer_stages, smaller_extents,
                                fewer_dimensions, simpler_operands, commoner_types, simpler_data, data_as_coordinates})
            step(search);
        accepted = search.accepted();
    }
    return std::move(search).result();
}

}  // namespace whittle::reduce
