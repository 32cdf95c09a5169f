#include "frontends/libtorch/library_code.h"

#include <filesystem>

#include "base/files.h"
#include "frontends/libtorch/symbolizer.h"
#include "frontends/libtorch/torch_names.h"
#include "made_up_program.h"

using namespace whittle;
using namespace whittle::libtorch;

namespace {

/// A folder with libraries' names and, of a distribution, LibTorch's headers beside it.
std::string install(const std::filesystem::path& prefix, bool headers) {
    std::filesystem::create_directories(prefix / "lib");
    if (headers) {
        std::filesystem::create_directories(prefix / "include" / "ATen");
        write_file(prefix / "build-version", "2.1.0");
    }
    return prefix.string();
}

Mapping mapped(std::uint64_t low, const std::string& path) {
    return {.low = low, .high = low + 0x1000, .base = low, .path = path};
}

}  // namespace

TEST_CASE("a distribution of LibTorch is no user's code, wherever it lies") {
    const TempDir folder;
    const std::string torch = install(folder.path() / "libtorch", true);
    const LibraryCode code(std::vector<Mapping>{mapped(0x1000, "/home/me/app/app"),
                                                mapped(0x2000, torch + "/lib/libtorch_cpu.so"),
                                                mapped(0x3000, "/home/me/app/libtorch_mine.so")});
    CHECK(code.has_module(torch + "/lib/libtorch_cpu.so"));
    CHECK(code.has_module(torch + "/lib/libgomp-52f2fd74.so.1"));
    CHECK(code.has_module("/usr/lib/x86_64-linux-gnu/libc10.so"));
    CHECK_FALSE(code.has_module("/home/me/app/app"));
    CHECK_FALSE(code.has_module("/home/me/app/libtorch_mine.so"));
    CHECK(code.has_source(torch + "/include/ATen/core/TensorBody.h"));
    CHECK(code.has_source(torch + "/lib/../include/torch/csrc/api/include/torch/nn/module.h"));
    CHECK(code.has_source("/usr/include/c++/12/functional"));
    CHECK_FALSE(code.has_source(torch + "/app.cpp"));
    CHECK_FALSE(code.has_source("/home/me/app/include/ATen/mine.h"));
}

TEST_CASE("a program that brings LibTorch among its own libraries keeps those") {
    const TempDir folder;
    const std::string app = install(folder.path() / "app", false);
    const LibraryCode code(std::vector<Mapping>{mapped(0x1000, app + "/bin/app"),
                                                mapped(0x2000, app + "/bin/../lib/libc10.so.2.1"),
                                                mapped(0x3000, app + "/bin/../lib/libmine.so")});
    CHECK(code.has_module(app + "/lib/libc10.so.2.1"));
    CHECK_FALSE(code.has_module(app + "/bin/../lib/libmine.so"));
    CHECK_FALSE(code.has_source(app + "/include/mine.h"));
}

TEST_CASE("of a prefix that others share only LibTorch's own is no user's code") {
    const TempDir folder;
    const std::string prefix = install(folder.path() / "conda", true);
    std::filesystem::remove(prefix + "/build-version");
    const LibraryCode code(std::vector<Mapping>{mapped(0x1000, prefix + "/lib/libtorch_cpu.so")});
    CHECK(code.has_module(prefix + "/lib/libtorch_cpu.so"));
    CHECK(code.has_source(prefix + "/include/c10/core/Device.h"));
    CHECK_FALSE(code.has_module(prefix + "/lib/libmine.so"));
    CHECK_FALSE(code.has_source(prefix + "/include/mine.h"));
}

TEST_CASE("headers are known by the path that links lead to, too") {
    const TempDir folder;
    const std::string torch = install(std::filesystem::canonical(folder.path()) / "libtorch-2.1", true);
    const std::filesystem::path link = folder.path() / "libtorch";
    std::filesystem::create_directory_symlink(torch, link);
    write_file(torch + "/lib/libtorch_cpu.so", "");
    const LibraryCode code(std::vector<Mapping>{mapped(0x1000, (link / "lib" / "libtorch_cpu.so").string())});
    CHECK(code.has_source((link / "include" / "torch" / "torch.h").string()));
    CHECK(code.has_source(torch + "/include/torch/torch.h"));
}

TEST_CASE("places in a distribution's libraries are not the user's, in the program they are") {
    const TempDir folder;
    const std::string torch = install(folder.path() / "libtorch", true);
    EventFile file;
    file.mappings = {mapped(0x10000, "/home/me/app/app"), mapped(0x20000, torch + "/lib/libtorch.so"),
                     mapped(0x30000, "/home/me/app/libmine.so")};
    Symbolizer symbolizer(file);
    CHECK(symbolizer.places(0x10010).front().user);
    CHECK_FALSE(symbolizer.places(0x20010).front().user);
    CHECK(symbolizer.places(0x30010).front().user);
    CHECK_FALSE(symbolizer.places(0x90000).front().user);
}

TEST_CASE("a library of the user's is not LibTorch because its name begins like that") {
    for (const char* own : {"libtorch.so", "libtorch_cpu.so", "libc10.so.2.1", "libtorch_python.so.1.13"})
        CHECK(is_libtorch_file(own));
    for (const char* users : {"libtorch_model.so", "libtorch_cpu_model.so", "libtorchvision.so", "libc10d_mine.so"})
        CHECK_FALSE(is_libtorch_file(users));
}
