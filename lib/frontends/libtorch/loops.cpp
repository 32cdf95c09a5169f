#include "frontends/libtorch/loops.h"

#include <algorithm>
#include <unordered_map>

namespace whittle::libtorch {
namespace {

/// All of them, also where one lies in another.
class LoopFinder {
  public:
    LoopFinder(std::span<const std::uint64_t> codes, std::size_t least_iterations)
        : codes_(codes), least_(least_iterations) {}

    std::vector<Loop> find() {
        for (std::size_t i = 0; i < codes_.size(); ++i) {
            if (period_ == 0 || codes_[i] != codes_[i - period_]) {
                close(i);
                open(i);
            }
            latest_[codes_[i]] = i;
        }
        close(codes_.size());
        return std::move(found_);
    }

  private:
    void open(std::size_t at) {
        const auto before = latest_.find(codes_[at]);
        period_ = before == latest_.end() ? 0 : at - before->second;
        if (period_ == 0) return;
        std::size_t first = at;  // that is like the one a period before
        while (first > period_ && codes_[first - 1] == codes_[first - 1 - period_]) --first;
        begin_ = first - period_;
    }
    void close(std::size_t end) {
        if (period_ == 0) return;
        const std::size_t iterations = (end - begin_) / period_;
        if (iterations >= least_) found_.push_back({begin_, begin_ + iterations * period_, period_});
    }

    std::span<const std::uint64_t> codes_;
    std::size_t least_, period_ = 0, begin_ = 0;
    std::unordered_map<std::uint64_t, std::size_t> latest_;
    std::vector<Loop> found_;
};

}  // namespace

std::vector<Loop> loops_in(std::span<const std::uint64_t> codes, std::size_t least_iterations) {
    std::vector<Loop> all = LoopFinder(codes, std::max<std::size_t>(least_iterations, 2)).find();
    std::ranges::stable_sort(all, std::ranges::greater{}, [](const Loop& loop) { return loop.end - loop.begin; });
    std::vector<Loop> chosen;
    for (const Loop& loop : all)
        if (std::ranges::none_of(chosen,
                                 [&](const Loop& other) { return loop.begin < other.end && other.begin < loop.end; }))
            chosen.push_back(loop);
    std::ranges::sort(chosen, {}, &Loop::begin);
    return chosen;
}

}  // namespace whittle::libtorch
