// The ONNX standard's test models on our backends, against what is known not to pass. Entry point of the tests
// conformance/onnx-* and of scripts/onnx-conformance.
#include <onnx/common/version.h>
#include <CLI/CLI.hpp>

#include <fstream>
#include <iostream>

#include "backends/registry.h"
#include "base/error.h"
#include "graph/abilities.h"
#include "known.h"
#include "ops/core/registry.h"
#include "table.h"
#include "version_sections.h"

namespace {

using namespace whittle;
using namespace whittle::conformance;

struct Options {
    std::filesystem::path data, known, lines, unchecked;
    std::string backend = "eager", only;
    std::size_t shard = 0, shards = 1;
    int per_op = 0;  ///< 0: all models
    std::vector<std::filesystem::path> tables;
};

/// So many models of each op at least, as far as there are that many; all that no op has enough of.
std::vector<Model> covering(const std::vector<Model>& models, int per_op) {
    std::map<std::string, int> chosen;
    std::vector<Model> result;
    for (const Model& model : models) {
        bool wanted = false;
        for (const std::string& op : model.ops) wanted |= chosen[op] < per_op;
        if (!wanted) continue;
        for (const std::string& op : model.ops) ++chosen[op];
        result.push_back(model);
    }
    return result;
}

int run(const Options& options) {
    const std::vector<Model> models = find_models(options.data);
    const std::vector<Model> chosen = options.per_op > 0 ? covering(models, options.per_op) : models;
    const auto backend = find_backend(BackendSpec(options.backend));
    if (WarmUp* warm = offered<WarmUp>(*backend)) warm->warm_up();
    std::optional<KnownFailures> known;
    if (!options.known.empty()) known.emplace(options.known);
    std::ofstream lines;
    if (!options.lines.empty()) lines.open(options.lines);
    int tried = 0, unexpected = 0;
    for (std::size_t i = options.shard; i < chosen.size(); i += options.shards) {
        const Model& model = chosen[i];
        if (model.name.find(options.only) == std::string::npos) continue;
        const Judged judged = judge(model, *backend);
        ++tried;
        if (lines.is_open())
            lines << to_line({model.name, options.backend, {model.ops.begin(), model.ops.end()}, judged}) << std::endl;
        const std::string problem = known ? known->judge(model, options.backend, judged) : std::string();
        if (!problem.empty()) std::cout << model.name << " on " << options.backend << ": " << problem << std::endl;
        unexpected += !problem.empty();
    }
    if (known && options.shard == 0)
        for (const std::string& line : known->unneeded(models, options.backend)) {
            std::cout << line << "\n";
            ++unexpected;
        }
    std::cout << tried << " models on " << options.backend << ", " << unexpected << " surprises\n";
    return unexpected || tried == 0 ? 1 : 0;
}

/// ONNX ops that nothing checks but what they are made of: they have no kernel of their own that their decomposition
/// must agree with, and no model of the standard's that passes. The file lists them: none less, none more.
int compare_unchecked(const Options& options) {
    const KnownFailures known(options.known);
    std::set<std::string> checked, unchecked, listed;
    for (const Model& model : find_models(options.data))
        if (known.passes(model, "eager")) checked.insert(model.ops.begin(), model.ops.end());
    for (const RegisteredOp& op : Registry::instance().all()) {
        const std::string name(op.name);
        if (!op.of_torch() && !op.def->eval && !checked.contains(name)) unchecked.insert(name);
    }
    std::ifstream in(options.unchecked);
    if (!in) throw Error({options.unchecked, {}}, "cannot be read");
    test::VersionSections sections("libonnx", onnx::LAST_RELEASE_VERSION);
    for (std::string line; std::getline(in, line);)
        if (!line.empty() && line.front() != '#' && sections.counts(line))
            listed.insert(line.substr(0, line.find(' ')));
    int wrong = 0;
    for (const std::string& name : unchecked)
        if (!listed.contains(name) && ++wrong) std::cout << name << " is checked by nothing but itself\n";
    for (const std::string& name : listed)
        if (!unchecked.contains(name) && ++wrong) std::cout << name << " is listed, but it is checked, or no op\n";
    return wrong ? 1 : 0;
}

int print_tables(const std::vector<std::filesystem::path>& files) {
    std::vector<Report> reports;
    for (const auto& file : files) {
        std::ifstream in(file);
        if (!in) throw Error({file, {}}, "cannot be read");
        for (std::string line; std::getline(in, line);) reports.push_back(report_from_line(line));
    }
    print_table(std::cout, reports);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("Runs the ONNX standard's test models.");
    app.add_option("--data", options.data, "folder with the models");
    app.add_option("--backend", options.backend, "eager or halide");
    app.add_option("--known", options.known, "what is known not to pass; anything else is an error");
    app.add_option("--only", options.only, "models whose name contains this");
    app.add_option("--shard", options.shard, "which part, from 0");
    app.add_option("--shards", options.shards, "how many parts")->check(CLI::PositiveNumber);
    app.add_option("--per-op", options.per_op, "models that cover every op so many times, instead of all");
    app.add_option("--lines", options.lines, "write a line of JSON per model");
    app.add_option("--unchecked", options.unchecked, "compare this list of ops that no model checks, run nothing");
    app.add_option("--table", options.tables, "print the table of such files instead");
    CLI11_PARSE(app, argc, argv);
    try {
        if (!options.tables.empty()) return print_tables(options.tables);
        return options.unchecked.empty() ? run(options) : compare_unchecked(options);
    } catch (const Error& error) {
        std::cerr << "onnx_conformance: error: " << error.what() << "\n";
        return 2;
    }
}
