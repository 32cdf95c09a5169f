#include "frontends/libtorch/capture/row_file.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "capture/hash_index.h"

namespace whittle::libtorch {

TEST_CASE("rows are read back, across windows of the file", "[libtorch]") {
    const TempDir folder;
    const std::string events = (folder.path() / "events").string();
    RowFile file;
    REQUIRE(file.start(events.c_str(), 1 << 30));
    constexpr std::uint32_t kRows = 100001;  // more than four windows
    for (std::uint32_t row = 1; row <= kRows; row += row == 1 ? 1 : 2) {
        const HashRow rows[2] = {{.form = 1, .operands = {row - 1, 0, 0}, .hash = row, .sum = 0.5},
                                 {.form = 0, .operands = {}, .hash = row + 1, .sum = 0.5}};
        REQUIRE(file.append(rows, row == 1 ? 1 : 2) == row);
    }
    const HashRows rows(events + kRowsSuffix, 1);
    REQUIRE(rows.size() == kRows);
    for (std::uint32_t row = 1; row <= kRows; ++row)
        if (rows.row(row).hash != row || rows.row(row).sum != 0.5) FAIL("row " << row);
}

TEST_CASE("no row is written beyond the limit", "[libtorch]") {
    const TempDir folder;
    const std::string events = (folder.path() / "events").string();
    RowFile file;
    CHECK(!file.start(events.c_str(), 1000));
    REQUIRE(file.start(events.c_str(), 2 << 20));
    const HashRow row{.form = 1};
    std::uint32_t last = 0;
    while (const std::uint32_t next = file.append(&row, 1)) last = next;
    CHECK(last == ((2 << 20) - sizeof(RowFileHeader)) / sizeof(HashRow));
    CHECK(HashRows(events + kRowsSuffix, 1).size() == last);
}

TEST_CASE("a damaged file of rows is refused", "[libtorch]") {
    const TempDir folder;
    const std::string events = (folder.path() / "events").string();
    RowFile file;
    REQUIRE(file.start(events.c_str(), 1 << 30));
    const HashRow row{.form = 2, .operands = {1, 0, 0}};
    REQUIRE(file.append(&row, 1) == 1);
    CHECK_THROWS_WITH(HashRows(events + kRowsSuffix, 1), Catch::Contains("found form 2, expected 1 to 1"));
    CHECK_THROWS_WITH(HashRows(events + kRowsSuffix, 2), Catch::Contains("whose operand is row 1"));
    std::filesystem::resize_file(events + kRowsSuffix, 40);
    CHECK_THROWS_WITH(HashRows(events + kRowsSuffix, 2), Catch::Contains("found 0 rows, expected 1"));
    write_file(events, "text");
    CHECK_THROWS_WITH(HashRows(events, 2), Catch::Contains("found a file of another kind"));
}

}  // namespace whittle::libtorch
