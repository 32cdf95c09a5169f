// Counts the oracle calls that search() needs on real networks with planted bugs, beside measured peers.
//   bench_minify [--json FILE] DIR       DIR: graphs/*.json and cases.json; run through scripts/bench minify
// The oracle is structural: it looks at which calls are kept, so every tool can be asked the same question and no time
// passes in compilers. Each case runs plainly and, under several seeds, with 20 % of the answers unresolved.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/files.h"
#include "reduce/search/search.h"

namespace {

using namespace whittle;
using namespace whittle::reduce;
using nlohmann::json;

struct Call {
    std::string name = {}, target = {};
    std::vector<int> calls = {};                           ///< operands that are calls, by number
    std::vector<std::vector<std::int64_t>> in_shape = {};  ///< of all operands, in order
    std::vector<std::int64_t> in_elements = {};            ///< of all operands
    std::vector<int> in_calls = {};                        ///< of all operands: the call's number, -1 for inputs
};

std::vector<Call> read_calls(const std::string& file) {
    const json graph = json::parse(read_file(file));
    std::map<std::string, const json*> nodes;
    std::map<std::string, int> number;
    std::vector<Call> calls;
    for (const json& node : graph.at("nodes")) {
        nodes[node.at("name")] = &node;
        if (node.at("op") != "call") continue;
        Call call{.name = node.at("name"), .target = node.at("target")};
        for (const json& name : node.at("inputs")) {
            const json& shape = nodes.at(name)->at("shape");
            const auto producer = number.find(name);
            call.in_shape.push_back(shape.is_null() ? std::vector<std::int64_t>{-1}
                                                    : shape.get<std::vector<std::int64_t>>());
            std::int64_t elements = 1;
            for (const std::int64_t size : call.in_shape.back()) elements *= size;
            call.in_elements.push_back(elements);
            call.in_calls.push_back(producer == number.end() ? -1 : producer->second);
            if (producer != number.end()) call.calls.push_back(producer->second);
        }
        number[node.at("name")] = static_cast<int>(calls.size());
        calls.push_back(std::move(call));
    }
    return calls;
}

/// The planted bug of a case.
class Oracle {
  public:
    Oracle(const std::vector<Call>& calls, const json& bug) : calls_(calls), bug_(bug), type_(bug.at("type")) {}

    bool fails(const Set& set) const {
        std::vector<bool> kept(calls_.size(), false);
        for (const int i : set) kept[static_cast<std::size_t>(i)] = true;
        if (type_ == "conj") return any(set, bug_.at("a")) && any(set, bug_.at("b"));
        if (type_ == "bigin") return any(set, bug_) && big_input(set, kept);
        if (type_ == "path") return path(set, kept);
        for (const int i : set)
            if (type_ == "pair"    ? ends_chain(i, {bug_.at("a"), bug_.at("b")}, kept)
                : type_ == "chain" ? ends_chain(i, bug_.at("chain").get<std::vector<json>>(), kept)
                                   : matches(i, bug_))
                return true;
        return false;
    }

  private:
    const Call& call(int i) const { return calls_[static_cast<std::size_t>(i)]; }

    /// `pattern` is a target, [target, shape of the first input] or an object of both.
    bool matches(int i, const json& pattern) const {
        const json target = pattern.is_string() ? pattern : pattern.is_array() ? pattern.at(0) : pattern.at("target");
        if (call(i).target != target.get<std::string>()) return false;
        json shape;
        if (pattern.is_array() && pattern.size() > 1) shape = pattern.at(1);
        if (pattern.is_object() && pattern.contains("in_shape")) shape = pattern.at("in_shape");
        return shape.is_null() ||
               (!call(i).in_shape.empty() && call(i).in_shape[0] == shape.get<std::vector<std::int64_t>>());
    }
    bool any(const Set& set, const json& pattern) const {
        return std::any_of(set.begin(), set.end(), [&](int i) { return matches(i, pattern); });
    }
    /// Whether call i matches the last pattern and reads, directly, calls that match those before.
    bool ends_chain(int i, std::vector<json> patterns, const std::vector<bool>& kept) const {
        if (!matches(i, patterns.back())) return false;
        patterns.pop_back();
        if (patterns.empty()) return true;
        for (const int operand : call(i).calls)
            if (kept[static_cast<std::size_t>(operand)] && ends_chain(operand, patterns, kept)) return true;
        return false;
    }
    bool big_input(const Set& set, const std::vector<bool>& kept) const {
        const std::int64_t wanted = bug_.at("k");
        for (const int i : set)
            for (std::size_t k = 0; k < call(i).in_calls.size(); ++k) {
                const int from = call(i).in_calls[k];
                if ((from < 0 || !kept[static_cast<std::size_t>(from)]) && call(i).in_elements[k] >= wanted)
                    return true;
            }
        return false;
    }
    bool path(const Set& set, const std::vector<bool>& kept) const {
        std::vector<bool> from(calls_.size(), false);
        for (const int i : set) {
            bool depends = false;
            for (const int operand : call(i).calls) {
                const auto o = static_cast<std::size_t>(operand);
                depends |= kept[o] && from[o];
            }
            if (depends && matches(i, bug_.at("b"))) return true;
            from[static_cast<std::size_t>(i)] = depends || matches(i, bug_.at("a"));
        }
        return false;
    }

