// Which failures are one bug.
#include "reduce/distinct.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "graph/text.h"

using namespace whittle;
using namespace whittle::reduce;
using Catch::Contains;

namespace {

std::string skeleton_of(const std::string& text) { return skeleton(parse(text)); }

const std::string kReshape = skeleton_of(R"(graph g {
  %x = placeholder["x"] : f32[2, 3]
  %w = get_attr["w"] : f32[2, 3]
  %s = aten.add.Tensor(%x, %w, alpha=1) : f32[2, 3]
  %r = aten.reshape.default(%s, [6]) : f32[6]
  return (%r)
})");

OneModel fails(const std::string& model, const std::string& skeleton, std::size_t ops, bool minimized = true) {
    return {.model = model,
            .failures = {{.signature = "mismatch (value) at run",
                          .minimized = minimized,
                          .ops = ops,
                          .output = model + ".min.json",
                          .skeleton = skeleton}}};
}

}  // namespace

TEST_CASE("names, sizes, numbers and where values come from make no other bug", "[distinct]") {
    CHECK(skeleton_of(R"(graph other {
  %b = placeholder["b"] : f32[5, 7]
  %a = placeholder["a"] : f32[5, 7]
  %sum = aten.add.Tensor(%a, %b, alpha=2) : f32[5, 7]
  %flat = aten.reshape.default(%sum, [35]) : f32[35]
  return (%flat)
})") == kReshape);
}

TEST_CASE("ops, dtypes, dimensions and how values flow make another bug", "[distinct]") {
    for (const char* other : {R"(graph g {
  %x = placeholder["x"] : f32[2, 3]
  %w = get_attr["w"] : f32[2, 3]
  %s = aten.sub.Tensor(%x, %w, alpha=1) : f32[2, 3]
  %r = aten.reshape.default(%s, [6]) : f32[6]
  return (%r)
})",
                              R"(graph g {
  %x = placeholder["x"] : f64[2, 3]
  %w = get_attr["w"] : f64[2, 3]
  %s = aten.add.Tensor(%x, %w, alpha=1) : f64[2, 3]
  %r = aten.reshape.default(%s, [6]) : f64[6]
  return (%r)
})",
                              R"(graph g {
  %x = placeholder["x"] : f32[2, 3]
  %w = get_attr["w"] : f32[2, 3]
  %s = aten.add.Tensor(%x, %w, alpha=1) : f32[2, 3]
  %r = aten.reshape.default(%s, [3, 2]) : f32[3, 2]
  return (%r)
})",
                              R"(graph g {
  %x = placeholder["x"] : f32[2, 3]
  %s = aten.add.Tensor(%x, %x, alpha=1) : f32[2, 3]
  %r = aten.reshape.default(%s, [6]) : f32[6]
  return (%r)
})"})
        CHECK(skeleton_of(other) != kReshape);
}

TEST_CASE("a bug is told by the model that was minimized furthest", "[distinct]") {
    const std::vector<OneModel> models = {fails("alone", "b", 1),
                                          fails("large", "a", 3),
                                          fails("stopped", "a", 1, false),
                                          fails("small", "a", 2),
                                          {.model = "fine"},
                                          {.model = "unknown", .not_judged = "no reference"},
                                          {.model = "broken", .error = "no model"}};
    const ManyModels all = distinct(models, 2);
    CHECK((all.models == 9 && all.failing == 4 && all.right == 1 && all.open == 2));
    REQUIRE(all.bugs.size() == 2);
    CHECK(all.bugs[0].model == "small");
    CHECK(all.bugs[0].models == std::vector<std::filesystem::path>{"large", "stopped", "small"});
    CHECK(all.bugs[1].model == "alone");
    CHECK_FALSE(all.good());
    CHECK(distinct(models).good());
    CHECK(to_text(all) ==
          "9 models: 4 failed, 1 right, 1 not judged, 1 error, 2 not reached; 2 distinct bugs\n"
          "\nbug 1: mismatch (value) at run, in 3 models\n"
          "  smallest: 2 ops: small.min.json (small)\n"
          "  also in:  large, stopped\n"
          "\nbug 2: mismatch (value) at run, in 1 model\n"
          "  smallest: 1 op: alone.min.json (alone)\n"
          "\nunknown: not judged: no reference\n"
          "broken: error: no model\n");
    CHECK(to_json(all)["bugs"].size() == 2);
}

TEST_CASE("a model and its trace are one model", "[distinct]") {
    OneModel trace = fails("nets/t", "a", 1), only_traced = fails("nets/u", "a", 2);
    trace.of_others = only_traced.of_others = true;
    trace.failures[0].of = "nets/a";
    only_traced.failures[0].of = "nets/b";
    const std::vector<OneModel> models = {fails("nets/a", "a", 2),
                                          {.model = "nets/b"},
                                          {.model = "nets/c"},
                                          trace,
                                          only_traced,
                                          {.model = "nets/v", .of_others = true}};
    CHECK(to_text(distinct(models)) ==
          "3 models: 2 failed, 1 right; 1 distinct bug\n"
          "\nbug 1: mismatch (value) at run, in 2 models\n"
          "  smallest: 1 op: nets/t.min.json (nets/a)\n"
          "  also in:  nets/b\n");
}

TEST_CASE("the page escapes what compilers say", "[distinct]") {
    OneModel model = fails("m", "a", 1);
    model.failures[0].message = "expected <T> & more";
    CHECK_THAT(to_html(distinct(std::vector{model}), "minify nets"), Contains("expected &lt;T&gt; &amp; more"));
}

TEST_CASE("nothing that fails is no success", "[distinct]") {
    CHECK_FALSE(distinct(std::vector<OneModel>{{.model = "fine"}}).good());
    CHECK_FALSE(distinct(std::vector{fails("stopped", "a", 1, false)}).good());
}
