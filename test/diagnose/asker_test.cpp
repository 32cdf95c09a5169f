// The question of every search for a culprit, and the search among parts in a row.
#include "diagnose/asker.h"

#include <sys/mman.h>

#include <catch2/catch.hpp>
#include <set>

#include "graph/text.h"

using namespace whittle;
using namespace whittle::diagnose;

namespace {

/// Answers as `answers` has them, and notes who was asked.
struct Asked {
    std::vector<Again> answers;
    std::set<std::size_t> who = {};
    Again operator()(std::size_t release) {
        if (!who.insert(release).second) throw std::logic_error("asked twice");
        return answers.at(release);
    }
};

Begin begin_of(Asked& asked, std::size_t failing) {
    return begin_of_failure(failing, [&](std::size_t release) { return asked(release); });
}

}  // namespace

TEST_CASE("the first release that fails is found, wherever it is, in log2 questions", "[asker]") {
    for (std::size_t failing = 0; failing < 20; failing++)
        for (std::size_t first = 0; first <= failing; first++) {
            Asked asked{std::vector<Again>(first, Again::right)};
            asked.answers.resize(failing, Again::fails);
            const Begin found = begin_of(asked, failing);
            CHECK(found.fails == first);
            CHECK(found.right == (first ? std::optional(first - 1) : std::nullopt));
            CHECK(found.silent.empty());
            CHECK(std::size_t(1) << asked.who.size() <= 2 * (failing + 1));
        }
}

TEST_CASE("releases that cannot run the graph are told where they leave it open, and else cost nothing", "[asker]") {
    const Again right = Again::right, fails = Again::fails, none = Again::otherwise;
    Asked older{{none, none, right, fails}};  // and 4, which is known to fail
    CHECK(begin_of(older, 4) == Begin{2, 3, {}});
    Asked lacking{{none, none, fails, fails}};
    CHECK(begin_of(lacking, 4) == Begin{std::nullopt, 2, {0, 1}});
    Asked between{{right, none, none, fails}};
    CHECK(begin_of(between, 4) == Begin{0, 3, {1, 2}});
    Asked alone{{none}};
    CHECK(begin_of(alone, 1) == Begin{std::nullopt, 1, {0}});
    Asked many{std::vector<Again>(10, right)};
    for (int i = 0; i < 3; i++) many.answers[static_cast<std::size_t>(i)] = none;
    CHECK(begin_of(many, 10) == Begin{9, 10, {}});
    CHECK(many.who.size() <= 4);
}

TEST_CASE("of any history, two releases are told that were asked, and nobody between them answers", "[asker]") {
    constexpr std::size_t kReleases = 6;
    for (int code = 0; code < 729; code++) {
        Asked asked;
        for (int rest = code, i = 0; i < static_cast<int>(kReleases); i++, rest /= 3)
            asked.answers.push_back(static_cast<Again>(rest % 3));
        const std::vector<Again> answers = asked.answers;
        const Begin found = begin_of(asked, kReleases);
        CAPTURE(code, found.right, found.fails);
        if (found.fails < kReleases) CHECK((asked.who.contains(found.fails) && answers[found.fails] == Again::fails));
        if (found.right) CHECK((asked.who.contains(*found.right) && answers[*found.right] == Again::right));
        std::vector<std::size_t> between;
        for (std::size_t i = found.right ? *found.right + 1 : 0; i < found.fails; i++) between.push_back(i);
        CHECK(found.silent == between);
        for (const std::size_t silent : found.silent)
            CHECK((asked.who.contains(silent) && answers[silent] == Again::otherwise));
    }
}

namespace {

/// Wrong with the option "bug"; counts what it compiles, in the children of this process, too.
class Counting final : public Backend {
  public:
    Counting()
        : compiled(static_cast<int*>(
              mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
    ~Counting() override { munmap(compiled, sizeof(int)); }
    std::string name() const override { return "counting"; }
    std::string description() const override { return "for tests"; }
    CompileResult compile(const Graph&, const BackendOptions& options) override {
        ++*compiled;
        return std::make_unique<Run>(options.contains("bug"));
    }
    int* const compiled;

  private:
    struct Run final : Executable {
        explicit Run(bool wrong) : wrong(wrong) {}
        RunResult run(std::span<const Tensor> inputs) override {
            return std::vector<Tensor>{wrong ? Tensor::of<float>({7, 7}) : inputs[0]};
        }
        bool wrong;
    };
};

Graph failing_with_bug() {
    Graph graph = parse(
        "graph g {\n  %x = placeholder[\"x\"] : f32[2]\n  %a = aten.relu.default(%x) : f32[2]\n  return (%a)\n}\n");
    graph.failure =
        Failure{.backend = "counting", .options = {{"bug", "1"}}, .signature = {"mismatch", "run", "value"}};
    graph.failure->inputs = {Tensor::of<float>({3, 4})};
    return graph;
}

}  // namespace

TEST_CASE("each question is asked once", "[asker]") {
    Counting backend;
    const Graph graph = failing_with_bug();
    const Limits limits;
    Asker asker(graph, backend, limits);
    for (int i = 0; i < 3; i++) {
        CHECK(asker.ask({}).again == Again::right);
        CHECK(asker.fails({{"bug", "2"}}));
    }
    CHECK(*backend.compiled == 2);
    CHECK(asker.ask({}).exact);
    CHECK_FALSE(asker.ask({{"bug", "2"}}).exact);
    CHECK(asker.measure() == Rate{2, 2});
}

TEST_CASE("what fails in some runs only is run more often with each answer that it does not fail", "[asker]") {
    Counting backend;
    Graph graph = failing_with_bug();
    graph.failure->signature.rate = {20, 40};
    const Limits limits;
    Asker asker(graph, backend, limits);
    const int first = asker.runs();
    CHECK(first == repeats({20, 40}, 1));
    CHECK(asker.ask({}).again == Again::right);
    CHECK(*backend.compiled == first);
    CHECK(asker.runs() == repeats({20, 40}, 2));
}
