#include "repro/schedule/pipeline_code.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "graph/failure.h"
#include "repro/schedule/program_text.h"

namespace {

using namespace whittle;
using namespace whittle::repro;
using Catch::Contains;
using halide_program::Argument;
using halide_program::CapturedPipeline;
using Nodes = halide_program::Nodes;

/// f(x) = 0; f(x) += in(x, r.x) * 2; out(x) = f(x)
CapturedPipeline sums() {
    CapturedPipeline pipeline{.entry = "Func::realize", .outputs = {"out"}, .shapes = {{{0, 8}}}};
    pipeline.nodes = {{.op = "variable", .type = "int32", .name = "x"},
                      {.op = "integer", .type = "int32", .value = "0"},
                      {.op = "integer", .type = "int32", .value = "16"},
                      {.op = "reduction variable", .type = "int32", .name = "r$x"},
                      {.op = "call", .type = "int32", .of = {0}, .name = "f", .kind = "func"},
                      {.op = "call", .type = "int32", .of = {0, 3}, .name = "in", .kind = "image"},
                      {.op = "integer", .type = "int32", .value = "2"},
                      {.op = "mul", .type = "int32", .of = {5, 6}},
                      {.op = "add", .type = "int32", .of = {4, 7}}};
    pipeline.funcs = {
        {.name = "f",
         .definitions = {{.arguments = {0}, .values = {1}},
                         {.arguments = {0}, .values = {8}, .domain = {{.name = "r$x", .min = 1, .extent = 2}}}},
         .compute = {.place = "root"},
         .store = {.place = "root"}},
        {.name = "out", .definitions = {{.arguments = {0}, .values = {4}}}}};
    pipeline.images = {{.name = "in", .type = "int32", .dimensions = {{0, 8, 1}, {0, 16, 8}}}};
    return pipeline;
}

Argument number(const std::string& value) {
    return {.kind = "expression", .nodes = {{.op = "integer", .type = "int32", .value = value}}, .node = 0};
}

PipelineCode code_for(const CapturedPipeline& pipeline) { return code_of(pipeline, InputValues::made_up, {}, "repro"); }

/// What f(x) = `nodes`'s last one is written as.
std::string written(Nodes nodes) {
    CapturedPipeline pipeline{.outputs = {"f"}, .shapes = {{{0, 8}}}};
    pipeline.nodes = std::move(nodes);
    pipeline.funcs = {
        {.name = "f", .definitions = {{.arguments = {0}, .values = {static_cast<int>(pipeline.nodes.size()) - 1}}}}};
    const std::string text = code_for(pipeline).algorithm;
    const std::size_t begin = text.find("f(x) = ") + 7;
    return text.substr(begin, text.rfind(';') - begin);
}
const halide_program::Node kX{.op = "variable", .type = "int32", .name = "x"};

TEST_CASE("definitions are written in the order in which they need each other") {
    const PipelineCode code = code_for(sums());
    CHECK(code.algorithm ==
          "    Var x(\"x\");\n"
          "    Func f(\"f\"), out(\"out\");\n"
          "    f(x) = 0;\n"
          "    RDom r(0, 16, \"r\");\n"
          "    f(x) += in(x, r.x) * 2;\n"
          "    out(x) = f(x);\n");
    CHECK(code.realize == "    return out.realize({8});\n");
    CHECK(code.result == "Buffer<int>");
    CHECK(code.has_images);
    CHECK_THAT(code.inputs, Contains("Buffer<int> in(8, 16);"));
}

TEST_CASE("a directive that is a culprit stands under a condition") {
    CapturedPipeline pipeline = sums();
    pipeline.schedule = {{.directive = 1, .owner = "f.update(0)", .name = "allow_race_conditions"},
                         {.directive = 2,
                          .owner = "f.update(0)",
                          .name = "vectorize",
                          .arguments = {{.kind = "reduction variable", .name = "r$x"},
                                        number("8"),
                                        {.kind = "text", .name = "TailStrategy::Auto"}},
                          .culprit = true}};
    const PipelineCode code = code_for(pipeline);
    CHECK(code.schedule ==
          "    f.compute_root();\n"
          "    if (scheduled) {\n"
          "        f.update().allow_race_conditions();\n"
          "        if (with_culprit) f.update().vectorize(r.x, 8);\n"
          "    }\n");
    CHECK(code.culprits == std::vector<std::string>{"f.update().vectorize(r.x, 8)"});
}

TEST_CASE("a directive of a buffer is written where it is a culprit") {
    CapturedPipeline pipeline = sums();
    pipeline.images[0].parameter = true;
    const auto stride = [](const std::string& owner, bool culprit) {
        return halide_program::CapturedCall{
            .directive = 1, .owner = owner, .name = "set_stride", .arguments = {number("4")}, .culprit = culprit};
    };
    pipeline.schedule = {stride("in.dim(1)", true), stride("out.dim(0)", true), stride("in.dim(0)", false),
                         stride("other.dim(0)", true)};
    const PipelineCode code = code_for(pipeline);
    CHECK(code.schedule ==
          "    f.compute_root();\n"
          "    if (scheduled) {\n"
          "        if (with_culprit) in.dim(1).set_stride(4);\n"
          "        if (with_culprit) out.output_buffer().dim(0).set_stride(4);\n"
          "    }\n");
    CHECK_THAT(code.inputs, Contains("ImageParam in(Int(32), 2, \"in\");"));
}

TEST_CASE("a Func that a culprit makes has no schedule without the culprit") {
    CapturedPipeline pipeline = sums();
    pipeline.schedule = {
        {.directive = 1,
         .owner = "f.update(0)",
         .name = "rfactor",
         .arguments = {{.kind = "reduction variable", .name = "r$x"}, {.kind = "variable", .name = "u"}},
         .returned = "f_intm",
         .culprit = true}};
    pipeline.funcs.push_back({.name = "f_intm", .compute = {.place = "root"}, .store = {.place = "root"}});
    const PipelineCode code = code_for(pipeline);
    CHECK_THAT(code.algorithm, Contains("Func f(\"f\"), out(\"out\"), f_intm(\"f_intm\");"));
    CHECK_THAT(code.schedule, Contains("if (with_culprit) f_intm = f.update().rfactor(r.x, u);\n"
                                       "        if (with_culprit) f_intm.compute_root();\n"));
}

TEST_CASE("a Func that is computed at a loop and stored elsewhere gets both directives") {
    CapturedPipeline pipeline = sums();
    pipeline.func("f")->compute = {.place = "loop", .func = "out", .loop = "x"};
    CHECK_THAT(code_for(pipeline).schedule, Contains("f.compute_at(out, x);\n        f.store_root();\n"));
}

TEST_CASE("outputs of different sizes, or that do not begin at 0, are buffers of their own") {
    CapturedPipeline pipeline = sums();
    pipeline.shapes = {{{2, 8}}};
    CHECK(code_for(pipeline).realize ==
          "    Buffer<int> result(std::vector<int>{8});\n    result.set_min(2);\n    out.realize(result);\n"
          "    return result;\n");
    pipeline.outputs = {"f", "out"};
    pipeline.shapes = {{{0, 4}}, {{0, 8}}};
    CHECK(code_for(pipeline).realize ==
          "    Buffer<int> result0(std::vector<int>{4});\n    Buffer<int> result1(std::vector<int>{8});\n"
          "    std::vector<Buffer<>> buffers{result0, result1};\n    Realization results(buffers);\n    Pipeline({f, "
          "out}).realize(results);\n"
          "    return results;\n");
}

TEST_CASE("numbers have the type of what they are combined with") {
    const halide_program::Node byte{.op = "cast", .type = "uint8", .of = {0}};
    CHECK(written({kX,
                   byte,
                   {.op = "integer", .type = "uint8", .value = "3"},
                   {.op = "add", .type = "uint8", .of = {1, 2}}}) == "cast<uint8_t>(x) + 3");
    CHECK(written({kX, {.op = "integer", .type = "uint8", .value = "3"}}) == "cast<uint8_t>(3)");
    CHECK(
        written({kX, {.op = "integer", .type = "int32", .value = "3"}, {.op = "min", .type = "int32", .of = {0, 1}}}) ==
        "min(x, Expr(3))");
}

TEST_CASE("parentheses stand where C++ needs them") {
    const halide_program::Node two{.op = "integer", .type = "int32", .value = "2"};
    CHECK(written(
              {kX, two, {.op = "sub", .type = "int32", .of = {0, 1}}, {.op = "sub", .type = "int32", .of = {0, 2}}}) ==
          "x - (x - 2)");
    CHECK(written(
              {kX, two, {.op = "add", .type = "int32", .of = {0, 1}}, {.op = "mul", .type = "int32", .of = {2, 1}}}) ==
          "(x + 2) * 2");
}

TEST_CASE("a function that Halide's front end lacks is called by its name in Halide's IR") {
    CHECK(written(
              {kX, {.op = "call", .type = "int32", .of = {0, 0}, .name = "saturating_add", .kind = "PureIntrinsic"}}) ==
          "Internal::Call::make(Int(32), \"saturating_add\", {x, x}, Internal::Call::PureIntrinsic)");
    CHECK(written({kX,
                   {.op = "cast", .type = "float32", .of = {0}},
                   {.op = "call", .type = "float32", .of = {1}, .name = "sqrt_f32", .kind = "PureExtern"}}) ==
          "sqrt(cast<float>(x))");
}

TEST_CASE("names are those of C++, and none of Halide's") {
    CapturedPipeline pipeline = sums();
    pipeline.funcs[0].name = "max";
    pipeline.nodes[4].name = "max";
    pipeline.funcs[1].name = pipeline.outputs[0] = "out$1";
    const std::string text = code_for(pipeline).algorithm;
    CHECK_THAT(text, Contains("Func max_1(\"max_1\"), out_1(\"out_1\")"));
}

TEST_CASE("what an external function computes has no program") {
    CapturedPipeline pipeline = sums();
    pipeline.func("f")->external = "my_function";
    CHECK_THROWS_WITH(code_for(pipeline), Contains("my_function"));
}

TEST_CASE("a program compares with the pipeline without directives, or catches Halide's error") {
    Failure failure{.backend = "halide", .signature = {.kind = "mismatch", .stage = "run", .detail = "value"}};
    CapturedPipeline pipeline = sums();
    pipeline.schedule = {{.directive = 1, .owner = "f", .name = "memoize", .culprit = true}};
    const PipelineCode code = code_for(pipeline);
    const ReproProgram program = schedule_program(code, {failure, "repro.cpp"});
    CHECK_THAT(program.text, Contains("expected = run(false, false), got = run(true, argc == 1)"));
    CHECK_THAT(program.text, Contains("Without this directive (./repro control), the result is right."));
    CHECK(program.control_argument == "f.memoize() switched off");
    failure.signature = {.kind = "exception", .stage = "compile"};
    const std::string throwing = schedule_program(code, {failure, "repro.cpp"}).text;
    CHECK_THAT(throwing, Contains("catch (const Error &e)"));
    CHECK_THAT(throwing, Contains("Without this directive (./repro control), the pipeline runs to its end."));
}

}  // namespace
