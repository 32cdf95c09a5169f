#include "reduce/journal.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <functional>
#include <random>

#include "backends/registry.h"
#include "base/error.h"
#include "base/files.h"
#include "graph/text.h"
#include "reduce/identity.h"
#include "reduce/ladder.h"
#include "reduce/minimize.h"

using namespace whittle;
using namespace whittle::reduce;
using Catch::Contains;

namespace {

struct Killed {};

/// Fails when a candidate holds both a tanh and a sin; is killed instead of giving answer number `kill_at`.
class Fake final : public Oracle {
  public:
    int asked = 0, kill_at = -1;
    std::vector<std::string> candidates = {};

    Observation observe(const Case& candidate) override {
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
    const Minimized wanted = minimize(graph, kInput, undisturbed);
    REQUIRE(wanted.after.calls == 2);
    const std::string identity = Identity(undisturbed)({graph, kInput});
    for (int kill_at = 0; kill_at < undisturbed.asked; ++kill_at) {
        const TempDir folder;
        const auto file = folder.path() / "m.json.journal";
        Fake first;
        first.kill_at = kill_at;
        {
            Journal journal(file, identity, false);
            CHECK_THROWS_AS(minimize(graph, kInput, first, {}, {}, &journal), Killed);
        }
        if (kill_at > 0 && kill_at % 3 == 0) std::ofstream(file, std::ios::app) << "{\"candidate\": \"half a li";
        Fake second;
        Journal journal(file, identity, true);
        const Minimized result = minimize(graph, kInput, second, {}, {}, &journal);
        INFO("killed at answer " << kill_at);
        CHECK(print(result.smallest.graph) == print(wanted.smallest.graph));
        CHECK(result.search.queries == wanted.search.queries);
        CHECK(journal.replayed() == static_cast<std::size_t>(kill_at));
        CHECK(first.candidates.size() + second.candidates.size() == undisturbed.candidates.size());
        journal.remove();
        CHECK_FALSE(std::filesystem::exists(file));
    }
}

TEST_CASE("the journal keeps the whole signature", "[journal]") {
    const TempDir folder;
    const auto file = folder.path() / "m.json.journal";
    const Signature at_gradients{"mismatch", "run", "value", "backward"};
    {
        Journal journal(file, "this search", false);
        journal.add("c", {.failed = true, .signature = at_gradients});
        CHECK_FALSE(journal.has("c"));  // what was answered here is not asked for again
    }
    Journal journal(file, "this search", true);
    CHECK_FALSE(journal.take("another"));
    REQUIRE(journal.has("c"));
    const std::optional<Observation> seen = journal.take("c");
    CHECK(seen->signature == at_gradients);
    CHECK(seen->replayed);
    CHECK_FALSE(journal.take("c"));
}

TEST_CASE("the journal of a search with another model, and what is no journal, are refused", "[journal]") {
    const TempDir folder;
    const auto file = folder.path() / "m.json.journal";
    const Graph graph = ladder();
    Fake oracle;
    const std::string identity = Identity(oracle)({graph, kInput});
    write_file(file, "the journal of a killed search");
    {
        Journal journal(file, identity, false);
        CHECK(read_file(file) == "the journal of a killed search");  // until there is an answer
        minimize(graph, kInput, oracle, {}, {}, &journal);
    }
    const std::vector<Tensor> other = {Tensor::of<float>({1, 2, 3, 4})};
    CHECK(Identity(oracle)({graph, other}) != identity);
    CHECK_THROWS_WITH(Journal(file, Identity(oracle)({graph, other}), true),
                      Contains("m.json.journal") && Contains("journal of a search with another model"));
    write_file(file, "not json\n");
    CHECK_THROWS_WITH(Journal(file, identity, true), Contains("line 1"));
}

TEST_CASE("a journal that a kill left empty is begun anew, and one without an answer is not left behind", "[journal]") {
    const TempDir folder;
    const auto file = folder.path() / "m.json.journal";
    write_file(file, "");
    {
        Journal journal(file, "identity", true);
        CHECK(journal.replayed() == 0);
    }
    CHECK_FALSE(std::filesystem::exists(file));
}

TEST_CASE("two searches do not share a journal", "[journal]") {
    const TempDir folder;
    const auto file = folder.path() / "m.json.journal";
    Fake oracle;
    {
        Journal first(file, "identity", false);
        CHECK_THROWS_WITH(Journal(file, "identity", false),
                          Contains("m.json.journal") && Contains("another run of minify") && Contains("-o"));
        CHECK_THROWS_WITH(Journal(file, "identity", true), Contains("another run of minify"));
        minimize(ladder(), kInput, oracle, {}, {}, &first);
        CHECK_THROWS_WITH(Journal(file, "identity", true), Contains("another run of minify"));
    }
    Journal next(file, "identity", true);
}

namespace {

/// Loses every answer of which `lost` says so, by its number.
class Losing final : public Oracle {
  public:
    explicit Losing(std::function<bool(int)> lost) : lost_(std::move(lost)) {}
    int asked = 0;

