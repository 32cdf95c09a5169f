#include "frontends/libtorch/capture_library.h"

#include <elf.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "base/files.h"
#include "frontends/libtorch/launch.h"

using namespace whittle;
using namespace whittle::libtorch;

namespace {

TorchFacts facts(const std::string& text) {
    std::istringstream words(text);
    TorchFacts torch{};
    REQUIRE(parse(words, torch));
    return torch;
}

/// What the stub would load; "" for nothing.
std::string chosen(const std::string& list, const std::string& torch) {
    const Choice choice = choose(list.c_str(), facts(torch));
    return choice.path ? std::string(choice.path, choice.size) : "";
}

/// A library with nothing but what it says of itself.
std::string library_file(const std::string& built_for) {
    const std::string names = std::string(1, '\0').append(kBuiltForSection).append(1, '\0');
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_shoff = sizeof header;
    header.e_shnum = 2;
    Elf64_Shdr sections[2] = {};
    const std::uint64_t end = sizeof header + sizeof sections;
    sections[0].sh_offset = end;
    sections[0].sh_size = names.size();
    sections[1].sh_name = 1;
    sections[1].sh_offset = end + names.size();
    sections[1].sh_size = built_for.size() + 1;
    return std::string(reinterpret_cast<const char*>(&header), sizeof header) +
           std::string(reinterpret_cast<const char*>(sections), sizeof sections) + names + built_for +
           std::string(1, '\0');
}

}  // namespace

TEST_CASE("a capture library is for a build of LibTorch, or for its release, ABI and name") {
    const std::string list =
        "aa 1.13.0 1 libtorch_cpu.so.1.13 /usr/lib/debian\n"
        "bb 2.6.0 1 libtorch_cpu.so /data/with blanks/2.6 cxx11\n"
        "cc 2.6.0 0 libtorch_cpu.so /data/2.6 old\n"
        "dd 2.6.1 0 libtorch_cpu.so /data/2.6.1 old\n"
        "- 2.7.0 1 libtorch_cpu.so /data/2.7\n";
    CHECK(chosen(list, "aa 1.13.0 1 libtorch_cpu.so.1.13") == "/usr/lib/debian");
    CHECK(chosen(list, "bb 2.6.0 1 libtorch_cpu.so") == "/data/with blanks/2.6 cxx11");
    // The very build comes before one of the same release that stands before it.
    CHECK(chosen(list, "dd 2.6.1 0 libtorch_cpu.so") == "/data/2.6.1 old");
    CHECK(chosen(list, "ee 2.6.1+cpu 0 libtorch_cpu.so") == "/data/2.6 old");
    CHECK(chosen(list, "- 2.6.9 1 libtorch_cpu.so") == "/data/with blanks/2.6 cxx11");
    // Two without a build-id are not one build.
    CHECK(chosen(list, "- 2.8.0 1 libtorch_cpu.so").empty());
    CHECK(chosen(list, "- 2.7.1 1 libtorch_cpu.so") == "/data/2.7");
    // The library would load a second LibTorch, by the name that it was linked with.
    CHECK(chosen(list, "aa 1.13.0 1 libtorch_cpu.so").empty());
    CHECK(chosen(list, "bb 2.6.0 1 libtorch_cpu.so.2.6").empty());
    CHECK(chosen(list, "ee 2.7.0 0 libtorch_cpu.so").empty());
    // Headers of another release than the file that they were linked with.
    CHECK(chosen(list, "bb 2.7.0 1 libtorch_cpu.so") == "/data/2.7");
    CHECK(chosen(list, "aa 1.14.0 1 libtorch_cpu.so.1.13").empty());
    CHECK(chosen(list, "ee 1.1.0 1 libtorch_cpu.so.1.13").empty());
    CHECK(chosen(list, "ee 1.13.0 ? libtorch_cpu.so.1.13").empty());
    CHECK(chosen(list, "ee unknown 1 libtorch_cpu.so.1.13").empty());
    CHECK(chosen("", "aa 1.13.0 1 libtorch_cpu.so").empty());
    CHECK(chosen("aa 1.13.0 1 libtorch_cpu.so\n", "aa 1.13.0 1 libtorch_cpu.so").empty());  // cut off
}

