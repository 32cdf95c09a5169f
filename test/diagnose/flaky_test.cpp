// What fails in some runs only is diagnosed as what always does: by a backend whose failures are drawn from a seed.
#include <sys/mman.h>

#include <catch2/catch.hpp>
#include <new>
#include <random>

#include "diagnose/diagnose.h"
#include "graph/abilities.h"
#include "graph/text.h"

using namespace whittle;

namespace {

/// The reference's results, or where the bug shows, ones: in 3 of 10 runs, when the pass `b` is applied three times and
/// (where that is wanted) the directive d() is there. Queries are children of this process; all draw from one place.
class Flaky final : public Backend, public Switchable {
  public:
    explicit Flaky(bool by_directive = false)
        : by_directive_(by_directive),
          random_(new (mmap(nullptr, sizeof(std::mt19937), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
                      std::mt19937(11)) {}
    ~Flaky() override { munmap(random_, sizeof(std::mt19937)); }

    std::string name() const override { return "flaky"; }
    std::string description() const override { return "fails in 3 of 10 runs"; }
    CompileResult compile(const Graph&, const BackendOptions& options) override {
        const auto most = options.find("most-b");
        const bool bug =
            (most == options.end() || std::stoi(most->second) >= 3) &&
            !(by_directive_ && options.contains("off") && options.at("off").find("d()") != std::string::npos);
        return std::make_unique<Run>(bug && (*random_)() % 10 < 3);
    }

    struct Look final : Inspection {
        const Parts& parts() const override { return found; }
        Parts found;
    };
    std::unique_ptr<Inspection> inspect(const Graph&, const BackendOptions&) override {
        auto look = std::make_unique<Look>();
        look->found.passes = {{"a", 9}, {"b", 14}};
        if (by_directive_) look->found.directives = {{"c()"}, {"d()"}, {"e()"}, {"f()"}};
        return look;
    }
    BackendOptions without(BackendOptions options, const std::vector<std::string>& directives) const override {
        for (const std::string& text : directives) options["off"] += ";" + text;
        return options;
    }
    BackendOptions limited(BackendOptions options, const std::string& pass, int most) const override {
        options["most-" + pass] = std::to_string(most);
        return options;
    }

  private:
    struct Run final : Executable {
        explicit Run(bool wrong) : wrong(wrong) {}
        RunResult run(std::span<const Tensor> inputs) override {
            return std::vector<Tensor>{wrong ? Tensor::of(std::vector<float>{1, 1}, {2}) : inputs[0]};
        }
        bool wrong;
    };
    bool by_directive_;
    std::mt19937* random_;
};

Graph flaky_graph() {
    Graph graph = parse(
        "graph g {\n  %x = placeholder[\"x\"] : f32[2]\n  %a = aten.relu.default(%x) : f32[2]\n  return (%a)\n}\n");
    graph.failure = Failure{.backend = "flaky", .signature = {"mismatch", "run", "value", {}, {12, 40}}};
    graph.failure->inputs = {Tensor::of(std::vector<float>{3, 4}, {2})};
    return graph;
}

}  // namespace

TEST_CASE("a pass that is wrong in 3 of 10 runs is bisected to its application", "[flaky]") {
    Flaky backend;
    for (int i = 0; i < 3; i++) {  // each draws other numbers
        const diagnose::Diagnosis found = diagnose::diagnose(flaky_graph(), backend, {});
        REQUIRE(found.culprit);
        CHECK(found.culprit->op == "b");
        CHECK(found.culprit->together == std::vector<std::string>{"most-b=2", "most-b=3"});
        CHECK(found.rate.runs == 40);
        CHECK(found.rate.value() == Approx(0.3).margin(0.25));
        CHECK(found.closeness == Closeness::differs);
    }
}

TEST_CASE("a directive with which it fails in 3 of 10 runs is found", "[flaky]") {
    Flaky backend(true);
    for (int i = 0; i < 2; i++) {
        const diagnose::Diagnosis found = diagnose::diagnose(flaky_graph(), backend, {});
        REQUIRE(found.culprit);
        CHECK(found.culprit->directive == "d()");
        CHECK(found.culprit->together.empty());
    }
}
