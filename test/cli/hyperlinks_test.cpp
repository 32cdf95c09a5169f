// Links on a terminal: names of files that exist, and nothing else.
#include "cli/terminal.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>

#include "base/files.h"

using namespace whittle;
using cli::with_links;

namespace {

std::string link(const std::string& path, const std::string& shown) {
    char host[256] = "";
    ::gethostname(host, sizeof host - 1);
    return "\033]8;;file://" + std::string(host) + path + "\033\\" + shown + "\033]8;;\033\\";
}

}  // namespace

TEST_CASE("the name of a file that exists is a link, with what stands behind it", "[hyperlinks]") {
    const TempDir folder;
    const std::string file = (folder.path() / "a b.cpp").string(), plain = (folder.path() / "a.cpp").string();
    write_file(plain, "x");
    CHECK(with_links("  File \"" + plain + "\", line 3\n") == "  File \"" + link(plain, plain) + "\", line 3\n");
    CHECK(with_links(plain + ":12:3: error") == link(plain, plain + ":12:3:") + " error");
    CHECK(with_links("see " + plain + ".") == "see " + link(plain, plain + "."));
    CHECK(with_links("\033[1m" + plain + "\033[0m") == "\033[1m" + link(plain, plain) + "\033[0m");
    const std::string odd = (folder.path() / "\xC3\xA4%.cpp").string();
    write_file(odd, "x");
    CHECK(with_links(odd) == link((folder.path() / "%C3%A4%25.cpp").string(), odd));
}

TEST_CASE("other words stay as they are", "[hyperlinks]") {
    const TempDir folder;
    for (const std::string& text :
         {folder.path().string() + "/none.cpp:1", folder.path().string(),
          std::string("aten.relu.default(%x) : f32[2]\n"), std::string("12:3"), std::string(":"), std::string("."),
          std::string("/"), std::string("\033"), std::string()})
        CHECK(with_links(text) == text);
}
