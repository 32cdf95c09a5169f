#include "frontends/libtorch/processes.h"

#include <algorithm>
#include <cstring>

#include "made_up_program.h"

using namespace whittle;
using namespace whittle::libtorch;

namespace {

ProcessIdentity process(std::uint64_t number, std::uint64_t parent, bool forked, const std::string& command = "./app") {
    return {.number = number, .parent = parent, .forked = forked, .command_line = command};
}

}  // namespace

TEST_CASE("which process came of which is told") {
    const Processes processes({process(10, 1, false), process(11, 10, true), process(12, 11, true),
                               process(13, 99, false, "./other 2"), process(10, 1, false, "./last")});
    CHECK(processes.title(0, "") == "process 1 (./app)");
    CHECK(processes.title(1, " at app.cpp:3") == "process 2 (forked by process 1 at app.cpp:3)");
    CHECK(processes.title(2, "") == "process 3 (forked by process 2)");
    CHECK(processes.title(3, "") == "process 4 (./other 2)");
    CHECK(processes.title(4, "") == "process 5 (started by exec() in process 1: ./last)");
    CHECK(processes.children(0) == 1);
    CHECK(processes.started(0) == 1);  // by what it started: that was not seen
    CHECK(processes.successor(0) == 4);
    CHECK_FALSE(processes.successor(1));
}

TEST_CASE("what became of children and programs is told, and what is not known of them") {
    const Processes alone({process(10, 1, false)}), both({process(10, 1, false), process(11, 10, true)});
    const OtherProcesses others{.forks = 2, .child_ops = 3, .started = 1, .first = "ls"};
    CHECK(notes_of_processes(alone, 0, others) ==
          std::vector<std::string>{
              "the program forked 2 times; the children ran 3 operations of LibTorch that were not captured",
              "the program ran 1 other program (ls), which did not run LibTorch or could not be captured"});
    CHECK(notes_of_processes(both, 0, others).at(0) ==
          "the program forked 2 times; 1 child ran LibTorch and was captured, too; further children ran 3 operations "
          "of LibTorch "
          "that were not captured");
}

TEST_CASE("a graph that two processes ran is told once, and each process by what it did") {
    const TempDir folder;
    std::vector<std::string> paths;
    for (const bool forked : {false, true}) {
        paths.push_back((folder.path() / (forked ? "events.1" : "events")).string());
        EventWriter writer(paths.back());
        writer.define(kRelu, "aten::relu", "", "aten::relu(Tensor self) -> Tensor");
        writer.call(kRelu, {{.id = 1}}, {{.id = 2}});
        FileHeader& header = *writer.recorder.header();
        header.forked = forked;
        header.pid = forked ? 11 : 10;
        header.parent = forked ? 10 : 1;
        header.forks = forked ? 0 : 1;
        std::strcpy(header.end_function, forked ? "_exit" : "");
        header.finished = !forked;
        writer.chunk.unmap();
    }
    std::vector<ProcessIdentity> identities;
    for (const std::string& path : paths) identities.push_back(read_identity(path));
    CHECK(identities.at(1).forked);
    ProgramBuilder builder({}, identities);
    for (const std::string& path : paths) builder.add(read_events(path));
    const CapturedProgram program = builder.finish();
    CHECK(program.op_count == 2);
    REQUIRE(program.frames.size() == 1);
    CHECK(program.frames[0].calls == 2);
    REQUIRE(program.frames[0].graphs.size() == 1);
    CHECK(program.frames[0].graphs[0].runs == 2);
    const auto told = [&](std::string_view end) {
        return std::ranges::count_if(program.notes, [&](const std::string& note) { return note.ends_with(end); });
    };
    CHECK(told("the program forked 1 time; 1 child ran LibTorch and was captured, too") == 1);
    CHECK(told("): 1 operation, in main") == 2);
    CHECK(told("process 2 (forked by process 1): 1 operation, in main") == 1);
}
