// The text of a bug report: what it says that the program prints.
#include "repro/steps.h"

#include <catch2/catch.hpp>

#include "base/files.h"
#include "repro/failing.h"

using namespace whittle;
using namespace whittle::repro;

namespace {

constexpr const char* kNeg = R"(graph neg {
  %x = placeholder["x"] : f32[1]
  %neg = aten.neg.default(%x) : f32[1]
  return (%neg)
}
)";

/// Compiles nothing; its short program is what it is made with.
class Shown final : public Backend, public Emitter {
  public:
    explicit Shown(ReproProgram program) : program_(std::move(program)) {}

    std::string name() const override { return "shown"; }
    std::string description() const override { return "a program that is given"; }
    CompileResult compile(const Graph&, const BackendOptions&) override { return BackendFailure{"compile", "", "no"}; }
    SuspectCode emit(const EmitRequest&) override { throw Error("there is no harness"); }
    std::optional<ReproProgram> short_program(const ShortRequest&, std::string&) override { return program_; }

  private:
    ReproProgram program_;
};

/// A program with such a main, which fails.
ReproProgram program_of(const std::string& body) {
    return {.text = "#include <cstdio>\n#include <cstdlib>\nint main() {\n" + body + "    return 1;\n}\n",
            .summary = "neg is wrong"};
}

/// The whole report of a program.
std::string report_of(const ReproProgram& program, const std::vector<std::string>& notes = {}) {
    const TempDir folder("whittle-test");
    Shown backend(program);
    const Graph graph = failing(kNeg, {Tensor::of<float>({1})}, "shown", {"exception", "compile", "no"});
    Options options = fixed_options(folder.path() / "repro.cpp");
    options.issue = folder.path() / "ISSUE.md";
    options.notes = notes;
    const Repro repro = write_repro(graph, options, &backend);
    INFO(repro.message);
    REQUIRE(repro.verified);
    return read_file(folder.path() / "ISSUE.md");
}

/// The report of a program that has such a main; `control`: what passes in each of its runs.
std::string issue_of(const std::string& body, const std::string& control = "") {
    ReproProgram program = program_of(body);
    program.control = control;
    const std::string text = report_of(program);
    CHECK(text.find("neg is wrong") == text.rfind("neg is wrong"));  // the title alone says it
    const std::size_t begin = text.find("./repro\n\n");
    REQUIRE(begin != std::string::npos);
    const std::size_t end = text.find("\n### ", begin);
    return text.substr(begin, end - begin);
}

}  // namespace

TEST_CASE("issue: all lines that the program prints") {
    CHECK(issue_of("    puts(\"y: {\\n  a: 1,\\n\\n  b: 2\\n}\");\n") ==
          "./repro\n\nprints\n\n    y: {\n      a: 1,\n\n      b: 2\n    }\n\n"
          "and exits with status 1 (0 when the bug is fixed).\n");
    CHECK(issue_of("") == "./repro\n\nexits with status 1 (0 when the bug is fixed).\n");
}

TEST_CASE("issue: nothing on status 2, with which a program ends where its control fails") {
    CHECK(issue_of("", "level 0") == "./repro\n\nexits with status 1 (0 when the bug is fixed).\n");
}

TEST_CASE("issue: of many lines the first and the last, and how many there are between them") {
    const std::string twelve = issue_of("    for (int i = 1; i <= 12; i++) printf(\"line %d\\n\", i);\n");
    for (int i = 1; i <= 12; i++) CHECK(twelve.find("    line " + std::to_string(i) + "\n") != std::string::npos);
    CHECK(issue_of("    for (int i = 1; i <= 13; i++) printf(\"line %d\\n\", i);\n") ==
          "./repro\n\nprints\n\n    line 1\n    line 2\n    line 3\n    line 4\n    line 5\n    line 6\n"
          "    [… 2 lines …]\n    line 9\n    line 10\n    line 11\n    line 12\n    line 13\n\n"
          "and exits with status 1 (0 when the bug is fixed).\n");
}

TEST_CASE("issue: what decides in memory that nobody wrote is an example") {
    const std::string text =
        issue_of("    volatile unsigned char* p = (unsigned char*)malloc(4096);\n    printf(\"%d\\n\", p[2000]);\n");
    CHECK(text.starts_with("./repro\n\nprints, for example,\n\n    "));
}

TEST_CASE("issue: what is right nearby, unless the user says the cause") {
    ReproProgram program = program_of("");
    program.facts = "Wrong at all levels.\n", program.near = "The result is right without `alpha`.",
    program.model = "The model\n";
    CHECK(report_of(program).find("Wrong at all levels.\n\nThe result is right without `alpha`.\n\nThe model\n") !=
          std::string::npos);
    CHECK(report_of(program, {"It drops alpha."}).find("It drops alpha.\n\nWrong at all levels.\n\nThe model\n") !=
          std::string::npos);
}

