// Counts the oracle calls that search() needs on real networks with planted bugs, beside measured peers.
//   bench_minify [--json FILE] DIR       DIR: graphs/*.json and cases.json; run through scripts/bench-minify
// The oracle is structural: it looks at which calls are kept, so every tool can be asked the same question and no time
// passes in compilers. Each case runs plainly and with 20 % of the answers unresolved.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "reduce/search.h"

namespace {

using namespace whittle;
using namespace whittle::reduce;
using nlohmann::json;

struct Call {
    std::string target = {};
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
        Call call{.target = node.at("target")};
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
        if (call(i).target != target) return false;
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

/// 20 % of the sets, by a hash of their members.
bool is_noise(const Set& set) {
    std::uint64_t hash = 1469598103934665603ull;
    for (const int i : set) hash = (hash ^ static_cast<std::uint64_t>(i)) * 1099511628211ull;
    hash = (hash ^ (hash >> 29)) * 0xbf58476d1ce4e5b9ull;
    return ((hash ^ (hash >> 32)) % 5) == 0;
}

struct Measured {
    Result result;
    double overhead_ms_per_query = 0;
};

Measured measure(const std::vector<Call>& calls, const std::function<bool(const Set&)>& fails, bool noise) {
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
        const Verdict verdict = noise && !whole && is_noise(set) ? Verdict::unresolved
                                : fails(set)                     ? Verdict::fails
                                                                 : Verdict::passes;
        asked_ms += cpu_ms() - start;
        return verdict;
    };
    const double start = cpu_ms();
    Measured measured{search(problem, {}), 0};
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

struct Totals {
    GeometricMean all, noisy;
    std::map<std::string, std::pair<GeometricMean, GeometricMean>> by_case;  ///< ours, functorch's distinct
    int cases = 0, at_minimum = 0, one_minimal = 0, worse = 0;
    double overhead = 0;  ///< the largest, ms per query
};

/// "--" where the peer was not measured.
std::string ratio(double ours, double theirs) {
    char text[16];
    std::snprintf(text, sizeof text, "%.2f", theirs > 0 ? ours / theirs : 0);
    return theirs > 0 ? text : "--";
}

json run_case(const json& entry, const std::vector<Call>& calls, bool noise, Totals& totals) {
    const Oracle oracle(calls, entry.at("oracle"));
    const Measured measured = measure(
        calls, [&](const Set& set) { return oracle.fails(set); }, noise);
    const double queries = static_cast<double>(measured.result.queries);
    const auto minimum = entry.at("min_calls").get<std::size_t>();
    const double functorch = entry.at("peers").at("functorch_fx_minifier").at("distinct_queries");
    totals.overhead = std::max(totals.overhead, measured.overhead_ms_per_query);
    if (noise) {
        totals.noisy.add(queries);
    } else {
        totals.all.add(queries);
        auto& [ours, theirs] = totals.by_case[entry.at("case")];
        ours.add(queries);
        theirs.add(functorch);
        ++totals.cases;
        totals.at_minimum += measured.result.kept.size() == minimum;
        totals.one_minimal += measured.result.one_minimal;
        totals.worse += queries > functorch;
        std::printf("%-26s %-10s %6zu %8.0f %10.0f %6s %9zu/%zu %5s %10.4f\n",
                    entry.at("graph").get<std::string>().c_str(), entry.at("case").get<std::string>().c_str(),
                    calls.size(), queries, functorch, ratio(queries, functorch).c_str(), measured.result.kept.size(),
                    minimum, measured.result.one_minimal ? "yes" : "NO", measured.overhead_ms_per_query);
    }
    return {{"graph", entry.at("graph")},
            {"case", entry.at("case")},
            {"noise", noise},
            {"calls", calls.size()},
            {"queries", measured.result.queries},
            {"unresolved", measured.result.unresolved},
            {"final_calls", measured.result.kept.size()},
            {"min_calls", minimum},
            {"one_minimal", measured.result.one_minimal},
            {"overhead_ms_per_query", measured.overhead_ms_per_query},
            {"peers", entry.at("peers")}};
}

/// A chain of 10,000 calls of which one is guilty, at several places.
double queries_on_large_graph() {
    std::vector<Call> calls(10000);
    for (int i = 1; i < 10000; ++i) calls[static_cast<std::size_t>(i)].calls = {i - 1};
    double most = 0;
    for (const int guilty : {0, 1, 777, 5000, 9998, 9999}) {
        const auto fails = [&](const Set& set) { return std::binary_search(set.begin(), set.end(), guilty); };
        most = std::max(most, static_cast<double>(measure(calls, fails, false).result.queries));
    }
    return most;
}

int run(const std::string& folder, const std::string& json_file) {
    json cases = json::parse(read_file(folder + "/cases.json")).at("cases"), measured = json::array();
    std::map<std::string, std::vector<Call>> graphs;
    Totals totals;
    std::printf("%-26s %-10s %6s %8s %10s %6s %11s %5s %10s\n", "graph", "case", "calls", "queries", "functorch",
                "ratio", "final/min", "1-min", "ms/query");
    for (const bool noise : {false, true})
        for (const json& entry : cases) {
            const std::string graph = entry.at("graph");
            if (!graphs.contains(graph)) graphs[graph] = read_calls(folder + "/graphs/" + graph);
            measured.push_back(run_case(entry, graphs.at(graph), noise, totals));
        }
    std::printf("\n%-10s %10s %6s %10s %6s   queries, geometric mean (functorch: structurally distinct ones)\n", "case",
                "queries", "max", "functorch", "ratio");
    for (const auto& [name, both] : totals.by_case)
        std::printf("%-10s %10.1f %6.0f %10.1f %6s\n", name.c_str(), both.first.mean(), both.first.max(),
                    both.second.mean(), ratio(both.first.mean(), both.second.mean()).c_str());
    const double large = queries_on_large_graph();
    std::printf(
        "\nall %.1f, with 20%% unresolved %.1f; minimum reached %d/%d, 1-minimal %d/%d, more queries than functorch "
        "%d; "
        "at most %.3f ms own CPU per query; one op in 10,000: at most %.0f queries\n",
        totals.all.mean(), totals.noisy.mean(), totals.at_minimum, totals.cases, totals.one_minimal, totals.cases,
        totals.worse, totals.overhead, large);
    if (json_file.empty()) return 0;
    const json summary = {{"geomean_queries", totals.all.mean()},
                          {"geomean_queries_noise", totals.noisy.mean()},
                          {"cases", totals.cases},
                          {"minimum_reached", totals.at_minimum},
                          {"one_minimal", totals.one_minimal},
                          {"more_than_functorch", totals.worse},
                          {"max_overhead_ms_per_query", totals.overhead},
                          {"max_queries_10000_calls", large}};
    write_file(json_file, json{{"cases", measured}, {"summary", summary}}.dump(1) + "\n");
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
