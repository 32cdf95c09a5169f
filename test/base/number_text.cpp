#include "base/number_text.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/event_log.h"
#include "base/thread_work.h"
#include "comma_locale.h"
#include "environment_variable.h"

using namespace whittle;

TEST_CASE("the shortest text reads back as the same number, single or double", "[number_text]") {
    CHECK(shortest(0.1, false) == "0.1");
    CHECK(shortest(0.1F, true) == "0.1");
    CHECK(shortest(double{0.1F}, false) == "0.10000000149011612");
    CHECK(shortest(1e-4, false) == "0.0001");
    CHECK(shortest(1e20, false) == "1e+20");
    CHECK(with_point("2") == "2.0");
    CHECK(with_point("1e+20") == "1e+20");
    CHECK(fixed(2.0 / 3, 3) == "0.667");
    CHECK(significant(2.0 / 3, 3) == "0.667");
    CHECK(significant(std::copysign(std::nan(""), -1), 3) == "nan");
    CHECK(significant(-std::numeric_limits<double>::infinity(), 3) == "-inf");
}

TEST_CASE("what is read by programs has no decimal comma, whatever the locale", "[number_text][process]") {
    test::check_in_comma_locale(
        [] { return shortest(0.5, false) == "0.5" && fixed(0.5, 1) == "0.5" && significant(0.5, 3) == "0.5"; });
    test::check_in_comma_locale([] {
        const TempDir folder;
        EventLog::instance().open(folder.path().string());
        EventLog::instance().step("backend", "done", "f", 0.5);
        const std::string text = read_file(folder.path() / "log.jsonl");
        const std::string last = text.substr(text.rfind('\n', text.size() - 2) + 1);
        return nlohmann::json::parse(last).at("seconds") == 0.5;
    });
}

TEST_CASE("HL_NUM_THREADS is a number of threads, or refused by name", "[kernel_threads]") {
    const auto threads = [](const char* value) {
        const test::EnvironmentVariable set("HL_NUM_THREADS", value);
        return kernel_threads();
    };
    CHECK(threads("3") == 3);
    CHECK(threads("100000") == 256);  // as many as Halide's own pool has
    CHECK(threads("") >= 1);
    for (const char* wrong : {"8abc", "0", "-1", "many"}) {
        CAPTURE(wrong);
        CHECK_THROWS_WITH(threads(wrong),
                          Catch::Contains("HL_NUM_THREADS") && Catch::Contains("found '" + std::string(wrong) + "'"));
    }
}