    const std::vector<Call>& calls_;
    const json& bug_;
    const std::string type_;
};

double cpu_ms() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// 20 % of the sets, by a hash of the names of their members.
bool is_noise(const std::vector<Call>& calls, const Set& set, std::uint64_t seed) {
    std::vector<std::string_view> names;
    for (const int i : set) names.push_back(calls[static_cast<std::size_t>(i)].name);
    std::sort(names.begin(), names.end());
    std::uint64_t hash = 1469598103934665603ull ^ seed;
    for (const std::string_view name : names)
        for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
    hash = (hash ^ (hash >> 29)) * 0xbf58476d1ce4e5b9ull;
    return ((hash ^ (hash >> 32)) % 5) == 0;
}

struct Measured {
    Result result;
    double overhead_ms_per_query = 0;
};

/// `seed` of the missing answers; 0: none is missing.
Measured measure(const std::vector<Call>& calls, const std::function<bool(const Set&)>& fails, Mode mode,
                 std::uint64_t seed) {
    Problem problem;
    problem.count = static_cast<int>(calls.size());
    problem.neighbours.resize(calls.size());
    for (std::size_t i = 0; i < calls.size(); ++i)
        for (const int operand : calls[i].calls) {
            problem.neighbours[i].push_back(operand);
            problem.neighbours[static_cast<std::size_t>(operand)].push_back(static_cast<int>(i));
        }
    // A getitem lives only with its producer.
    problem.legal = [&](const Set& wish) {
        std::vector<bool> kept(calls.size(), false);
        Set legal;
        for (const int i : wish) {
            const Call& call = calls[static_cast<std::size_t>(i)];
            if (call.target == "getitem" && !call.calls.empty() && !kept[static_cast<std::size_t>(call.calls[0])])
                continue;
            kept[static_cast<std::size_t>(i)] = true;
            legal.push_back(i);
        }
        return legal;
    };
    double asked_ms = 0;
    problem.test = [&](const Set& set) {
        const double start = cpu_ms();
        const bool whole = set.size() == calls.size();
        const TestResult verdict = seed && !whole && is_noise(calls, set, seed) ? TestResult::unresolved
                                   : fails(set)                                 ? TestResult::fails
                                                                                : TestResult::passes;
        asked_ms += cpu_ms() - start;
        return verdict;
    };
    const double start = cpu_ms();
    Measured measured{search(problem, {.mode = mode}), 0};
    measured.overhead_ms_per_query =
        (cpu_ms() - start - asked_ms) / static_cast<double>(std::max<std::size_t>(1, measured.result.queries));
    return measured;
}

class GeometricMean {
  public:
    void add(double value) {
        sum_ += std::log(value);
        ++count_;
        max_ = std::max(max_, value);
    }
    double mean() const { return count_ ? std::exp(sum_ / count_) : 0; }
    double max() const { return max_; }

