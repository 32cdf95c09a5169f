#include "reduce/journal.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <random>

#include "base/error.h"
#include "base/files.h"
#include "graph/text.h"
#include "reduce/identity.h"
#include "reduce/ladder.h"
#include "reduce/minimize.h"

using namespace whittle;
using namespace whittle::reduce;
using Catch::Matchers::Contains;

namespace {

struct Killed {};

/// Fails when a candidate holds both a tanh and a sin; is killed instead of giving answer number `kill_at`.
class Fake final : public Oracle {
  public:
    int asked = 0, kill_at = -1;
    std::vector<std::string> candidates = {};

    Observation observe(const Candidate& candidate) override {
        if (asked++ == kill_at) throw Killed{};
        const std::string text = print(candidate.graph);
        candidates.push_back(text);
        return judge_ladder(text);
    }
    void describe(Failure& failure) const override { failure.backend = "fake"; }
    std::string name() const override { return "fake"; }
};

}  // namespace

TEST_CASE("a search killed after any answer goes on with no query repeated, to the same result", "[journal]") {
    const Graph graph = ladder();
    Fake undisturbed;
    const Minimized wanted = minimize(graph, kInput, undisturbed, {});
    REQUIRE(wanted.calls_after == 2);
    const std::string identity = Identity(undisturbed)(graph, kInput);
    for (int kill_at = 0; kill_at < undisturbed.asked; ++kill_at) {
        const TempDir folder;
        const auto file = folder.path() / "m.json.journal";
        Fake first;
        first.kill_at = kill_at;
        {
            JournalingOracle journal(first, file, identity, false);
            CHECK_THROWS_AS(minimize(graph, kInput, journal, {}), Killed);
        }
        if (kill_at > 0 && kill_at % 3 == 0) std::ofstream(file, std::ios::app) << "{\"candidate\": \"half a li";
        Fake second;
        JournalingOracle journal(second, file, identity, true);
        const Minimized result = minimize(graph, kInput, journal, {});
        INFO("killed at answer " << kill_at);
        CHECK(print(result.graph) == print(wanted.graph));
        CHECK(result.search.queries == wanted.search.queries);
        CHECK(journal.replayed() == static_cast<std::size_t>(kill_at));
        CHECK(first.candidates.size() + second.candidates.size() == undisturbed.candidates.size());
        journal.remove();
        CHECK_FALSE(std::filesystem::exists(file));
    }
}

TEST_CASE("the journal of another search, and what is no journal, are refused", "[journal]") {
    const TempDir folder;
    const auto file = folder.path() / "m.json.journal";
    const Graph graph = ladder();
    Fake oracle;
    const std::string identity = Identity(oracle)(graph, kInput);
    write_file(file, "the journal of a killed search");
    {
        JournalingOracle journal(oracle, file, identity, false);
        CHECK(read_file(file) == "the journal of a killed search");  // until there is an answer
        minimize(graph, kInput, journal, {});
    }
    const std::vector<Tensor> other = {Tensor::of<float>({1, 2, 3, 4})};
    CHECK(Identity(oracle)(graph, other) != identity);
    CHECK_THROWS_WITH(JournalingOracle(oracle, file, Identity(oracle)(graph, other), true),
                      Contains("m.json.journal") && Contains("journal of another search"));
    write_file(file, "not json\n");
    CHECK_THROWS_WITH(JournalingOracle(oracle, file, identity, true), Contains("line 1"));
    write_file(file, "");
    CHECK_THROWS_WITH(JournalingOracle(oracle, file, identity, true), Contains("found no line"));
}
