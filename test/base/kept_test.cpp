// What is kept is found by its kind, and nothing else goes when it is cleared.
#include "base/kept.h"

#include <catch2/catch.hpp>

#include <set>

#include "base/disk_cache.h"
#include "base/files.h"
#include "environment_variable.h"

using namespace whittle;
using test::EnvironmentVariable;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> names_of(std::string_view kind) {
    std::vector<std::string> names;
    for (const KeptItem& item : kept_items(kind)) names.push_back(item.path.filename().string());
    return names;
}

}  // namespace

TEST_CASE("items of each kind lie in its folder, with their sizes", "[kept]") {
    const TempDir home;
    const EnvironmentVariable data("XDG_DATA_HOME", (home.path() / "data").string());
    const EnvironmentVariable cache("XDG_CACHE_HOME", (home.path() / "cache").string());
    const EnvironmentVariable none("WHITTLE_CACHE_DIR", "");
    for (const KeptKind& kind : kept_kinds()) CHECK(kept_items(kind.name).empty());

    user_cache("kernels")->put("key", std::string(100, 'v'));
    const fs::path kernels = home.path() / "cache/whittle/kernels", runtime = home.path() / "data/whittle/backends/ort";
    write_file(kernels / "notes.txt", "of the user");
    write_file(home.path() / "data/whittle/capture/2.6.0/library.so", "1234");
    write_file(runtime / "node_modules/a.js", "12345678");
    write_file(runtime / "releases/1.2.3/a.js", "123");
    write_file(runtime / "releases/1.2.4/a.js", "123");
    CHECK(names_of("kernels") == std::vector<std::string>{"kernels"});
    CHECK(kept_items("kernels").at(0).bytes > 100);
    CHECK(names_of("capture") == std::vector<std::string>{"2.6.0"});
    CHECK(kept_items("capture").at(0).bytes == 4);
    CHECK(names_of("backends") == std::vector<std::string>{"ort"});
    CHECK(kept_items("backends").at(0).bytes == 8);
    CHECK(names_of("releases") == std::vector<std::string>{"1.2.3", "1.2.4"});

    clear(kept_items("backends").at(0));
    CHECK(names_of("backends").empty());
    CHECK(names_of("releases").size() == 2);
    clear(kept_items("releases").at(0));
    CHECK(names_of("releases") == std::vector<std::string>{"1.2.4"});
    clear(kept_items("kernels").at(0));
    CHECK(names_of("kernels").empty());
    CHECK(read_file(kernels / "notes.txt") == "of the user");
    CHECK(user_cache("kernels")->get("key") == std::nullopt);
}

TEST_CASE("kernels are kept where the variable says, or nowhere", "[kept]") {
    const TempDir home;
    {
        const EnvironmentVariable there("WHITTLE_CACHE_DIR", home.path().string());
        CHECK(kept_folder("kernels") == home.path() / "kernels");
    }
    const EnvironmentVariable off("WHITTLE_CACHE_DIR", "off");
    CHECK(kept_folder("kernels").empty());
    CHECK(user_cache("kernels") == nullptr);
}

TEST_CASE("kinds have names of their own", "[kept]") {
    std::set<std::string_view> names;
    for (const KeptKind& kind : kept_kinds()) names.insert(kind.name);
    CHECK(names.size() == kept_kinds().size());
}
