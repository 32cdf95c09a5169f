#include "base/timeline.h"

#include <catch2/catch.hpp>
#include <thread>

#include "base/log_step.h"
#include "base/thread_work.h"

using namespace whittle;

TEST_CASE("spans are told with those around them first, and by thread", "[timeline]") {
    const Timeline timeline;
    {
        const TimedSpan outer(SpanKind::backend, "compile", "g");
        TimedSpan inner(SpanKind::kernel, "kernel_0", "g");
        inner.came_from("cache");
        std::thread([] { const TimedSpan other(SpanKind::kernel, "kernel_1"); }).join();
    }
    const std::vector<Span> spans = timeline.spans();
    REQUIRE(spans.size() == 3);
    CHECK(spans[0].name == "compile");
    CHECK(spans[1].name == "kernel_0");
    CHECK(spans[1].from == "cache");
    CHECK(spans[1].graph == "g");
    CHECK(spans[2].thread != spans[0].thread);
    CHECK(spans[0].start <= spans[1].start);
    CHECK(spans[0].seconds >= spans[1].seconds);
}

TEST_CASE("without a timeline nothing is kept, and a timeline that ends takes nobody's spans", "[timeline]") {
    { const TimedSpan nobodys(SpanKind::pass, "fold"); }
    CHECK(Timeline::current() == nullptr);
    const Timeline outer;
    {
        const Timeline inner;
        const TimedSpan span(SpanKind::pass, "fold");
    }
    { const TimedSpan span(SpanKind::pass, "cse"); }
    REQUIRE(outer.spans().size() == 1);
    CHECK(outer.spans()[0].name == "cse");
}

TEST_CASE("spans of a thread and of those that work for it are told apart from others'", "[timeline]") {
    const ThreadSpans mine;
    { const TimedSpan span(SpanKind::pass, "fold"); }
    std::thread([work = thread_work()] {
        const WorksFor me(work);
        const TimedSpan span(SpanKind::kernel, "k0");
    }).join();
    std::thread([] { const TimedSpan span(SpanKind::pass, "others"); }).join();
    const std::vector<Span> spans = mine.spans();
    REQUIRE(spans.size() == 2);
    CHECK(spans[0].name == "fold");
    CHECK(spans[1].name == "k0");
    CHECK_THAT(table(spans), Catch::Contains(" | pass | fold |\n"));
}

TEST_CASE("steps of the log are spans, of the graph that the thread works for", "[timeline]") {
    const Timeline timeline;
    {
        const SpansOf graph("step_1");
        LogStep step(LogStep::Kind::lowering, "graph f (3 ops)", "f");
        step.done();
    }
    { const LogStep step(LogStep::Kind::capture, "read model"); }
    const std::vector<Span> spans = timeline.spans();
    REQUIRE(spans.size() == 2);
    CHECK(spans[0].kind == SpanKind::lowering);
    CHECK(spans[0].graph == "step_1");
    CHECK(spans[1].graph.empty());
}