  private:
    double sum_ = 0, max_ = 0;
    int count_ = 0;
};

constexpr std::uint64_t kSeeds = 5;  ///< of missing answers

/// A peer in cases.json and its figure.
struct Peer {
    const char* title;
    const char* name;
    const char* figure;
};
constexpr Peer kPeers[] = {{"functorch", "functorch_fx_minifier", "distinct_queries"},
                           {"ddmin", "A_ddmin", "queries"},
                           {"ProbDD", "C_probdd", "queries"},
                           {"gallop", "E_gallop", "queries"}};

/// What a peer needed; nothing where it was not measured.
std::optional<double> figure(const json& entry, const Peer& peer) {
    const json& peers = entry.at("peers");
    if (!peers.contains(peer.name) || !peers.at(peer.name).contains(peer.figure)) return std::nullopt;
    return peers.at(peer.name).at(peer.figure).get<double>();
}

/// Of one kind of case, or of all.
struct Row {
    GeometricMean ours, noisy;
    std::map<std::string, GeometricMean> peers = {};
};

struct Totals {
    Row all;
    std::map<std::string, Row> by_case;
    int cases = 0, at_minimum = 0, runs = 0, one_minimal = 0, worse = 0, fell_back = 0;
    double overhead = 0;  ///< the largest, ms per query
};

std::string ratio(double ours, double theirs) {
    char text[16];
    std::snprintf(text, sizeof text, "%.2f", theirs > 0 ? ours / theirs : 0);
    return theirs > 0 ? text : "--";
}

std::string number(std::optional<double> value, int digits = 0) {
    char text[32];
    std::snprintf(text, sizeof text, "%.*f", digits, value.value_or(0));
    return value ? text : "--";
}

/// One case, plainly and under each seed of missing answers.
class Runner {
  public:
    explicit Runner(Totals& totals) : totals_(totals) {}

    void run(const json& entry, const std::vector<Call>& calls) {
        const Oracle oracle(calls, entry.at("oracle"));
        const auto minimum = entry.at("min_calls").get<std::size_t>();
        Row& row = totals_.by_case[entry.at("case")];
        GeometricMean noisy;
        bool one_minimal = true;
        Result plain;
        double overhead = 0;
        for (std::uint64_t seed = 0; seed <= kSeeds; ++seed) {
            const Measured measured = measure(
                calls, [&](const Set& set) { return oracle.fails(set); }, Mode::automatic, seed);
            const Result& result = measured.result;
            if (seed == 0) plain = result;
            (seed == 0 ? row.ours : row.noisy).add(static_cast<double>(result.queries));
            (seed == 0 ? totals_.all.ours : totals_.all.noisy).add(static_cast<double>(result.queries));
            if (seed) noisy.add(static_cast<double>(result.queries));
            ++totals_.runs;
            totals_.one_minimal += result.one_minimal;
            totals_.fell_back += result.fell_back;
            one_minimal = one_minimal && result.one_minimal;
            overhead = std::max(overhead, measured.overhead_ms_per_query);
            keep(entry, calls.size(), minimum, seed, measured);
        }
        totals_.overhead = std::max(totals_.overhead, overhead);
        ++totals_.cases;
        totals_.at_minimum += plain.kept.size() == minimum;
        print(entry, calls.size(), plain, noisy.mean(), minimum, one_minimal, overhead, row);
    }

    json cases = json::array();

  private:
    void keep(const json& entry, std::size_t count, std::size_t minimum, std::uint64_t seed, const Measured& measured) {
        const Result& result = measured.result;
        cases.push_back({{"graph", entry.at("graph")},
                         {"case", entry.at("case")},
                         {"noise", seed != 0},
                         {"seed", seed},
                         {"calls", count},
                         {"queries", result.queries},
                         {"unresolved", result.unresolved},
                         {"fell_back", result.fell_back},
                         {"final_calls", result.kept.size()},
                         {"min_calls", minimum},
                         {"one_minimal", result.one_minimal},
                         {"overhead_ms_per_query", measured.overhead_ms_per_query},
                         {"peers", entry.at("peers")}});
        for (const Peer& peer : kPeers)
            if (const auto theirs = figure(entry, peer); theirs && *theirs > 0)
                cases.back()["ratios"][peer.name] = static_cast<double>(result.queries) / *theirs;
    }

