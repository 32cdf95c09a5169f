#include "frontends/libtorch/repeats.h"

#include <catch2/catch.hpp>
#include <numeric>

#include "frontends/libtorch/loops.h"
#include "graph/text.h"
#include "made_up_program.h"

using namespace whittle;
using namespace whittle::libtorch;

namespace {

/// A loop of three ops, iteration by iteration, that looks at a value now and then.
RepeatFolder folded_loop(std::size_t iterations, std::size_t look_every, RepeatLimits limits) {
    RepeatFolder folder(limits);
    std::uint64_t at = 0;
    folder.add(at++, 7, false);
    for (std::size_t i = 0; i < iterations; ++i) {
        for (const std::uint64_t hash : {100u, 200u, 300u}) folder.add(at++, hash, false);
        if (look_every && i % look_every == 0) folder.add(at++, 500, true);
    }
    folder.add(at++, 9, false);
    return folder;
}

std::int64_t happened(const RepeatFolder& folder, std::uint64_t hash) {
    std::int64_t sum = 0;
    for (const KeptRecord& record : folder.kept()) sum += record.hash == hash ? record.times : 0;
    return sum;
}

constexpr RepeatLimits kShort{.least_iterations = 4, .least_records = 12, .known_iterations = 3};

}  // namespace

TEST_CASE("a long loop is kept by its first and last iterations, and counted") {
    const RepeatFolder folder = folded_loop(1000, 0, kShort);
    CHECK(folder.kept().size() < 60);
    for (const std::uint64_t hash : {100u, 200u, 300u}) CHECK(happened(folder, hash) == 1000);
    CHECK(happened(folder, 7) == 1);
    CHECK(folder.kept().back().hash == 9);
    // What is kept is still the loop.
    std::vector<std::uint64_t> hashes;
    for (const KeptRecord& record : folder.kept()) hashes.push_back(record.hash);
    const std::vector<Loop> loops = loops_in(hashes, 3);
    REQUIRE(loops.size() == 1);
    CHECK(loops[0].begin == 1);
    CHECK(loops[0].period == 3);
    CHECK(loops[0].end == hashes.size() - 1);
}

TEST_CASE("looking at a value does not end a loop, computing something does") {
    const RepeatFolder looks = folded_loop(1000, 50, kShort);
    CHECK(looks.kept().size() < 1000);
    CHECK(happened(looks, 100) == 1000);
    CHECK(happened(looks, 500) == 20);
    CHECK(folded_loop(1000, 1, kShort).kept().size() < 100);  // it is part of the loop
    RepeatFolder folder(kShort);
    std::int64_t others = 0;
    for (std::uint64_t i = 0; i < 3000; ++i) {
        if (i % 10 == 9) folder.add(i, 1000 + i, false), ++others;
        folder.add(i, 100 + i % 3, false);
    }
    CHECK(static_cast<std::int64_t>(folder.kept().size()) == 3000 + others);
}

TEST_CASE("of loops in a loop the outer one is found") {
    std::vector<std::uint64_t> codes{1, 2};
    for (int outer = 0; outer < 5; ++outer) {
        codes.push_back(10);
        for (int inner = 0; inner < 4; ++inner) codes.insert(codes.end(), {20, 21});
    }
    codes.push_back(3);
    const std::vector<Loop> loops = loops_in(codes, 3);
    REQUIRE(loops.size() == 1);
    CHECK(loops[0].begin == 2);
    CHECK(loops[0].period == 9);
    CHECK(loops[0].iterations() == 5);
    CHECK(loops_in(std::vector<std::uint64_t>{1, 2, 1, 2}, 3).empty());
}

TEST_CASE("the frames of a long loop are the same with and without what is left out") {
    const TempDir folder;
    const std::string path = (folder.path() / "events").string();
    constexpr std::uint64_t kIterations = 4000;
    {
        EventWriter w(path, std::uint64_t{64} << 20);
        REQUIRE(w.ok);
        w.define(kMul, "aten::mul", "Tensor", "aten::mul.Tensor(Tensor self, Tensor other) -> Tensor");
        w.define(kRelu, "aten::relu", "", "aten::relu(Tensor self) -> Tensor");
        w.define(kLocal, "aten::_local_scalar_dense", "", "aten::_local_scalar_dense(Tensor self) -> Scalar",
                 kReturnsOnlyHost);
        std::uint64_t last = 1;
        for (std::uint64_t i = 0; i < kIterations; ++i) {  // x = relu(x * w)
            w.call(kMul, {{.id = last}, {.id = 2}}, {{.id = 10 + 2 * i}});
            w.call(kRelu, {{.id = 10 + 2 * i}}, {{.id = 11 + 2 * i}});
            last = 11 + 2 * i;
            if (i % 100 == 99) w.call(kLocal, {{.id = last}}, {});
        }
        w.recorder.finish();
        w.chunk.unmap();
    }
    const auto frames = [&](RepeatLimits limits) {
        const EventFile file = read_events(path, {.repeats = limits});
        if (limits.least_records < 1000) CHECK(file.events.size() < 3000);
        CapturedProgram program = build_frames(file, {});
        CHECK(program.op_count == 2 * kIterations + kIterations / 100);
        return std::move(program.frames);
    };
    const auto all = frames({.least_records = 1000000}), folded = frames({.least_records = 200});
    REQUIRE(all.size() == folded.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        CHECK(all[i].function == folded[i].function);
        CHECK(all[i].calls == folded[i].calls);
        REQUIRE(all[i].graphs.size() == folded[i].graphs.size());
        for (std::size_t k = 0; k < all[i].graphs.size(); ++k) {
            CHECK(print(all[i].graphs[k].graph) == print(folded[i].graphs[k].graph));
            CHECK(all[i].graphs[k].runs == folded[i].graphs[k].runs);
        }
    }
}
