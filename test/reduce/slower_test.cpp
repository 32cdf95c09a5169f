// Searches for what makes a model slow, on times that are made up: no clock is read.
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <string_view>

#include "machine_noise.h"
#include "reduce/search/search.h"

using namespace whittle;
using namespace whittle::test;
using reduce::TestResult;

namespace {

/// Operations with the time that each takes on either side; one makes the whole twice as slow, another is slower, too,
/// but by less than the bound.
struct SlowModel {
    std::vector<double> ours = {}, theirs = {};
    int guilty = 0;

    SlowModel(int count, Draws& random) {
        std::uniform_real_distribution work(1.0, 10.0);
        for (int i = 0; i < count; ++i) theirs.push_back(work(random));
        ours = theirs;
        std::uniform_int_distribution<int> any(0, count - 1);
        guilty = any(random);
        ours[at(guilty)] += std::accumulate(theirs.begin(), theirs.end(), 0.0);
        if (const int other = any(random); other != guilty) ours[at(other)] *= 1.3;
    }
    double ratio(const reduce::Set& kept) const {
        double a = 0, b = 0;
        for (const int i : kept) a += ours[at(i)], b += theirs[at(i)];
        return a / b;
    }

  private:
    static std::size_t at(int i) { return static_cast<std::size_t>(i); }
};

/// One search, each question of which is decided by pairs of disturbed times.
reduce::Result searched(const SlowModel& model, const Machine& machine, Draws& random) {
    constexpr double kBound = 1.5;
    const Noise noise = machine.noise();
    return reduce::search({.count = static_cast<int>(model.ours.size()),
                           .test =
                               [&](const reduce::Set& kept) {
                                   if (kept.empty()) return TestResult::passes;
                                   const auto answer = decided(model.ratio(kept), kBound, noise, random).answer();
                                   return answer == RatioTest::Answer::above   ? TestResult::fails
                                          : answer == RatioTest::Answer::below ? TestResult::passes
                                                                               : TestResult::unresolved;
                               }},
                          {});
}

}  // namespace

TEST_CASE("one search of a thousand at most names the wrong operation as slow", "[ratio]") {
    constexpr int kSearches = 1000, kOperations = 30;
    for (const Machine& machine : kMachines) {
        const std::string_view name = machine.name;
        if (name != "quiet" && name != "heavy tails" && name != "recorded") continue;  // for the sake of time
        Draws random(17);
        int wrong = 0, found = 0;
        for (int i = 0; i < kSearches; ++i) {
            const SlowModel model(kOperations, random);
            const reduce::Result result = searched(model, machine, random);
            if (!result.reproduces) continue;  // the times of the whole do not decide, and the search says so
            const bool guilty = std::ranges::find(result.kept, model.guilty) != result.kept.end();
            wrong += !guilty || (result.one_minimal && result.kept.size() > 1);
            found += result.kept == reduce::Set{model.guilty};
        }
        CAPTURE(machine.name, found);
        CHECK(wrong <= kSearches / 1000);
        if (name != "heavy tails") CHECK(found >= kSearches * 99 / 100);
    }
}
