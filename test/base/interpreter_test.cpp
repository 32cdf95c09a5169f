#include "base/interpreter.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace whittle;
using Words = std::vector<std::string>;
using Kind = Interpreted::Kind;

namespace {

using Found = std::optional<Interpreted>;

Found runs(const std::string& program, const Words& arguments) { return interpreted(program, arguments); }

std::string identity(const std::string& program, const Words& arguments) {
    return program_identity(program, arguments).string();
}

}  // namespace

TEST_CASE("an interpreter runs its first word that is no option, a module or code") {
    CHECK(runs("/usr/bin/python3", {"train.py", "-m", "x"}) == Found({Kind::script, "train.py"}));
    CHECK(runs("python3.13t", {"-u", "-W", "ignore", "-Xdev", "train.py"}) == Found({Kind::script, "train.py"}));
    CHECK(runs("python3-dbg", {"--check-hash-based-pycs", "always", "a.py"}) == Found({Kind::script, "a.py"}));
    CHECK(runs("python3", {"--", "-a.py"}) == Found({Kind::script, "-a.py"}));
    CHECK(runs("pypy3", {"-Bm", "package.part", "x.py"}) == Found({Kind::module_name, "package.part"}));
    CHECK(runs("python3", {"-mpackage"}) == Found({Kind::module_name, "package"}));
    CHECK(runs("python3", {"-c", "print()", "x"}) == Found({Kind::code, "print()"}));
    CHECK(runs("/bin/sh", {"-ec", "exit 7", "sh"}) == Found({Kind::code, "exit 7"}));
    CHECK(runs("bash", {"-o", "pipefail", "+x", "run.sh"}) == Found({Kind::script, "run.sh"}));
}

TEST_CASE("who reads standard input, and who is no interpreter, runs nothing that has a name") {
    CHECK_FALSE(runs("python3", {}));
    CHECK_FALSE(runs("python3", {"-"}));
    CHECK_FALSE(runs("python3", {"-m"}));
    CHECK_FALSE(runs("./app", {"train.py"}));
    CHECK_FALSE(runs("pythonize", {"train.py"}));
    CHECK_FALSE(runs("show", {"train.py"}));
}

TEST_CASE("a program is known by what its interpreter runs") {
    CHECK(identity("/usr/bin/python3", {"examples/train.py", "--epochs", "2"}) == "examples/train.py");
    CHECK(identity("/usr/bin/python3", {"-m", "package"}) == "package");
    CHECK(identity("/bin/sh", {"-c", "exit 7"}) == "sh -c exit 7");
    CHECK(identity("./app", {"train.py"}) == "./app");
    CHECK(identity("/usr/bin/python3", {}) == "/usr/bin/python3");
    const std::string one = identity("python3", {"-c", "import torch\nprint(1)"}),
                      two = identity("python3", {"-c", "import torch\nprint(2)"});
    CHECK(one.starts_with("python3 -c import torch #"));
    CHECK(one != two);
}
