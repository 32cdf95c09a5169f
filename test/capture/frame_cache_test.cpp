#include "capture/frame_cache.h"

#include <catch2/catch.hpp>

using namespace whittle;
using namespace whittle::capture;

namespace {

FoundInputs inputs(const Sizes& sizes, std::int64_t n) {
    return {{Source::local("x"), ValueMeta::contiguous(DType::f32, sizes)}, {Source::local("n"), HostValue{n}}};
}

std::vector<std::string> guards(const FrameCache& cache, std::size_t entry) {
    std::vector<std::string> texts;
    for (const Guard& guard : cache.entries().at(entry).guards) texts.push_back(guard.text());
    return texts;
}

const int kGraphs[3] = {};

/// A call that runs one graph; the reason of its recompile.
std::string call(FrameCache& cache, const FoundInputs& found, int graph) {
    const auto lookup = cache.look_up(found);
    REQUIRE(lookup.entry);
    const auto outcome = cache.ran(lookup, found, {&kGraphs[graph]});
    return outcome.recompile ? outcome.recompile->reason.text() : "";
}

}  // namespace

TEST_CASE("a size with a second value gets a symbol, and strides no guard", "[frame_cache]") {
    FrameCache cache(8);
    CHECK(call(cache, inputs({4, 3}, 1), 0).empty());
    CHECK(call(cache, inputs({5, 3}, 1), 1) == "L['x'] size 0 == 4, now 5");
    CHECK(guards(cache, 1) == std::vector<std::string>{"L['x']: f32[s0, 3]", "L['n'] == 1", "s0 > 1"});
    CHECK(call(cache, inputs({6, 3}, 1), 2).empty());
    CHECK(call(cache, inputs({1, 3}, 1), 2) == "s0 > 1, now L['x'].size(0) is 1, was 5");
    const SizeSymbol s0 = cache.entries()[1].symbols.at(0);
    cache.rely_on(1, Guard::relation({SizeCondition::Kind::multiple, s0, 2, {}}));
    cache.rely_on(1, Guard::relation({SizeCondition::Kind::multiple, s0, 2, {}}));
    CHECK(guards(cache, 1).back() == "s0 % 2 == 0");
    CHECK(guards(cache, 1).size() == 4);
    cache.rename("x", "y");
    CHECK(cache.entries()[1].symbols.at(0).place() == "L['y'].size(0)");
}

TEST_CASE("a size that is marked varies from the start", "[frame_cache]") {
    FrameCache cache(8);
    cache.mark_dynamic(Source::local("x"), 1);
    CHECK(call(cache, inputs({4, 3}, 1), 0).empty());
    CHECK(guards(cache, 0) == std::vector<std::string>{"L['x']: f32[4, s0]", "L['n'] == 1", "s0 > 1"});
    CHECK(call(cache, inputs({4, 9}, 1), 1).empty());
    FrameCache static_sizes(8, DynamicSizes::never);
    call(static_sizes, inputs({4, 3}, 1), 0);
    const auto lookup = static_sizes.look_up(inputs({5, 3}, 1));
    CHECK(lookup.advice == "call mark_dynamic(x, 0) before the first call, or compile with .dynamic = true");
}

TEST_CASE("a size outside its range has a specialization of its own", "[frame_cache]") {
    FrameCache cache(8);
    cache.mark_dynamic(Source::local("x"), 0, {3, 64});
    CHECK(call(cache, inputs({4, 3}, 1), 0).empty());
    CHECK(guards(cache, 0) == std::vector<std::string>{"L['x']: f32[s0, 3]", "L['n'] == 1", "s0 > 2", "s0 <= 64"});
    CHECK(call(cache, inputs({64, 3}, 1), 0).empty());
    CHECK(call(cache, inputs({65, 3}, 1), 1) == "s0 <= 64, now L['x'].size(0) is 65, was 4");
    CHECK(guards(cache, 1).back() == "s0 > 1");  // the range is not this size's
    CHECK(call(cache, inputs({2, 3}, 1), 1).empty());
    CHECK(cache.look_up(inputs({5, 3}, 1)).entry == 0);
}

