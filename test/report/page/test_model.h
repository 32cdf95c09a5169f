// A program as explain knows it: one function with a parameter, a break, and a recompile.
#pragma once

#include "graph/text.h"
#include "report/subject.h"

namespace whittle::test {

inline report::Subject broken_program(const std::string& file) {
    report::Subject subject{.model = "./program"};
    report::Frame frame{.name = "net",
                        .file = "net_0.json",
                        .graph = parse(R"(graph net_0 {
        %l_x = placeholder["L['x']"] : f32[2, 2]
        %weight = get_attr["first.weight"] : f32[2, 2]
        %linear = aten.matmul.default(%l_x, %weight) : f32[2, 2]
        %relu = aten.relu.default(%linear) : f32[2, 2]
        return (%relu)
    })"),
                        .captured = true};
    Node& linear = frame.graph.nodes[2];
    linear.module_path = "first";
    linear.stack = {{.file = file, .line = 2, .function = "net", .text = "y = first(x)"},
                    {.file = file, .line = 3, .function = "main", .text = "net(x)"}};
    subject.index.emplace();
    subject.index->frames = {"net"};
    subject.index->breaks = {{.reason = "print: hello", .id = "WB0001", .frame = "net", .stack = linear.stack}};
    subject.index->graphs = {{.name = "net_0",
                              .file = "net_0.json",
                              .frame = "net",
                              .ended_by_break = 0,
                              .ops = 2,
                              .inputs = 1,
                              .outputs = 1}};
    subject.index->recompiles = {{capture::GuardFailure{"L['n'] == 3", "4"}, "net", linear.stack, "", 2}};
    subject.frames = {std::move(frame)};
    return subject;
}

}  // namespace whittle::test
