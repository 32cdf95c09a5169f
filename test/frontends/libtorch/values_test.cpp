#include "frontends/libtorch/values.h"

#include <catch2/catch.hpp>
#include <limits>

#include "base/files.h"
#include "event_writer.h"

using namespace whittle;
using namespace whittle::libtorch;

TEST_CASE("a value is held as long as somebody holds a tensor that is it") {
    enum Op : std::uint32_t { kRelu = 1, kAddInPlace };
    const TempDir folder;
    const std::string path = (folder.path() / "events").string();
    {
        EventWriter w(path);
        REQUIRE(w.ok);
        w.define(kRelu, "aten::relu", "", "aten::relu(Tensor self) -> Tensor");
        w.define(kAddInPlace, "aten::add_", "Tensor", "aten::add_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)");
        const FakeTensor x{.id = 1}, dies{.id = 2}, lives{.id = 3}, before{.id = 4}, after{.id = 4, .version = 1};
        w.call(kRelu, {x}, {dies});
        w.call(kRelu, {dies}, {lives});
        w.release(2);
        w.call(kRelu, {x}, {before});
        w.call(kAddInPlace, {before, x}, {after});
        w.call(kRelu, {after}, {{.id = 5}});
        w.recorder.finish();
        w.chunk.unmap();
    }
    const EventFile file = read_events(path);
    const std::vector<Step> steps = steps_of(file, Level::core);
    const Values values = trace_values(file, steps);
    const auto result = [&](std::size_t step) { return values.results.at(step).at(0); };
    const ReturnTime end = ReturnTime::at(std::numeric_limits<std::uint64_t>::max());
    const auto before = [&](std::size_t step) { return ReturnTime::at(steps.at(step).order()); };

    CHECK(values.is_held(result(0), before(1), file));
    CHECK_FALSE(values.is_held(result(0), before(2), file));  // released in between
    CHECK(values.is_held(result(1), end, file));              // never released
    CHECK(values.is_held(result(2), before(3), file));
    CHECK_FALSE(values.is_held(result(2), end, file));  // its tensor was written to, and is another value now
    CHECK(values.is_held(result(3), end, file));
}

TEST_CASE("another tensor at a parameter's place is the parameter, not a later view of it") {
    enum Op : std::uint32_t { kRelu = 1, kTranspose };
    const TempDir folder;
    const std::string path = (folder.path() / "events").string();
    {
        EventWriter w(path);
        REQUIRE(w.ok);
        w.define(kRelu, "aten::relu", "", "aten::relu(Tensor self) -> Tensor");
        w.define(kTranspose, "aten::t", "", "aten::t(Tensor(a) self) -> Tensor(a)");
        const FakeTensor weight{.id = 1, .sizes = {2, 3}}, data{.id = 4, .sizes = {2, 3}, .storage = 1};
        const FakeTensor transposed{.id = 2, .sizes = {3, 2}, .storage = 1, .strides = {1, 3}};
        const FakeTensor again{.id = 3, .sizes = {2, 3}, .storage = 1};
        w.name(weight.id, "weight");
        w.call(kTranspose, {weight}, {transposed});
        w.call(kTranspose, {transposed}, {again});
        w.call(kRelu, {data}, {{.id = 5, .sizes = {2, 3}}});
        w.call(kRelu, {again}, {{.id = 6, .sizes = {2, 3}}});
        w.recorder.finish();
        w.chunk.unmap();
    }
    const EventFile file = read_events(path);
    const Values values = trace_values(file, steps_of(file, Level::core));
    CHECK(values.inputs.at(2) == values.inputs.at(0));
    CHECK(values.inputs.at(3) == values.results.at(1));
}

TEST_CASE("what was released while a function's caller waited was gone when the function returned") {
    const ReturnTime when{.after = 10, .before = 20, .thread = 1, .callers = 2};
    CHECK_FALSE(when.has({.order = 9, .thread = 1, .looked_at = 3, .waiting = 1}));
    CHECK(when.has({.order = 20, .thread = 1, .looked_at = 3, .waiting = 3}));
    CHECK_FALSE(when.has({.order = 15, .thread = 1, .looked_at = 3, .waiting = 3}));
    CHECK_FALSE(when.has({.order = 15, .thread = 1, .looked_at = 3, .waiting = 2}));  // the function went on itself
    CHECK(when.has({.order = 15, .thread = 1, .looked_at = 3, .waiting = 1}));
    for (const bool doubt : {true, false}) {
        const auto with = [&](std::optional<std::size_t> callers) {
            return ReturnTime{.after = 10, .before = 20, .thread = 1, .callers = callers, .in_doubt = doubt};
        };
        CHECK(with(2).has({.order = 15, .thread = 2, .looked_at = 3, .waiting = 1}) == doubt);
        CHECK(with(2).has({.order = 15, .thread = 1}) == doubt);
        CHECK(with(5).has({.order = 15, .thread = 1, .looked_at = 3, .waiting = 3}) == doubt);
        CHECK(with({}).has({.order = 15, .thread = 1, .looked_at = 3, .waiting = 1}) == doubt);
    }
}