TEST_CASE("a bound becomes a guard once a size beyond it makes other graphs, and none if it does not",
          "[frame_cache]") {
    const auto above = [](FrameCache& cache, std::int64_t bound) {
        const SizeSymbol s0 = cache.entries()[0].symbols.at(0);
        cache.may_rely_on(0, Guard::relation({SizeCondition::Kind::above, s0, bound, {}}));
    };
    FrameCache cache(8, DynamicSizes::always);
    CHECK(call(cache, inputs({8, 3}, 1), 0).empty());
    above(cache, 4);
    above(cache, 6);
    const std::size_t known = guards(cache, 0).size();
    CHECK(call(cache, inputs({6, 3}, 1), 0).empty());  // so the second was none
    CHECK(guards(cache, 0).size() == known);
    CHECK(call(cache, inputs({4, 3}, 1), 1) == "s0 > 4, now L['x'].size(0) is 4, was 8");
    CHECK(guards(cache, 0).back() == "s0 > 4");
    CHECK(call(cache, inputs({3, 3}, 1), 1).empty());
    CHECK(cache.entries().size() == 2);
}

TEST_CASE("a scalar that makes no other graph loses its guard, until one of its values does", "[frame_cache]") {
    FrameCache cache(8);
    CHECK(call(cache, inputs({4}, 1), 0).empty());
    CHECK(call(cache, inputs({4}, 2), 0).empty());
    CHECK(cache.entries().size() == 1);
    CHECK(guards(cache, 0) == std::vector<std::string>{"L['x']: f32[4] strides=[1]"});
    CHECK(call(cache, inputs({4}, 3), 0).empty());
    CHECK(call(cache, inputs({4}, 7), 1) == "L['n'] == 1, now 7");
    CHECK(guards(cache, 0) == std::vector<std::string>{"L['x']: f32[4] strides=[1]", "L['n'] == 1"});
    CHECK(call(cache, inputs({4}, 7), 1).empty());
    CHECK(call(cache, inputs({4}, 2), 0) == "L['n'] == 7, now 2");
    CHECK(call(cache, inputs({4}, 2), 0).empty());
}

TEST_CASE("a tensor that is passed twice is another call than two tensors", "[frame_cache]") {
    const Source x = Source::local("x"), y = Source::local("y");
    const ValueMeta meta = ValueMeta::contiguous(DType::f32, {4});
    const FoundInputs one = {{x, meta}, {y, SameTensor{x}}}, two = {{x, meta}, {y, meta}};
    FrameCache cache(8);
    CHECK(call(cache, one, 0).empty());
    CHECK(guards(cache, 0) == std::vector<std::string>{"L['x']: f32[4] strides=[1]", "L['y'] is L['x']"});
    CHECK(call(cache, two, 1) == "L['y'] is L['x'], now a different tensor");
    CHECK(call(cache, one, 0).empty());
    CHECK(call(cache, two, 1).empty());
    CHECK(cache.entries().size() == 2);
}

TEST_CASE("inputs are found wherever the search begins", "[frame_cache]") {
    const FoundInputs found = inputs({4}, 1);
    for (const char* name : {"n", "x", "x", "n"}) {
        INFO(name);
        CHECK(found.find(Source::local(name)));
    }
    CHECK_FALSE(found.find(Source::local("m")));
    CHECK(found.find(Source::local("x")));
}

TEST_CASE("a scalar that makes another graph keeps its guard", "[frame_cache]") {
    FrameCache cache(2);
    CHECK(call(cache, inputs({4}, 1), 0).empty());
    CHECK(call(cache, inputs({4}, 2), 1) == "L['n'] == 1, now 2");
    const auto beyond = cache.look_up(inputs({4}, 3));
    CHECK(beyond.limited());
    CHECK(beyond.reason.text() == "L['n'] == 2, now 3");
    CHECK(beyond.advice == "make L['n'] a tensor, or move the code that depends on the value out of the function");
}