    void print(const json& entry, std::size_t count, const Result& plain, double noisy, std::size_t minimum,
               bool one_minimal, double overhead, Row& row) {
        const double queries = static_cast<double>(plain.queries);
        std::string graph = entry.at("graph");
        graph.resize(std::min(graph.find('.'), graph.size()));
        std::printf("%-14s %-9s %5zu %7.0f %6.1f |", graph.c_str(), entry.at("case").get<std::string>().c_str(), count,
                    queries, noisy);
        for (const Peer& peer : kPeers) {
            const std::optional<double> theirs = figure(entry, peer);
            std::printf(" %4s x%-4s", number(theirs).c_str(), ratio(queries, theirs.value_or(0)).c_str());
            if (!theirs) continue;
            row.peers[peer.title].add(*theirs);
            totals_.all.peers[peer.title].add(*theirs);
            if (&peer == kPeers) totals_.worse += queries > *theirs;
        }
        std::printf(" | %3zu/%-3zu %5s %8.4f\n", plain.kept.size(), minimum, one_minimal ? "yes" : "NO", overhead);
    }

    Totals& totals_;
};

void print(const char* title, const Row& row) {
    std::printf("%-9s %7.1f %5.0f %7.1f %5.0f |", title, row.ours.mean(), row.ours.max(), row.noisy.mean(),
                row.noisy.max());
    for (const Peer& peer : kPeers) {
        const auto theirs = row.peers.find(peer.title);
        const double mean = theirs == row.peers.end() ? 0 : theirs->second.mean();
        std::printf(" %6s x%-4s", number(mean > 0 ? std::optional(mean) : std::nullopt, 1).c_str(),
                    ratio(row.ours.mean(), mean).c_str());
    }
    std::printf("\n");
}

/// A chain of 10,000 calls of which one is culprit, at several places.
double queries_on_large_graph() {
    std::vector<Call> calls(10000);
    for (int i = 1; i < 10000; ++i) calls[static_cast<std::size_t>(i)].calls = {i - 1};
    double most = 0;
    for (const int culprit : {0, 1, 777, 5000, 9998, 9999}) {
        const auto fails = [&](const Set& set) { return std::binary_search(set.begin(), set.end(), culprit); };
        most = std::max(most, static_cast<double>(measure(calls, fails, Mode::automatic, 0).result.queries));
    }
    return most;
}

/// As an oracle, but a seventh of the calls mask the bug unless as many of them are kept, modulo two, as in the whole:
/// no answer says anything about a smaller set.
bool fails_masked(const Oracle& oracle, const Set& set, std::size_t count) {
    const auto masks = std::count_if(set.begin(), set.end(), [](int item) { return item % 7 == 3; });
    return oracle.fails(set) && static_cast<std::size_t>(masks) % 2 == (count + 3) / 7 % 2;
}

/// The same cases in every mode, which is what each would cost alone; then with bugs that are masked.
json compare_modes(const json& cases, const std::map<std::string, std::vector<Call>>& graphs) {
    json modes = json::object();
    std::printf(
        "\n%-9s %7s %5s %7s %5s %7s %5s %9s   queries, geometric mean and most: plain, answers missing, masked\n",
        "--mode", "queries", "max", "noise", "max", "masked", "max", "fell back");
    for (const std::string& name : mode_names()) {
        if (name == "linear") continue;  // one query a call: nothing to learn
        GeometricMean plain, noisy, masked;
        int fell_back = 0;
        for (const json& entry : cases) {
            const std::vector<Call>& calls = graphs.at(entry.at("graph"));
            const Oracle oracle(calls, entry.at("oracle"));
            const auto queries = [&](const std::function<bool(const Set&)>& fails, std::uint64_t seed) {
                const Result result = measure(calls, fails, mode_from_name(name), seed).result;
                fell_back += result.fell_back;
                return static_cast<double>(result.queries);
            };
            const auto fails = [&](const Set& set) { return oracle.fails(set); };
            plain.add(queries(fails, 0));
            for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) noisy.add(queries(fails, seed));
            masked.add(queries([&](const Set& set) { return fails_masked(oracle, set, calls.size()); }, 0));
        }
        std::printf("%-9s %7.1f %5.0f %7.1f %5.0f %7.1f %5.0f %9d\n", name.c_str(), plain.mean(), plain.max(),
                    noisy.mean(), noisy.max(), masked.mean(), masked.max(), fell_back);
        modes[name] = {{"geomean_queries", plain.mean()},
                       {"geomean_queries_noise", noisy.mean()},
                       {"geomean_queries_masked", masked.mean()},
                       {"fell_back", fell_back}};
    }
    return modes;
}