TEST_CASE("issue: a tracker whose readers write Python gets the script, where it was run") {
    ReproProgram program = program_of("");
    program.tracker = "pytorch", program.compiler = "LibTorch 1.13.0";
    program.others = {{.name = "repro.py",
                       .text = "# neg is wrong\n#\n#   python3 repro.py\nprint(1)\n",
                       .run = {"sh", "-c", "echo exception: no; exit 1"},
                       .probe = {"echo", "PyTorch 9"}}};
    const std::string text = report_of(program);
    CHECK(text.find("```python\nprint(1)\n```\n\nThe same in C++: `repro.cpp`, attached.\n\n    sh -c ") !=
          std::string::npos);
    CHECK(text.find("prints\n\n    exception: no\n\nand exits with status 1") != std::string::npos);
    CHECK(text.find("- PyTorch 9\n") != std::string::npos);

    program.others[0].run = {"true"};  // it does not show the failure
    const std::string other = report_of(program);
    CHECK(other.find("```cpp\n") != std::string::npos);
    CHECK(other.find("The same in Python: `repro.py`, attached.") == std::string::npos);
    CHECK(other.find("- LibTorch 1.13.0\n") != std::string::npos);
}

TEST_CASE("issue: the form of each tracker, without headings under which there is nothing") {
    ReproProgram program = program_of("");
    program.compiler = "shown 1, target host";
    for (const auto& [tracker, part] :
         {std::pair("", "\n### To reproduce\n\n```cpp\n"), std::pair("halide", "\n### Target\n\nhost\n\n### Operating"),
          std::pair("onnxruntime", "\n### Urgency\n\nNone.\n\n### Platform\n\nLinux\n"),
          std::pair("opencv", "\n- [x] There is reproducer code and related data files (videos, images, onnx, etc)\n"),
          std::pair("pytorch", "\n### \U0001F41B Describe the bug\n\n```cpp\n"),
          std::pair("pytorch_compile", "\n### Error logs\n\nThe program exits with status 1")}) {
        program.tracker = tracker;
        const std::string text = report_of(program);
        INFO(text);
        CHECK(text.find(part) != std::string::npos);
        CHECK(text.find("@") == std::string::npos);
        CHECK(text.find("What happens") == std::string::npos);  // the title says it
    }
}

TEST_CASE("issue: of torch.compile, the error log has a part of its own, and the control belongs to the program") {
    ReproProgram program = program_of("    if (argc > 1) return 0;\n    puts(\"no kernel\");\n");
    program.text.replace(program.text.find("main()"), 6, "main(int argc, char**)");
    program.tracker = "pytorch_compile", program.compiler = "PyTorch 2.14.1 (inductor, Python 3.14.10)";
    program.control_argument = "at most 0 of lowerings";
    const std::string text = report_of(program);
    INFO(text);
    const auto at = [&](const char* part) { return text.find(part); };
    CHECK(at("```cpp\n") < at("`./repro control` passes: at most 0 of lowerings.\n\n### Error logs\n\n"));
    CHECK(text.find("### Error logs\n\nThe program prints\n\n    no kernel\n\nand exits with status 1") !=
          std::string::npos);
    CHECK(text.find("### Versions\n\n- PyTorch 2.14.1 (inductor, Python 3.14.10)\n- ") != std::string::npos);
}

TEST_CASE("issue: a script that fails by itself shows nothing") {
    ReproProgram program = program_of("");
    program.tracker = "pytorch", program.compiler = "LibTorch 1.13.0";
    program.others = {{.name = "repro.py", .text = "print(1)\n", .run = {}, .probe = {"true"}}};
    const auto shown = [&](const std::string& end) {
        program.others[0].run = {"python3", "-c", "print('exception: no')\n" + end};
        return report_of(program).find("```python\n") != std::string::npos;
    };
    CHECK(shown("raise SystemExit(1)"));
    CHECK(!shown("raise NameError('torch')"));
}

TEST_CASE("issue: what may show it where the shorter program does not") {
    ReproProgram program = program_of("    if (1) return 0;\n");
    program.otherwise = std::make_shared<ReproProgram>(program_of("    puts(\"longer\");\n"));
    CHECK(report_of(program).find("    longer\n") != std::string::npos);
    program.otherwise->text = program.text;
    program.text = program_of("    puts(\"shorter\");\n").text;
    CHECK(report_of(program).find("    shorter\n") != std::string::npos);
}

namespace {

/// A repro that is no short program, of an exception with this message.
Repro harness(const std::string& message) {
    Repro repro{.graph = failing(kNeg, {Tensor::of<float>({1})}, "shown", {"exception", "run", message})};
    repro.graph.failure->message = message;
    repro.program.text = "int main() {}\n";
    repro.output = "repro.cpp";
    repro.verified = true, repro.runs = repro.of = 3;
    return repro;
}

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) found++;
    return found;
}

}  // namespace

TEST_CASE("issue: a title is one line of whole words that trackers take") {
    std::string message = "no kernel\n";
    for (int i = 0; i < 100; i++) message += " elephants";
    const std::string text = issue_text(harness(message), fixed_options());
    const std::string title = text.substr(0, text.find('\n'));
    CHECK(title.starts_with("Title: exception at run: no kernel  elephants elephants"));
    CHECK(title.ends_with(" elephants..."));
    CHECK(title.size() <= std::string("Title: ").size() + 200);
}

TEST_CASE("repro: an exception's message is printed once, other last words are kept") {
    const std::string words = "no kernel for 'neg'";
    Repro repro = harness(words);
    for (const char* said : {"no kernel for 'neg'", "basic: no kernel for 'neg'", "no kernel"}) {
        repro.message = said;
        const std::string text = to_text(repro, repro.failure(), fixed_options());
        CAPTURE(text);
        CHECK(count(text, "no kernel") == 1);
        CHECK(count(text, "exception at run\n") == 1);
    }
    repro.message = "no kernel for 'f'";
    CHECK(count(to_text(repro, repro.failure(), fixed_options()), "no kernel") == 2);
}
