#include "frontends/libtorch/callers.h"

#include <catch2/catch.hpp>

using namespace whittle;
using namespace whittle::libtorch;

namespace {

Event op(std::uint64_t order, std::uint8_t untouched, std::uint8_t unmoved, std::uint32_t thread = 0) {
    return {.order = order,
            .thread = thread,
            .kind = RecordKind::op_begin,
            .stack = 1,
            .untouched = untouched,
            .unmoved = unmoved};
}

FrameFunction called_by(std::size_t callers) {
    return {.function = "step", .file = {}, .call_place = {}, .callers = callers, .position = callers};
}

}  // namespace

TEST_CASE("a caller that went on in between has moved, one that has everything as it was waits") {
    EventFile file;
    file.events = {op(10, 0, 0), op(20, 3, 0xff), op(25, 0, 0, 1), op(30, 2, 0xff), op(40, 1, 1)};
    const Callers callers(file);
    CallerMotion motion;
    callers.add(motion, 0, 10, 30);  // op 10's own tells of what was before it, op 25's of another thread
    CHECK(motion.waits(called_by(2)));
    CHECK_FALSE(motion.waits(called_by(3)));
    CHECK(motion.touched(called_by(3)));
    CHECK_FALSE(motion.moved(called_by(3)));
    callers.add(motion, 0, 30, 40);
    CHECK(motion.moved(called_by(2)));
    CHECK_FALSE(motion.moved(called_by(1)));
    CHECK(motion.waits(called_by(1)));
}

TEST_CASE("of an inlined function it is known that what it is inlined into was called anew, and no more") {
    EventFile file;
    file.events = {op(10, 0, 0), op(20, 1, 1)};
    CallerMotion motion;
    Callers(file).add(motion, 0, 10, 20);
    FrameFunction inlined = called_by(2);
    inlined.callers.reset();
    CHECK(motion.moved(inlined));
    CHECK_FALSE(motion.touched(inlined));
    inlined.position = 1;  // into the one that has gone on
    CHECK_FALSE(motion.moved(inlined));
    CHECK_FALSE(motion.waits(inlined));
}

TEST_CASE("where it is not known what called a function, nothing is told") {
    EventFile file;
    file.events = {op(10, 0, 0)};
    CallerMotion motion;
    Callers(file).add(motion, 0, 0, 10);
    const FrameFunction nobody;
    CHECK_FALSE(motion.moved(nobody));
    CHECK_FALSE(motion.waits(nobody));
    CHECK_FALSE(motion.touched(nobody));
}
