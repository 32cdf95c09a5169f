#include "frontends/libtorch/probed.h"

#include <algorithm>

#include "made_up_program.h"

using namespace whittle;
using namespace whittle::libtorch;

TEST_CASE("probes say what inputs are called: parameters, elements of lists, variables") {
    const TempDir folder;
    const EventFile file = program(folder, [](EventWriter& w) {
        const FakeTensor x{.id = 1}, element{.id = 2}, local{.id = 3}, unnamed{.id = 4};
        w.probe_enter("main");  // what a program without symbols is taken for
        w.probe_name(x, "x");
        w.probe_name(element, "xs", 1);
        w.probe_enter("ns::helper");  // its names are its own
        w.probe_name(unnamed, "inner");
        w.probe_leave();
        w.probe_name(local, "mask", -1, false);
        w.call(kMul, {x, element}, {{.id = 5}});
        w.call(kMul, {local, unnamed}, {{.id = 6}});
        w.probe_leave();
    });
    const capture::CapturedGraph graph = only_frame(file).graphs.at(0);
    std::vector<std::string> texts;
    for (const capture::Source& source : graph.sources) texts.push_back(source.text());
    CHECK(texts == std::vector<std::string>{"L['x']", "L['xs'][1]", "L['mask']", "L['arg0']"});
}

TEST_CASE("probes say with which numbers a function was called, and which ways it went") {
    const TempDir folder;
    const EventFile file = program(folder, [](EventWriter& w) {
        w.probe_enter("f");
        w.probe_value("n", 3);
        w.probe_branch("n > 2", 5, 1);
        w.call(kMul, {{.id = 1}, {.id = 1}}, {{.id = 2}});
        for (const int turn : {1, 1, 0}) w.probe_branch("i < n", 6, turn);
        w.probe_enter("g");  // which way what it calls goes is its own way, too
        w.probe_branch("n", 20, 7, true);
        w.probe_leave();
        w.probe_branch("sum > 0", 8, 1);
        w.call(kMul, {{.id = 1}, {.id = 1}}, {{.id = 3}});
        w.probe_leave();
        w.probe_enter("h");
        w.probe_branch("other", 30, 1);
        w.probe_leave();
    });
    const ProbedCalls probes(file);
    std::uint64_t first = 0, last = 0, data = 0;
    for (const Event& event : file.events) {
        if (event.kind == RecordKind::op_begin) (first == 0 ? first : last) = event.order;
        if (event.kind == RecordKind::probe_branch && event.text == "sum > 0") data = event.order;
    }
    const ProbedCall* call = probes.at(0, first, "f");
    REQUIRE(call);
    const auto texts = [](const std::vector<capture::Guard>& guards) {
        std::vector<std::string> all;
        for (const capture::Guard& guard : guards) all.push_back(guard.text());
        return all;
    };
    CHECK(texts(ProbedCalls::value_guards(*call)) == std::vector<std::string>{"L['n'] == 3"});
    const auto by_data = [&](std::uint64_t order) { return order == data; };
    const auto before = probes.branch_guards(*call, 0, first, by_data);
    CHECK(texts(before) == std::vector<std::string>{"(n > 2) is true"});
    REQUIRE(before.at(0).stack().size() == 1);
    CHECK(before[0].stack()[0] == StackFrame{"app.cpp", 5, 9, "f", "n > 2"});
    CHECK(texts(probes.branch_guards(*call, first, last, by_data)) ==
          std::vector<std::string>{"(i < n) is true 2 times, then false", "(n) is 7"});
    CHECK(texts(probes.branch_guards(*call, last, UINT64_MAX, by_data)).empty());
}

TEST_CASE("of two functions that differ in their scope only, probes tell the one that is asked for") {
    const TempDir folder;
    const EventFile file = program(folder, [](EventWriter& w) {
        w.probe_enter("b::step");
        w.probe_value("n", 1);
        w.probe_enter("a::step");
        w.probe_value("n", 2);
        w.call(kMul, {{.id = 1}, {.id = 1}}, {{.id = 2}});
        w.probe_leave();
        w.probe_leave();
    });
    const ProbedCalls probes(file);
    const auto op = std::ranges::find(file.events, RecordKind::op_begin, &Event::kind);
    REQUIRE(op != file.events.end());
    for (const std::string function : {"a::step", "b::step"}) {
        const ProbedCall* call = probes.at(0, op->order, function);
        REQUIRE(call);
        CHECK(call->function == function);
    }
    REQUIRE(probes.at(0, op->order, "step"));  // no such name: the outermost that ends so
    CHECK(probes.at(0, op->order, "step")->function == "b::step");
}
