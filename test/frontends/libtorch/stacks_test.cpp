// What stacks say: return addresses as places (Symbolizer), and places as the function whose frame they are of
// (StackReader).
#include <dlfcn.h>

#include "frontends/libtorch/frames.h"
#include "frontends/libtorch/stack_reader.h"
#include "frontends/libtorch/symbolizer.h"
#include "interpreted.h"

using namespace whittle;
using namespace whittle::libtorch;

namespace {

__attribute__((noinline)) std::uint64_t return_address() {
    return reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
}

/// An event file of this very program: where it is mapped.
EventFile own_file() {
    Dl_info loaded = {};
    REQUIRE(::dladdr(reinterpret_cast<void*>(&return_address), &loaded));
    const auto base = reinterpret_cast<std::uint64_t>(loaded.dli_fbase);
    EventFile file;
    file.mappings = {{.low = base, .high = base + (1U << 30), .base = base, .path = "/proc/self/exe"}};
    return file;
}

}  // namespace

namespace model {

__attribute__((noinline)) std::uint64_t model() {
    const std::uint64_t address = return_address();
    asm volatile("" ::: "memory");  // no tail call, whose return address were another's
    return address;
}

struct Layer {
    __attribute__((noinline)) Layer() : made_at(return_address()) {}
    std::uint64_t made_at;
};

}  // namespace model

TEST_CASE("a return address is the line of the call, in the program itself") {
    const EventFile file = own_file();
    const std::uint64_t base = file.mappings.front().base;
    Symbolizer symbolizer(file);
    const int line = __LINE__ + 1;
    const std::uint64_t address = return_address();
    const std::vector<CodePlace>& places = symbolizer.places(address);
    const CodePlace& place = places.back();
    CHECK(place.in_program);
    CHECK(place.user);
    CHECK_FALSE(place.inlined);
    CHECK(place.address == address);
    CHECK(place.offset == address - base);
    CHECK_FALSE(place.function.empty());
    if (place.file.empty()) return;  // built without debug information
    CHECK(symbolizer.program_has_lines());
    CHECK(std::filesystem::path(place.file).filename() == "stacks_test.cpp");
    CHECK(place.line == line);
    CHECK_THAT(symbolizer.source_text(place.file, line), Catch::Contains("return_address();"));
    CHECK(&symbolizer.places(address) == &places);
}

TEST_CASE("a function that is called as its namespace is no constructor") {
    const EventFile file = own_file();
    Symbolizer symbolizer(file);
    const CodePlace& function = symbolizer.places(model::model()).back();
    CHECK(function.function == "model::model");
    CHECK_FALSE(function.constructor);
    const CodePlace& constructor = symbolizer.places(model::Layer().made_at).back();
    CHECK(constructor.function == "model::Layer::Layer");
    CHECK(constructor.constructor);
}

TEST_CASE("an address that nothing is mapped at is a place of nobody's") {
    EventFile file;
    file.mappings = {{.low = 0x1000, .high = 0x2000, .base = 0x1000, .path = "/home/me/app"}};
    Symbolizer symbolizer(file);
    for (const std::uint64_t address : {0x10, 0x1000, 0x2001}) {
        REQUIRE(symbolizer.places(address).size() == 1);
        CHECK(symbolizer.places(address)[0].module.empty());
        CHECK_FALSE(symbolizer.places(address)[0].user);
    }
    CHECK(symbolizer.places(0x1001)[0].module == "/home/me/app");  // the byte before it belongs to the call
    CHECK(symbolizer.places(0x2000)[0].module == "/home/me/app");
}

TEST_CASE(
    "lines of Python are the user's outside of the interpreter's and packages' folders, a model's outside PyTorch's") {
    const auto users = [](Language language, const SourcePlace& place) {
        Interpreted program(language);
        program.stack({place});
        return Symbolizer(program.file).places(1).at(0).user;
    };
    CHECK(users(Language::python, mine("step", 1)));
    CHECK_FALSE(users(Language::python, library(kFunctional, "relu")));
    CHECK_FALSE(users(Language::python, library("<frozen runpy>", "run")));
    CHECK_FALSE(users(Language::python, library("/tmp/torchinductor_me/ab/cab.py", "Runner.call")));
    CHECK_FALSE(users(Language::python, library("__init__", "__init__")));
    CHECK(users(Language::python, library("/srv/lib/python3/server.py", "serve")));  // no folder of this interpreter
    CHECK(users(Language::torchscript, library("/opt/lib/python3/site-packages/vision/net.py", "forward")));
    CHECK_FALSE(users(Language::torchscript, library(kFunctional, "relu")));
    SourcePlace entry = library(kFunctional, "relu");
    entry.entry = true;
    CHECK(users(Language::torchscript, entry));
}

