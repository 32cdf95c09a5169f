#include "base/words.h"

#include <catch2/catch.hpp>

using namespace whittle;

TEST_CASE("what is counted is named in its number", "[words]") {
    CHECK(plural(1, "op") == "1 op");
    CHECK(plural(0, "op") == "0 ops");
    CHECK(plural(std::size_t{2}, "query", "queries") == "2 queries");
}

TEST_CASE("a line is cut by columns, never inside a character", "[words]") {
    CHECK(columns_of("aé…") == 3);
    CHECK(shortened("abcdef", 6) == "abcdef");
    CHECK(shortened("abcdef", 4) == "abc…");
    CHECK(shortened("éééé", 3) == "éé…");
    CHECK(shortened("abcdef", 0) == "abcdef");
}

TEST_CASE("a list that is cut leaves out two items or more", "[words]") {
    const std::vector<std::string> items = {"a", "b", "c", "d"};
    const auto of_two = [&](std::size_t count, std::string_view last = ", ") {
        return listed(std::span(items).first(count), 2, last);
    };
    CHECK(of_two(0).empty());
    CHECK(of_two(1) == "a");
    CHECK(of_two(2, " and ") == "a and b");
    CHECK(of_two(3) == "a, b, c");
    CHECK(of_two(3, " and ") == "a, b and c");
    CHECK(of_two(4, " and ") == "a, b and 2 more");
    CHECK(shown_of(5, static_cast<std::size_t>(-1)) == 5);
}

TEST_CASE("a text is cut between words, before a parenthesis that is cut off", "[words]") {
    CHECK(first_words("one two", 7) == "one two");
    CHECK(first_words("one two three", 10) == "one two...");
    CHECK(first_words("one two three", 9) == "one...");
    CHECK(first_words("one, two (three four) five", 21) == "one, two...");
    CHECK(first_words("onetwothree", 9) == "onetwo...");
    CHECK(first_words("éééééé", 8) == "éé...");
}

TEST_CASE("blanks around a text are taken off, those in it stay", "[words]") {
    CHECK(trimmed(" \ta  b\r") == "a  b");
    CHECK(trimmed(" \t\r").empty());
    CHECK(trimmed("a\n") == "a\n");  // of a line the break is no part
    CHECK(trimmed("").empty());
}

TEST_CASE("lists of words, numbers and what is said of items", "[words]") {
    CHECK(join(std::vector<std::string>{}) == "");
    CHECK(join(std::vector<std::string>{"a", "b"}) == "a, b");
    CHECK(join(std::vector<std::int64_t>{1, -2}, "x") == "1x-2");
    CHECK(join(std::vector<int>{1, 2}, [](int n) { return std::string(static_cast<std::size_t>(n), '*'); }) == "*, **");
    CHECK(has_word("one two three", "two"));
    CHECK(has_word("one two three", "three"));
    CHECK_FALSE(has_word("one two three", "tw"));
    CHECK_FALSE(has_word("", "one"));
}
