#include "frontends/cpp/command.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/files.h"

namespace {

using namespace whittle;
using Words = std::vector<std::string>;

TEST_CASE("the compiler, the source and the outputs are found") {
    const cpp::Command c =
        cpp::parse_command(Words{"ccache", "g++", "-I", "a.cpp", "-MD", "-c", "dir/x.cc", "-o", "x.o"});
    CHECK(c.other.empty());
    CHECK(c.refused.empty());
    CHECK(c.words[c.compiler] == "g++");
    CHECK(c.words[c.source] == "dir/x.cc");
    CHECK(c.output == "x.o");
    CHECK(c.depfile == "x.d");
}

TEST_CASE("depfiles are where the compiler writes them") {
    const auto depfile = [](Words words) { return cpp::parse_command(words).depfile; };
    CHECK(depfile({"g++", "-c", "d/x.cpp"}).empty());
    CHECK(depfile({"g++", "-MMD", "-c", "d/x.cpp"}) == "x.d");
    CHECK(depfile({"g++", "-MD", "-c", "d/x.cpp", "-o", "out/y.cpp.o"}) == "out/y.cpp.d");
    CHECK(depfile({"g++", "-MD", "-MF", "z.d", "-c", "d/x.cpp", "-o", "y.o"}) == "z.d");
    CHECK(depfile({"g++", "-MD", "-MFz.d", "-c", "d/x.cpp"}) == "z.d");
    CHECK(depfile({"g++", "-MF", "z.d", "-c", "d/x.cpp"}).empty());
}

TEST_CASE("what compiles no single C++ file is told apart") {
    const auto other = [](Words words) { return cpp::parse_command(words).other; };
    CHECK(other({"g++", "a.o", "-o", "a"}) == "links");
    CHECK(other({"g++", "a.cpp"}).empty());  // compiles and links: what is compiled is probed
    CHECK(cpp::parse_command(Words{"g++", "a.cpp", "b.cpp"}).refused == "the command compiles several files at once");
    CHECK(other({"g++", "-c", "a.c"}) == "compiles no C++");
    CHECK(other({"g++", "-c", "-x", "c", "a.cpp"}) == "compiles no C++");
    CHECK(other({"g++", "-E", "-c", "a.cpp"}) == "only preprocesses");
    CHECK(other({"g++", "-x", "c++-header", "a.h", "-c"}) == "precompiles a header");
    CHECK(other({"clang++", "-Xclang", "-emit-pch", "-c", "a.cpp"}) == "precompiles a header");
    CHECK(other({"g++", "--version"}) == "queries the compiler");
    CHECK(other({"g++"}) == "links");
    CHECK(cpp::parse_command(Words{"g++", "-c", "a.cpp", "b.cpp"}).refused ==
          "the command compiles several files at once");
    CHECK_THROWS_AS(cpp::parse_command(Words{}), Error);
}

TEST_CASE("response files are read in") {
    const TempDir folder;
    const std::string file = folder.path() / "args.rsp";
    write_file(file, "-c 'with blank.cpp' -DX=\"a b\"\n");
    const cpp::Command c = cpp::parse_command(Words{"g++", "@" + file, "-o", "x.o"});
    CHECK(c.words == Words{"g++", "-c", "with blank.cpp", "-DX=a b", "-o", "x.o"});
    CHECK(c.words[c.source] == "with blank.cpp");
}

TEST_CASE("Clang gets what parsing needs, and nothing else") {
    CHECK(cpp::clang_flags(Words{"g++", "-Wall", "-Iinc", "-isystem", "sys", "-DX=1", "-flto",
                                 "-fconcepts-diagnostics-depth=3", "-std=c++20", "-c", "a.cpp", "-o", "a.o", "-MD",
                                 "-MF", "a.d", "-fno-rtti", "-march=native"}) ==
          Words{"-Iinc", "-isystem", "sys", "-DX=1", "-std=c++20", "-fno-rtti", "-march=native"});
    CHECK(cpp::clang_flags(Words{"g++", "-c", "a.cpp"}) == Words{"-std=gnu++17"});
    CHECK(cpp::clang_flags(Words{"/usr/bin/clang++-14", "-c", "a.cpp"}).empty());
    CHECK(cpp::clang_flags(Words{"-Iinc"}) == Words{"-Iinc", "-std=gnu++17"});
    CHECK(cpp::clang_flags(Words{"-std=c++23"}) == Words{"-std=c++2b"});
    CHECK(cpp::clang_flags(Words{"-std=c++17", "-Wp,-D_GLIBCXX_ASSERTIONS"}) ==
          Words{"-std=c++17", "-D_GLIBCXX_ASSERTIONS"});
    // The driver would look for a precompiled header beside a forced include.
    CHECK(cpp::clang_flags(Words{"-std=c++17", "-include", "pch.h"}) ==
          Words{"-std=c++17", "-Xclang", "-include", "-Xclang", "pch.h"});
    CHECK(cpp::clang_flags(Words{"clang++", "-Xclang", "-include-pch", "-Xclang", "p.pch", "-Xclang", "-include",
                                 "-Xclang", "p.h", "-Xclang", "-disable-O0-optnone"}) ==
          Words{"-Xclang", "-include", "-Xclang", "p.h"});
}

TEST_CASE("a second compilation writes nothing but its object") {
    const cpp::Command c = cpp::parse_command(Words{"g++", "-MD", "-MT", "t", "-MFx.d", "-MP", "-Wall", "-c", "x.cpp",
                                                    "-o", "x.o", "--coverage", "-gsplit-dwarf"});
    CHECK(cpp::without_side_outputs(c, "/tmp/y.o") == Words{"g++", "-Wall", "-c", "x.cpp", "-o", "/tmp/y.o"});
}

TEST_CASE("names in depfiles are quoted as make reads them") { CHECK(cpp::make_quoted("a b#c$d") == "a\\ b\\#c$$d"); }

}  // namespace
