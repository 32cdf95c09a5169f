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
        w.release({2});
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
    constexpr std::uint64_t kEnd = std::numeric_limits<std::uint64_t>::max();

    CHECK(values.is_held(result(0), steps.at(1).order(), file));
    CHECK_FALSE(values.is_held(result(0), steps.at(2).order(), file));  // released in between
    CHECK(values.is_held(result(1), kEnd, file));                       // never released
    CHECK(values.is_held(result(2), steps.at(3).order(), file));
    CHECK_FALSE(values.is_held(result(2), kEnd, file));  // its tensor was written to, and is another value now
    CHECK(values.is_held(result(3), kEnd, file));
}