TEST_CASE("a frame is of the function that the script itself calls") {
    Interpreted program;
    const StackInfo info =
        program.info({library(kFunctional, "relu"), mine("helper", 3), mine("step", 10), mine("<module>", 20)});
    CHECK(info.function == "step");
    CHECK(info.line == 10);
    CHECK_FALSE(info.root);
    CHECK_FALSE(info.module);
    REQUIRE(info.user.size() == 3);  // the library's line is not there
    CHECK(info.user[0].function == "helper");

    const StackInfo again = program.info({mine("step", 11), mine("<module>", 20)});
    CHECK_FALSE(info.is_same_call(again));  // another place of the same line, as if in another turn
    const StackInfo script = program.info({library(kFunctional, "relu"), mine("<module>", 21)});
    CHECK(script.root);
    CHECK(script.function == "<module>");
    // What a script's main() does, the script does.
    CHECK(program.info({mine("main", 5), mine("<module>", 22)}).root);
    CHECK(program.info({mine("step", 2), mine("main", 5), mine("<module>", 22)}).function == "step");
}

TEST_CASE("a stack names the library whose own code the program called") {
    const auto called = [](const std::string& file) {
        return Interpreted().info({library(file, "step"), mine("train", 3), mine("<module>", 20)}).library;
    };
    CHECK(called("/usr/lib/python3/dist-packages/torch/optim/adam.py") == "torch/optim/adam.py");
    CHECK(called("/home/me/venv/lib/python3.11/site-packages/vision/ops.py") == "vision/ops.py");
    for (const char* wrapper : {"torch/_tensor_str.py", "torch/functional.py", "torch/autograd/__init__.py"})
        CHECK(called("/usr/lib/python3/dist-packages/" + std::string(wrapper)).empty());
    CHECK(called("/usr/lib/python3.11/logging/__init__.py").empty());
    CHECK(Interpreted().info({mine("train", 3), library(kFunctional, "call"), mine("<module>", 20)}).library.empty());
}

TEST_CASE("a comprehension is a statement of who wrote it") {
    const StackInfo info = Interpreted().info({mine("step.<listcomp>", 4), mine("step", 4), mine("<module>", 9)});
    CHECK(info.comprehension);
    CHECK(info.function == "step");
    CHECK_FALSE(Interpreted().info({mine("step", 4), mine("<module>", 9)}).comprehension);
}

TEST_CASE("a module that a function calls has the frame, layers of torch.nn have none") {
    const SourcePlace call = library(kModule, "Module._call_impl", 77);
    const StackInfo model = Interpreted().info(
        {library(kFunctional, "relu"), mine("Net.forward", 5), call, mine("step", 10), mine("<module>", 20)});
    REQUIRE(model.module);
    CHECK(model.module->function == "Net.forward");
    CHECK(model.module->line == 5);
    CHECK_THAT(model.module->call_place, Catch::EndsWith(" 77"));
    const StackInfo compiled =
        Interpreted().info({library(kFunctional, "relu"), mine("Net.forward", 5),
                            library("/usr/lib/python3/dist-packages/torch/_dynamo/eval_frame.py", "compile_wrapper"),
                            call, mine("step", 10), mine("<module>", 20)});
    REQUIRE(compiled.module);
    CHECK(compiled.module->function == "Net.forward");
    const std::string linear = "/usr/lib/python3/dist-packages/torch/nn/modules/linear.py";
    const StackInfo layer =
        Interpreted().info({library(linear, "Linear.forward"), call, mine("step", 10), mine("<module>", 20)});
    CHECK_FALSE(layer.module);
    const StackInfo constructed = Interpreted().info(
        {library(kFunctional, "ones"), mine("Net.__init__", 2), mine("step", 10), mine("<module>", 20)});
    REQUIRE(constructed.module);
    CHECK(constructed.module->function == "Net.__init__");
}

