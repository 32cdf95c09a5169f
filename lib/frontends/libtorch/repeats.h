// RepeatFolder: the records of one thread, without those that repeat what came before. A loop that ran long enough goes
// on in the same way: its further iterations are counted, not kept, so that neither memory nor what comes after grows
// with the length of a run.
//
// Two records are alike when they say the same of everything but host numbers: the same op at the same place, tensors
// of the same metadata, last met by this thread as many ops ago, and with as many writes in between. A stretch in which
// each record is like the one a period before is a loop; what only looks at values may come in between now and then, as
// a print of the loss does. Once it had `least_iterations` and `least_records`, an iteration is left out when two later
// ones are there: the first and the last ones of a loop stay, with all elements that were written down in them. A loop
// that was met before needs no more than `known_iterations`. Where an iteration begins nobody knows here, so what is
// left out may end in the middle of one: who reads what is kept takes care of the gap.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_set>
#include <vector>

namespace whittle::libtorch {

struct RepeatLimits {
    std::size_t least_iterations = 16, least_records = 20000, known_iterations = 3;
};

/// A record of the event file that is kept.
struct KeptRecord {
    std::uint64_t at = 0;              ///< its place in the file
    std::uint64_t hash = 0;            ///< equal for records that are alike
    std::int64_t times = 1;            ///< that it happened: itself, and those left out that are like it
    bool after_gap = false;            ///< what came right before it is left out
    bool between = false;              ///< no part of the loop around it
    std::uint32_t between_before = 0;  ///< so many of those were kept before it
};

class RepeatFolder {
  public:
    explicit RepeatFolder(RepeatLimits limits = {}) : limits_(limits), latest_(kLatest) {}

    /// `looks`: it computes nothing.
    void add(std::uint64_t at, std::uint64_t hash, bool looks);
    const std::vector<KeptRecord>& kept() const { return kept_; }

  private:
    static constexpr std::size_t kLatest = std::size_t{1} << 16;
    std::size_t latest_like(std::uint64_t hash) const;
    bool follows(std::uint64_t hash);
    bool is_loop() const;
    std::uint64_t body() const;
    void leave_out();

    RepeatLimits limits_;
    std::vector<KeptRecord> kept_;
    std::vector<std::size_t> latest_;  ///< by hash: a position in kept_ where that was last
    std::size_t period_ = 0;           ///< 0: nothing repeats
    std::size_t expected_ = 0;         ///< the position of what comes next, a period ago
    std::size_t matched_ = 0;          ///< records that were as expected
    std::size_t in_a_row_ = 0;         ///< with nothing in between
    bool folding_ = false;
    std::size_t from_ = 0;  ///< where folding began: the iteration that ends a period before counts for those left out
    std::unordered_set<std::uint64_t> known_;  ///< bodies of loops that were folded
};

/// What a thread met before, by number (of tensors, or of storages), which are dense: when, and in which version.
class Sightings {
  public:
    struct Sighting {
        std::uint64_t when = 0;  ///< 0: never
        std::uint32_t version = 0;
    };
    /// Of a number that no event file could have, a place that nobody reads.
    Sighting& operator[](std::uint64_t number);

  private:
    static constexpr std::uint64_t kPage = 1024, kMost = std::uint64_t{1} << 32;
    std::vector<std::unique_ptr<std::array<Sighting, kPage>>> pages_;
    Sighting nowhere_;
};

}  // namespace whittle::libtorch
