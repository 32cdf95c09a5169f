#include "frontends/clang/unit.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/files.h"

using namespace whittle;
using namespace whittle::cpp;

namespace {

/// Anything with such a member is a tensor.
const std::string kHead =
    "#include <cstdio>\n#include <fstream>\n#include <iostream>\n#include <sstream>\n"
    "struct Tensor { const void* whittle_identity() const; float item() const; const float* data_ptr() const; };\n"
    "Tensor operator+(const Tensor&, const Tensor&);\n";
const auto kLinesBefore = static_cast<int>(std::count(kHead.begin(), kHead.end(), '\n'));

Unit unit_of(const TempDir& folder, const std::string& code) {
    write_file(folder.path() / "model.cpp", kHead + code);
    return {(folder.path() / "model.cpp").string(), {"-std=c++17"}};
}

/// "line 1, maybe item: REASON" each.
std::vector<std::string> predictions(const std::string& code) {
    const TempDir folder;
    std::vector<std::string> told;
    for (const Prediction& p : analyze(unit_of(folder, code)).predictions)
        told.push_back("line " + std::to_string(p.range.line - kLinesBefore) + ", " + (p.possible ? "maybe " : "") +
                       std::string(name(p.kind)) + ": " + p.reason);
    return told;
}

/// The code as it is with probes, without what stands before it.
std::string probed(const std::string& code, std::vector<Site>* sites = nullptr) {
    const TempDir folder;
    Probed result = add_probes(unit_of(folder, code));
    if (sites) *sites = result.sites;
    std::size_t at = 0;
    for (int i = 0; i < kLinesBefore; ++i) at = result.text.find('\n', at) + 1;
    return result.text.substr(at);
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("input and output are predicted as what does them") {
    CHECK(predictions("void f(Tensor t) { std::printf(\"a\"); }") ==
          Lines{"line 1, side_effect: C output by printf()"});
    CHECK(predictions("void f(Tensor t) { std::cout << 1; }") == Lines{"line 1, side_effect: stream output"});
    CHECK(predictions("void f(Tensor t) { std::remove(\"a\"); }") == Lines{"line 1, side_effect: file access"});
    CHECK(predictions("void f(Tensor t) { std::ostringstream text; text << 1; }").empty());  // in memory
    CHECK(predictions("void f(Tensor t) { std::printf(\"%f\", double(t.item())); }") ==
          Lines{"line 1, side_effect: C output by printf(); .item() reads tensor data"});
    CHECK(predictions("void f(int) { std::printf(\"a\"); }").empty());  // no tensor is near
}

TEST_CASE("a read is a branch where a condition decides by it, once per condition") {
    CHECK(predictions("float f(Tensor t) { return t.item(); }").size() == 1);
    CHECK(predictions("int f(Tensor a, Tensor b) {\n"
                      "    if (a.item() > 0 && b.item() > 0) return 1;\n"
                      "    return 0;\n"
                      "}")
              .size() == 1);
    const Lines both = predictions("int f(Tensor a) {\n    if (a.item() > 0) return 1;\n    return int(a.item());\n}");
    REQUIRE(both.size() == 2);
    CHECK(both[0].starts_with("line 2, branch: branch (if) on tensor data: "));
    CHECK(both[1].starts_with("line 3, item: "));
    const Lines pointer = predictions("float f(Tensor a) { return *a.data_ptr(); }");
    REQUIRE(pointer.size() == 1);
    CHECK(pointer[0].starts_with("line 1, maybe data_pointer: "));
}

TEST_CASE("probes stand on the lines of what they tell of, and a result is returned as it is written") {
    const std::string code =
        "Tensor f(Tensor a, int n) {\n"
        "    Tensor sum = a + a;\n"
        "    switch (n) {\n"
        "        case 1:\n"
        "            return sum + a;\n"
        "    }\n"
        "    return sum;\n"
        "}\n";
    std::vector<Site> sites;
    const std::string text = probed(code, &sites);
    CHECK(std::count(text.begin(), text.end(), '\n') == std::count(code.begin(), code.end(), '\n'));
    CHECK_THAT(text, Catch::Contains("::whittle::probe::named(\"a\",a)"));
    CHECK_THAT(text, Catch::Contains(".name(\"sum\",sum);"));
    CHECK_THAT(text, Catch::Contains("return sum + a;\n"));
    CHECK_THAT(text, Catch::Contains("return sum;\n"));
    CHECK_THAT(text, Catch::Contains(".select("));
    CHECK(std::ranges::count(sites, "switch", &Site::what) == 1);
    CHECK(std::ranges::count(sites, SiteKind::statement, &Site::kind) == 4);
}

TEST_CASE("what gets no probes is told, with the reason") {
    const TempDir folder;
    const Probed result = add_probes(unit_of(
        folder,
        "constexpr int twice(int n) { return 2 * n; }\nTensor f(Tensor t) try { return t; } catch (...) { throw; }\n"));
    REQUIRE(result.skipped.size() == 2);
    CHECK(result.skipped[0].what == "function 'twice'");
    CHECK(result.skipped[0].reason == "constexpr");
    CHECK(result.skipped[1].reason == "the body is a try block");
}

TEST_CASE("what Clang cannot read is an Error with the place of the first mistake") {
    const TempDir folder;
    try {
        analyze(unit_of(folder, "int f() {\n    return missing;\n}\n"));
        FAIL("no error");
    } catch (const Error& error) {
        CHECK(error.where().position == "line " + std::to_string(kLinesBefore + 2) + ", column 12");
        CHECK_THAT(error.message(), Catch::Contains("undeclared identifier 'missing'"));
    }
}
