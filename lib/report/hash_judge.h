// Whether a result of an operation differs from another run's by more than rounding, as far as sums tell: the bound of
// the op (Bound in ops/core/op.h) on the sums of the results, in the place of its bound on each element.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "capture/hash_index.h"

namespace whittle::report {

/// A value in both runs.
struct BothRows {
    const HashRow* before = nullptr;
    const HashRow* after = nullptr;
    HashedValue value = {};  ///< what it is, in both
    bool same() const { return before->hash == after->hash; }
    /// How far sums, magnitudes and the largest element differ, relative to the elements' magnitudes; infinity where
    /// one has other NaNs or infinities.
    double moved() const;
};

struct HashJudgement {
    enum class Verdict { within, beyond, not_judged };
    Verdict verdict = Verdict::not_judged;
    std::string why = {};  ///< it is not judged
    bool carried = false;  ///< for it only moves, selects or compares what differs already
    double moved = 0, allowed = 0;
};

/// Of results whose operands differ, too: these may have moved by rounding, and the result by up to kGrowth times as
/// much. `target`: "aten.add.Tensor".
HashJudgement judge_hashes(const std::string& target, const std::vector<BothRows>& operands, const BothRows& result);
inline constexpr double kGrowth = 16;

}  // namespace whittle::report