/// A figure that is to be reached, and whether it is.
bool target(const char* what, double value, double most) {
    std::printf("%-52s %8.4g %8.4g  %s\n", what, value, most, value <= most ? "held" : "MISSED");
    return value <= most;
}

/// What a minimizer is to be measured by. `large`: queries for one op among 10,000.
bool targets(const Totals& totals, double large) {
    const auto most = [&](const char* name) {
        const auto row = totals.by_case.find(name);
        return row == totals.by_case.end() ? 0 : row->second.ours.max();
    };
    std::printf("\n%-52s %8s %8s\n", "target", "measured", "at most");
    bool held = target("queries, geometric mean", totals.all.ours.mean(), 18);
    held &= target("with 20 % of the answers missing", totals.all.noisy.mean(), 26);
    held &= target("one op", most("i_op"), 12);
    held &= target("one instance", most("ii_inst"), 12);
    held &= target("producer-consumer pair", most("iii_pair"), 16);
    held &= target("chain of 3", most("iv_chain"), 24);
    held &= target("two far apart", most("v_conj"), 30);
    held &= target("whole path", most("vii_path"), 115);
    held &= target("one op in 10,000", large, 16);
    held &= target("cases with more queries than functorch (distinct)", totals.worse, 0);
    held &= target("cases above the true minimum", totals.cases - totals.at_minimum, 0);
    held &= target("runs not 1-minimal, those with missing answers too", totals.runs - totals.one_minimal, 0);
    held &= target("own processor time, ms per query, most", totals.overhead, 0.2);
    return held;
}

int run(const std::string& folder, const std::string& json_file) {
    const json cases = json::parse(read_file(folder + "/cases.json")).at("cases");
    std::map<std::string, std::vector<Call>> graphs;
    Totals totals;
    Runner runner(totals);
    std::printf("%-14s %-9s %5s %7s %6s |", "graph", "case", "calls", "queries", "noise");
    for (const Peer& peer : kPeers) std::printf(" %-10s", peer.title);
    std::printf(" | final  1-min ms/query\n");
    for (const json& entry : cases) {
        const std::string graph = entry.at("graph");
        if (!graphs.contains(graph)) graphs[graph] = read_calls(folder + "/graphs/" + graph);
        runner.run(entry, graphs.at(graph));
    }
    std::printf("\n%-9s %7s %5s %7s %5s |", "case", "queries", "max", "noise", "max");
    for (const Peer& peer : kPeers) std::printf(" %-12s", peer.title);
    std::printf("  geometric means; functorch: structurally distinct queries; x: ours / theirs\n");
    for (const auto& [name, row] : totals.by_case) print(name.c_str(), row);
    print("all", totals.all);
    const json modes = compare_modes(cases, graphs);
    const double large = queries_on_large_graph();
    std::printf("\ndelta debugging had to go on in %d of %d runs\n", totals.fell_back, totals.runs);
    const bool held = targets(totals, large);
    if (json_file.empty()) return 0;
    const json summary = {{"geomean_queries", totals.all.ours.mean()},
                          {"geomean_queries_noise", totals.all.noisy.mean()},
                          {"cases", totals.cases},
                          {"minimum_reached", totals.at_minimum},
                          {"runs", totals.runs},
                          {"one_minimal", totals.one_minimal},
                          {"fell_back", totals.fell_back},
                          {"more_than_functorch", totals.worse},
                          {"max_overhead_ms_per_query", totals.overhead},
                          {"max_queries_10000_calls", large},
                          {"modes", modes},
                          {"targets_held", held}};
    write_file(json_file, json{{"cases", runner.cases}, {"summary", summary}}.dump(1) + "\n");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    std::string folder, json_file;
    for (int i = 1; i < argc; ++i) {
        if (std::string(argv[i]) == "--json" && i + 1 < argc)
            json_file = argv[++i];
        else
            folder = argv[i];
    }
    if (folder.empty()) {
        std::cerr << "usage: bench_minify [--json FILE] DIR\n";
        return 2;
    }
    try {
        return run(folder, json_file);
    } catch (const std::exception& error) {
        std::cerr << "bench_minify: error: " << folder << ": " << error.what() << "\n";
        return 2;
    }
}
