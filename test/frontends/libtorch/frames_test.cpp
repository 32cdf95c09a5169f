// Which calls steps belong to, and what of that is a guess.
#include "frontends/libtorch/frames.h"

#include <catch2/catch.hpp>

#include "interpreted.h"

using namespace whittle;
using namespace whittle::libtorch;

namespace {

/// Steps of a Python program, each of an operation of its own.
class Calls {
  public:
    /// An operation of `places`, innermost first. `numbers`: of the calls, outermost first, where Python tells them.
    void op(const std::vector<SourcePlace>& places, std::vector<std::uint64_t> numbers = {}) {
        Event event{.order = events_.size() + 1, .kind = RecordKind::op_begin, .stack = program_.stack(places)};
        if (!numbers.empty()) event.calls = std::make_shared<const std::vector<std::uint64_t>>(std::move(numbers));
        events_.push_back(std::move(event));
    }
    /// "serve", "serve?" where it is a guess that it is a call of its own.
    std::vector<std::string> frames() {
        program_.file.events = events_;
        std::vector<Step> steps;
        for (const Event& event : events_) steps.push_back({.begin = &event, .op = &name_, .stack = event.stack});
        Values values;
        values.inputs.resize(steps.size());
        values.results.resize(steps.size());
        Symbolizer symbolizer(program_.file);
        std::vector<std::string> found;
        for (const FrameSteps& frame : frames_of(program_.file, steps, values, symbolizer, {}, {}).frames)
            found.push_back(frame.function + (frame.guessed ? "?" : ""));
        return found;
    }

  private:
    Interpreted program_;
    std::vector<Event> events_;
    const OpName name_ = {};
};

SourcePlace coroutine(const std::string& function, int line) {
    SourcePlace place = mine(function, line);
    place.resumable = true;
    return place;
}

}  // namespace

TEST_CASE("a function that is called from two places is called twice, a coroutine may have gone on") {
    Calls functions, coroutines;
    for (const int line : {20, 21}) {
        functions.op({mine("serve", 4), mine("<module>", line)});
        coroutines.op({coroutine("serve", 4), mine("<module>", line)});
    }
    CHECK(functions.frames() == std::vector<std::string>{"serve", "serve"});
    CHECK(coroutines.frames() == std::vector<std::string>{"serve", "serve?"});
}

TEST_CASE("where Python numbers calls, a coroutine that goes on is the same call, and nothing is guessed") {
    Calls program;
    program.op({coroutine("serve", 4), mine("<module>", 20)}, {1, 2});
    program.op({coroutine("ask", 8), mine("<module>", 21)}, {1, 3});
    program.op({coroutine("serve", 6), mine("<module>", 22)}, {1, 2});
    program.op({coroutine("serve", 4), mine("<module>", 20)}, {1, 4});
    CHECK(program.frames() == std::vector<std::string>{"serve", "ask", "serve"});
}