TEST_CASE("hooks of a module have no frame, and a decorated forward has that of the module") {
    const std::string torch = "/usr/lib/python3/dist-packages/torch/";
    const SourcePlace call = library(kModule, "Module._call_impl", 77), script = mine("<module>", 20);
    const StackInfo hook = Interpreted().info(
        {library(torch + "utils/hooks.py", "BackwardHook.setup_input_hook"), call, mine("step", 10), script});
    CHECK_FALSE(hook.module);
    CHECK(hook.function == "step");
    for (const char* const file : {"autograd/grad_mode.py", "utils/_contextlib.py", "amp/autocast_mode.py"}) {
        CAPTURE(file);
        const StackInfo decorated =
            Interpreted().info({library(kFunctional, "relu"), mine("Net.forward", 5),
                                library(torch + file, "decorate_context"), call, mine("step", 10), script});
        REQUIRE(decorated.module);
        CHECK(decorated.module->function == "Net.forward");
    }
}

TEST_CASE("what torch.compile runs is the compiler's, and a row of Inductor's operations is one step") {
    const std::string torch = "/usr/lib/python3/dist-packages/torch/";
    const SourcePlace script = mine("<module>", 20);
    Interpreted program;
    const std::uint32_t own = program.stack({library(kFunctional, "relu"), script}),
                        compiles = program.stack({library(torch + "_dynamo/convert_frame.py", "_compile"), script}),
                        gradients = program.stack(
                            {library(torch + "_inductor/compile_fx.py", "compile_fx.<locals>.bw_compiler"), script}),
                        generated =
                            program.stack({library("/tmp/torchinductor_me/ab/cab.py", "Runner.call"),
                                           library(torch + "_inductor/compile_fx.py", "f.<locals>.run"), script});
    const Event event;
    std::vector<Step> steps;
    for (const std::uint32_t stack : {own, compiles, generated, generated, own, generated, gradients})
        steps.push_back({.begin = &event, .stack = stack});
    Symbolizer symbolizer(program.file);
    CHECK(leave_out_compiled(program.file, steps, symbolizer) == 2);
    std::vector<StepKind> kinds;
    for (const Step& step : steps) kinds.push_back(step.kind);
    CHECK(kinds == std::vector{StepKind::op, StepKind::compiled, StepKind::op, StepKind::compiled});
}

TEST_CASE("a package's module that calls one of the program's is one frame, whoever calls it") {
    const std::string container = "/usr/lib/python3/dist-packages/torch/nn/modules/container.py";
    const std::vector<SourcePlace> chain = {
        library(kFunctional, "relu"), mine("Net.forward", 5), library(kModule, "Module._call_impl", 78),
        library(container, "Sequential.forward"), library(kModule, "Module._call_impl", 77)};
    std::vector<SourcePlace> by_script = chain, by_function = chain;
    by_script.push_back(mine("<module>", 20));
    by_function.insert(by_function.end(), {mine("step", 10), mine("<module>", 21)});
    for (const auto& places : {by_script, by_function}) {
        const StackInfo info = Interpreted().info(places);
        REQUIRE(info.module);
        CHECK(info.module->function == "Sequential.forward");
        CHECK(info.root == (places.size() == by_script.size()));
    }
}

TEST_CASE("the functions around a frame's are counted, unless it is not known what called it") {
    const std::vector<SourcePlace> places = {library(kFunctional, "relu"), mine("step", 10), mine("<module>", 20)};
    CHECK(Interpreted().info(places).callers == 1);
    std::vector<SourcePlace> entered = places;
    entered[1].entry = true;  // map(step, ...)
    CHECK_FALSE(Interpreted().info(entered).callers);
    const StackInfo model =
        Interpreted().info({mine("Net.forward", 5), library(kModule, "Module._call_impl", 77),
                            library(kModule, "Module._wrapped_call_impl", 77), mine("step", 10), mine("<module>", 20)});
    CHECK(model.callers == 1);
    REQUIRE(model.module);
    CHECK(model.module->callers == 2);
}

