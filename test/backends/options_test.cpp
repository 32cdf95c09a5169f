// Options of backends are held against what the backend knows before anything runs.
#include <catch2/catch.hpp>

#include "backends/registry.h"
#include "base/error.h"
#include "base/log.h"

using namespace whittle;

TEST_CASE("a value that an option cannot have is one error, which names option, value and what is expected") {
    struct Case {
        const char *backend, *key, *value, *expected;
    };
    for (const Case& c :
         {Case{"aot_eager", "partition", "bogus", "one of min_cut, default"},
          Case{"aot_eager_decomp_partition", "decompositions", "cor", "one of none, core, backend"},
          Case{"aot_eager", "memory-budget", "1.5", "a number from 0 to 1"},
          Case{"aot_eager", "memory-budget", "half", "a number from 0 to 1"},
          Case{"aot_eager_default_partitioner", "memory-budget", "0.5", "1, unless partition is 'min_cut'"},
          Case{"halide", "asserts", "maybe", "one of on, off"},
          Case{"halide", "pass-limit", "nope", "one of share, fuse, inline, cse, fold"},
          Case{"halide", "pass-limit", "fuse", "NAME=K, a name and a number"},
          Case{"cmd:true", "format", "pb", "one of auto, onnx, json"},
          Case{"cmd:true", "timeout", "-1", "a number of seconds above 0"}}) {
        CAPTURE(c.backend, c.key, c.value);
        CHECK_THROWS_WITH(find_backend(c.backend, {{c.key, c.value}}),
                          Catch::StartsWith(std::string("backend option ") + c.key + ": found '" + c.value +
                                            "', expected " + c.expected));
    }
    CHECK_THROWS_WITH(find_backend("halide", {{"pass-limit", "fuse=-1"}}),
                      "backend option pass-limit fuse: found '-1', expected a number, 0 or more");
    CHECK_THROWS_WITH(find_backend("aot_eager", {{"partition", "min_cat"}}),
                      Catch::Contains("did you mean 'min_cut'?"));
    CHECK_NOTHROW(find_backend("halide", {{"pass-limit", "fuse=1;cse=0"}, {"disable", "fold"}, {"asserts", "off"}}));
}
