#include "capture/naming.h"

#include <catch2/catch.hpp>

using namespace whittle::capture;

TEST_CASE("an input is called by its place, its variable, or a number of its kind") {
    Naming naming;
    naming.know(1, Source::local("xs").item(0));
    naming.know_variable(1, Source::local("first"));  // `Tensor first = xs[0];` does not rename the argument
    naming.know_variable(2, Source::local("hidden"));
    naming.know_origin(2, Origin::live);
    naming.know_origin(3, Origin::live);
    naming.know_origin(4, Origin::random);
    CHECK(naming.take(1).text() == "L['xs'][0]");
    CHECK(naming.take(2).text() == "L['hidden']");
    CHECK(naming.take(3).text() == "___live[0]");
    CHECK(naming.take(4).text() == "___random[0]");
    CHECK(naming.take(5).text() == "G['tensor_0']");
    CHECK(naming.take(6).text() == "G['tensor_1']");
}

TEST_CASE("no two inputs have one source") {
    Naming naming;
    for (const TensorKey key : {1, 2, 3}) naming.know_variable(key, Source::local("x"));
    naming.know_origin(2, Origin::live);
    naming.know_variable(4, Source::local("arg0"));
    naming.know_origin(5, Origin::argument);
    CHECK(naming.take(1).text() == "L['x']");
    CHECK(naming.take(2).text() == "___live[0]");
    CHECK(naming.take(3).text() == "G['tensor_0']");
    CHECK(naming.take(4).text() == "L['arg0']");
    CHECK(naming.take(5).text() == "L['arg1']");
    naming.begin_graph();
    CHECK(naming.take(3).text() == "L['x']");
    CHECK(naming.take(5).text() == "L['arg0']");
}

TEST_CASE("a source that is not wanted is not taken; what was taken can be given back") {
    Naming naming;
    naming.know_origin(1, Origin::live);
    CHECK_FALSE(naming.take_if(1, Source::live(1)));
    CHECK(naming.take_if(1, Source::live(0)));
    const Naming::Numbers before = naming.numbers();
    naming.know_origin(2, Origin::live);
    const Source taken = naming.take(2);
    CHECK(taken == Source::live(1));
    naming.give_back(taken);
    naming.restore(before);
    CHECK(naming.take_if(2, Source::live(1)));
}

TEST_CASE("an argument whose name becomes known is called by it") {
    Naming naming;
    naming.know(1, Source::local("arg0").attribute("weight"));
    naming.know(2, Source::local("arg1"));
    naming.know_parameter(3, "layers.0.weight");
    naming.rename("arg0", "model");
    CHECK(naming.take(1).text() == "L['model'].weight");
    CHECK(naming.take(2).text() == "L['arg1']");
    REQUIRE(naming.parameter(3));
    CHECK(*naming.parameter(3) == "layers.0.weight");
    CHECK_FALSE(naming.parameter(1));
    CHECK_FALSE(naming.source(3));
}