TEST_CASE("frames are of the functions that are asked for, and what none of them calls is outside") {
    const std::vector<SourcePlace> places = {mine("helper", 3), mine("step", 10), mine("<module>", 20)};
    CHECK(Interpreted().info(places, {"helper"}).function == "helper");
    CHECK_FALSE(Interpreted().info(places, {"helper"}).outside);
    CHECK(Interpreted().info(places, {"step"}).function == "step");
    CHECK(Interpreted().info(places, {"other"}).outside);
    CHECK(Interpreted().info({library(kFunctional, "relu")}, {"step"}).outside);
}

TEST_CASE("what a worker does that no function of the program's called is told by what it works at") {
    const std::string fetch = "/usr/lib/python3/dist-packages/torch/utils/data/_utils/fetch.py";
    const SourcePlace starter = library("/usr/lib/python3.11/threading.py", "Thread.run");
    const StackInfo item = Interpreted().info({mine("Images.__getitem__", 8), library(fetch, "fetch"), starter});
    CHECK(item.function == "Images.__getitem__");
    CHECK_FALSE(item.root);
    const StackInfo own = Interpreted().info(
        {mine("Images.__getitem__", 8), library(fetch, "fetch"), mine("step", 10), mine("<module>", 20)});
    CHECK(own.function == "step");  // who asks for it in the program's own thread
    CHECK(Interpreted()
              .info({library(kFunctional, "relu"), library("/usr/lib/python3/dist-packages/pool.py", "work"), starter})
              .function == "work");
    CHECK(Interpreted().info({}).function == "main");
}

TEST_CASE("a child's functions are those that it did not inherit, and it is told where it was forked") {
    Interpreted program;
    const std::uint32_t fork = program.stack({mine("serve", 4), mine("main", 7), mine("<module>", 9)});
    program.file.process.forked_at = fork;
    program.file.process.inherited = 3;
    const std::vector<std::uint64_t> outer = program.file.stacks.at(fork);
    const std::uint32_t own = program.stack({mine("job", 30)});
    program.file.stacks.at(own).insert(program.file.stacks.at(own).end(), outer.begin(), outer.end());
    Symbolizer symbolizer(program.file);
    StackReader reader(program.file, symbolizer, {});
    const StackInfo& info = reader.info(own);
    CHECK(info.function == "job");
    CHECK(info.user.size() == 1);
    const std::vector<StackFrame> place = reader.fork_place();
    REQUIRE(place.size() == 3);
    CHECK(place[0].function == "serve");
    CHECK(reader.functions_seen() == std::set<std::string>{"job"});
}

TEST_CASE("autograd and TorchScript's compiler are told by their functions") {
    CHECK(runs_backward("torch::autograd::Engine::execute"));
    CHECK(runs_backward("torch::autograd::backward"));
    CHECK_FALSE(runs_backward("torch::autograd::Node::operator()"));
    CHECK(compiles_script("torch::jit::ConstantPooling"));
    CHECK(compiles_script("torch::jit::ProfilingGraphExecutorImpl::getPlanFor"));
    CHECK_FALSE(compiles_script("torch::jit::GraphFunction::run"));
    CHECK_FALSE(compiles_script("ConstantPooling"));
}

TEST_CASE("a template's function is called without what it returns") {
    CHECK(name_by_place("void train<float>", "app.cpp", 7) == "train<float>");
    CHECK(name_by_place("std::vector<int> ns::make<int (*)(int)>", "app.cpp", 7) == "ns::make<int (*)(int)>");
    CHECK(name_by_place("Flag<int>::operator bool", "app.cpp", 7) == "Flag<int>::operator bool");
    CHECK(name_by_place("train", "app.cpp", 7) == "train");
}

TEST_CASE("the program that runs a module for the user is not asked for debug information") {
    for (const auto& [program, known] :
         {std::pair("/opt/bin/whittle-torchscript", true), {"/home/me/program", false}}) {
        EventFile file;
        file.mappings = {{.low = 1, .high = 2, .base = 1, .path = program}};
        CHECK(Symbolizer(file).program_has_lines() == known);
    }
}