    Observation observe(const Case& candidate) override {
        if (lost_(asked++)) return {.unresolved = true, .message = "killed from outside", .lost = true};
        return judge_ladder(print(candidate.graph));
    }
    void describe(Failure& failure) const override { failure.backend = "fake"; }
    std::string name() const override { return "fake"; }

  private:
    std::function<bool(int)> lost_;
};

}  // namespace

TEST_CASE("an answer that was lost is asked for again and never kept", "[journal]") {
    const TempDir folder;
    const auto file = folder.path() / "m.json.journal";
    const Graph graph = ladder();
    Losing whole([](int) { return false; });
    const Minimized wanted = minimize(graph, kInput, whole);
    Losing hiccups([](int asked) { return asked % 7 == 3; });
    {
        Journal journal(file, "identity", false);
        const Minimized result = minimize(graph, kInput, hiccups, {}, {}, &journal);
        CHECK(print(result.smallest.graph) == print(wanted.smallest.graph));
        CHECK(result.search.unresolved == wanted.search.unresolved);
        CHECK(hiccups.asked > whole.asked);
    }
    CHECK(read_file(file).find("outside") == std::string::npos);
}

TEST_CASE("a search that nobody answers any more stops and can be resumed", "[journal]") {
    const TempDir folder;
    const auto file = folder.path() / "m.json.journal";
    const Graph graph = ladder();
    Losing whole([](int) { return false; });
    const Minimized wanted = minimize(graph, kInput, whole);
    Losing gone([](int asked) { return asked >= 6; });
    {
        Journal journal(file, "identity", false);
        CHECK(minimize(graph, kInput, gone, {}, {}, &journal).ending == Minimized::Ending::interrupted);
        CHECK(gone.asked < 30);
    }
    Losing back([](int) { return false; });
    Journal journal(file, "identity", true);
    const Minimized result = minimize(graph, kInput, back, {}, {}, &journal);
    CHECK(print(result.smallest.graph) == print(wanted.smallest.graph));
    CHECK(journal.replayed() == 6);
    Losing never([](int) { return true; });
    CHECK_THROWS_WITH(minimize(graph, kInput, never), Contains("no verdict on the original model"));
}

TEST_CASE("an identity covers the whole question", "[journal]") {
    const TempDir folder;
    const std::string script = (folder.path() / "check.sh").string(), launcher = (folder.path() / "over.sh").string();
    write_file(script, "exit 1\n");
    write_file(launcher, "exec \"$@\"\n");
    const CommandOracleOptions plain{.command = {"sh", script, "{}"}, .polarity = "check"};
    const auto of = [](const CommandOracleOptions& options) {
        return Identity(*command_oracle(options))({ladder(), kInput});
    };
    const std::string before = of(plain);
    CHECK(of(plain) == before);
    std::vector<CommandOracleOptions> others(10, plain);
    others[0].polarity = "test-must-fail";
    others[1].extension = ".onnx";
    others[2].fail_codes = {3};
    others[3].ignore_codes = {3};
    others[4].fail_pattern = "pool";
    others[5].limits.timeout = std::chrono::milliseconds(5);
    others[6].limits.memory = 1 << 20;
    others[7].limits.cpu = std::chrono::seconds(3);
    others[8].launcher = {"sh", launcher};
    others[9].external_data = "yes";
    for (std::size_t i = 0; i < others.size(); ++i) {
        INFO("option " << i);
        CHECK(of(others[i]) != before);
    }
    const std::string launched = of(others[8]);
    write_file(launcher, "exec nice \"$@\"\n");
    CHECK(of(others[8]) != launched);
    write_file(script, "exit 2\n");
    CHECK(of(plain) != before);
}

TEST_CASE("the identity of a search on a backend covers how it is run and what it is", "[journal]") {
    const auto of = [](const Suspect& suspect) {
        const auto backend = find_backend(suspect.spec);
        return Identity(*backend_oracle(*backend, suspect))({ladder(), kInput});
    };
    const Suspect plain{.spec = "eager"};
    const std::string before = of(plain);
    CHECK(of(plain) == before);
    std::vector<Suspect> others(6, plain);
    others[0].options = {{"passes", "none"}};
    others[1].tier = Tier::computes;
    others[2].accuracy = Accuracy{.mode = Accuracy::Mode::strict};
    others[3].limits.timeout = std::chrono::milliseconds(5);
    others[4].launcher.prefix = {"ssh", "host"};
    others[5].spec = "cmd:true";
    for (std::size_t i = 0; i < others.size(); ++i) {
        INFO("option " << i);
        CHECK(of(others[i]) != before);
    }
    const TempDir folder;
    const std::string script = (folder.path() / "backend.sh").string();
    const Suspect command{.spec = "cmd:sh " + script};
    write_file(script, "exit 1\n");
    const std::string first = of(command);
    write_file(script, "exit 2\n");
    CHECK(of(command) != first);
}
