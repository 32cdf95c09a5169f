// The search that the steps share: the smallest case so far, and the question whether a smaller one still fails.
#pragma once

#include <set>

#include "reduce/kernel/kernel_case.h"

namespace whittle::reduce::kernel {

class Search {
  public:
    Search(const KernelCase& start, const StillFails& still_fails, std::chrono::steady_clock::time_point deadline)
        : best_(start), still_fails_(still_fails), deadline_(deadline), milestones_{start} {
        seen_.insert(key(start));
    }

    const KernelCase& best() const { return best_; }
    std::size_t accepted() const { return milestones_.size(); }
    bool time_is_up() const { return std::chrono::steady_clock::now() >= deadline_; }

    /// Takes the candidate in where it still fails. What breaks a rule, cannot be interpreted or was tried before is
    /// not asked about.
    bool attempt(KernelCase candidate);
    /// The same of the best case with a change; `change` may say by false that it cannot be made.
    template <class Change>
    bool attempt_with(const Change& change) {
        KernelCase candidate = best_;
        if constexpr (std::is_void_v<std::invoke_result_t<Change, KernelCase&>>)
            change(candidate);
        else if (!change(candidate))
            return false;
        return attempt(std::move(candidate));
    }

    KernelReduction result() && { return {std::move(best_), std::move(milestones_), tried_, time_is_up()}; }

  private:
    static std::string key(const KernelCase& kernel);

    KernelCase best_;
    const StillFails& still_fails_;
    const std::chrono::steady_clock::time_point deadline_;
    std::vector<KernelCase> milestones_;
    std::set<std::string> seen_;
    int tried_ = 0;
};

// The steps, each in a file of its own or with its next of kin. Each leaves the search at a case that fails.
void plainer_build(Search& search);        ///< target, passes
void fewer_directives(Search& search);     ///< tails, directives, factors
void fewer_stages(Search& search);         ///< outputs, stages, updates
void smaller_extents(Search& search);      ///< loops, and inputs cut to what is read
void fewer_dimensions(Search& search);     ///< those of extent 1
void simpler_operands(Search& search);     ///< expressions
void commoner_types(Search& search);       ///< f32 and i32 for all others
void simpler_data(Search& search);         ///< 0, 1 and small integers
void data_as_coordinates(Search& search);  ///< inputs become expressions

}  // namespace whittle::reduce::kernel