TEST_CASE("the refusal names what was found, what there is, and the command") {
    CaptureLibraries libraries;
    libraries.usable.push_back({.torch = facts("aa 1.13.0 1 libtorch_cpu.so.1.13"), .path = "/usr/lib/debian"});
    CHECK(
        why_not_captured(facts("bb 2.6.0+cu124 0 libtorch_cpu.so"), "/opt/lib/torch/lib/libtorch_cpu.so", libraries) ==
        "the program uses /opt/lib/torch/lib/libtorch_cpu.so, LibTorch 2.6.0+cu124 (libtorch_cpu.so, pre-C++11 ABI), "
        "and there is no capture library for this version; found capture libraries for LibTorch 1.13.0 "
        "(libtorch_cpu.so.1.13, C++11 ABI); "
        "hint: " +
            build_command() + " --torch /opt/lib/torch");
    CHECK(why_not_captured(facts("- unknown ? libtorch_cpu.so"), "/usr/lib/x86_64-linux-gnu/libtorch_cpu.so", libraries)
              .find("libtorch_cpu.so, LibTorch of an unknown version (libtorch_cpu.so, unknown C++ ABI), and "
                    "there is no capture library for this version") != std::string::npos);
    CHECK(why_not_captured(facts("aa 1.13.0 1 x"), "/opt/libtorch/lib/libtorch_cpu.so", {}) ==
          "this Whittle was built without LibTorch, so it has no capture library; " + std::string(kHowToGetIt) +
              ", or run " + build_command() + " --torch /opt/libtorch");
    CHECK(why_not_captured(facts("- 2.6.0 1 x"), "lib/libtorch_cpu.so", {}).ends_with(" --torch DIR"));
    CHECK(
        why_not_captured(facts("- 2.6.0 1 x"), "/my torch/lib/libtorch_cpu.so", {}).ends_with(" --torch '/my torch'"));
    const std::string linked = why_not_captured(facts("- 2.6.0 1 x"), "/lib/x86_64-linux-gnu/libtorch_cpu.so.2.6", {});
    CHECK(linked.ends_with(" --torch /usr"));
}

TEST_CASE("a version that the tests do not run is told") {
    CHECK(note_of_version("1.13.1").empty());
    CHECK(note_of_version("1.130.0").find("LibTorch 1.130.0 is untested") == 0);
    CHECK(note_of_version("2.6.0").empty());
    CHECK(note_of_version("2.14.1").empty());
    CHECK(note_of_version("2.60.0") == "LibTorch 2.60.0 is untested: Whittle is tested with LibTorch 1.13, 2.6, 2.14");
}

TEST_CASE("the user's capture libraries are found, and those of another interface are outdated") {
    const TempDir folder;
    const std::string before = std::getenv("XDG_DATA_HOME") ? std::getenv("XDG_DATA_HOME") : "";
    ::setenv("XDG_DATA_HOME", folder.path().c_str(), 1);
    const std::filesystem::path capture = folder.path() / "whittle" / "capture";
    const auto add = [&](const std::string& name, const std::string& contents) {
        write_file(capture / name / "libwhittle_capture_torch.so", contents);
        return capture / name / "libwhittle_capture_torch.so";
    };
    const std::string ours(capture_interface()), torch = " ee 9.1.0 1 libtorch_cpu.so";
    const auto usable = add("9.1.0-ours", library_file(ours + torch));
    const auto outdated = add("9.1.0-other", library_file("0123456789abcdef" + torch));
    // Damaged ones: cut off, too few words, no library at all.
    add("a", library_file(ours + torch).substr(0, 100));
    add("b", library_file(ours + " ee 9.1.0"));
    add("c", ours + torch);
    std::filesystem::create_directories(capture / "empty");
    CaptureLibraries found = capture_libraries();
    std::erase_if(found.outdated, [&](const auto& path) { return !path.string().starts_with(capture.string()); });
    if (before.empty())
        ::unsetenv("XDG_DATA_HOME");
    else
        ::setenv("XDG_DATA_HOME", before.c_str(), 1);
    REQUIRE_FALSE(found.usable.empty());
    CHECK(found.usable.back().path == usable);
    CHECK(std::string(found.usable.back().torch.version) == "9.1.0");
    CHECK(list_of({found.usable.back()}) == "ee 9.1.0 1 libtorch_cpu.so " + usable.string() + "\n");
    REQUIRE(found.outdated.size() == 4);
    CHECK(found.outdated[0] == outdated);
    CHECK(why_not_captured(facts("ee 9.1.0 1 libtorch_cpu.so"), "/x/lib/libtorch_cpu.so", found)
              .find("4 libraries are of another version of Whittle and must be rebuilt: " + outdated.string()) !=
          std::string::npos);
}
