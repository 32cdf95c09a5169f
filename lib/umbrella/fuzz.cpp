#include "umbrella/umbrella.h"

#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/interrupt.h"
#include "base/words.h"
#include "cli/environment.h"
#include "cli/minify_options.h"
#include "cli/progress.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "formats/json.h"
#include "fuzz/fuzz.h"
#include "reduce/minimize_frame.h"
#include "reduce/report.h"
#include "repro/follow.h"
#include "repro/repro.h"
#include "repro/verify.h"

namespace whittle::umbrella {
namespace fs = std::filesystem;

namespace {

std::vector<DType> dtypes_of(const std::vector<std::string>& names) {
    std::vector<DType> dtypes;
    for (const std::string& name : names) {
        const auto dtype = dtype_from_name(name);
        if (!dtype) throw cli::invalid_value(name, "--dtype", "expected a data type such as f32, i64 or bool");
        dtypes.push_back(*dtype);
    }
    return dtypes;
}

/// Of "3", "2-5", "2-" and "-5".
void set_calls(const std::vector<std::string>& words, fuzz::ModelOptions& models) {
    for (const std::string& word : words) {
        const std::size_t dash = word.find('-');
        const std::string least = word.substr(0, dash), most = dash == word.npos ? word : word.substr(dash + 1);
        if (!least.empty()) cli::convert(least, "--calls", models.least);
        if (!most.empty()) cli::convert(most, "--calls", models.most);
    }
    cli::require_range("--calls", static_cast<double>(models.least), 1, 50);
    cli::require_range("--calls", static_cast<double>(models.most), static_cast<double>(models.least), 50);
}

fuzz::Options options_of(const FuzzOptions& options) {
    fuzz::ModelOptions models{.dialect = options.dialect,
                              .special = options.data == "special",
                              .without = options.without,
                              .dtypes = dtypes_of(options.dtypes)};
    set_calls(options.calls, models);
    std::optional<Accuracy> accuracy;
    if (options.data == "exact") accuracy = Accuracy{.mode = Accuracy::Mode::exact};
    return {.models = std::move(models),
            .seed = static_cast<std::uint64_t>(options.seed),
            .count = options.models,
            .time_limit = options.time_limit,
            .suspect = {.spec = options.backend.spec(kDefaultSuspect),
                        .options = options.backend.options(),
                        .accuracy = accuracy,
                        .limits = {.timeout = std::chrono::seconds(options.timeout)},
                        .tier = Tier::computes}};
}

/// A model that fails, and what became of it.
struct Find {
    fs::path model;
    std::string failure;
    std::string not_minimized = {};    ///< why
    fs::path kind = {};                ///< its folder
    bool known = false;                ///< the folder was there
    repro::MinimizedRepro repro = {};  ///< of the first of its kind

    bool verified() const { return repro.report && repro.report->verified; }

    std::string text() const {
        if (!not_minimized.empty()) return model.string() + ": not minimized: " + not_minimized;
        if (known) return model.string() + ": same kind of failure as " + kind.string();
        const std::string verdict = verified() ? "verified" : repro.report ? "NOT verified" : repro.none;
        return model.string() + ": " + kind.string() + ": " + verdict;
    }
    nlohmann::json json() const {
        nlohmann::json all = {{"model", model.string()}, {"failure", failure}};
        if (!not_minimized.empty()) {
            all["not_minimized"] = not_minimized;
            return all;
        }
        all["kind"] = kind.string();
        all["new"] = !known;
        if (!known) all["verified"] = verified();
        return all;
    }
};

/// As `minify MODEL` does it: what it fails with is in the file.
void minimize(Find& find) {
    const TempDir scratch("whittle-fuzz");
    const cli::MinifyOptions asked{{}, find.model, scratch.path() / "min.json"};
    const std::vector<LoadedFrame> frames = cli::frames_of(asked);
    const reduce::Request request = cli::request_of(asked, frames.at(0));
    const reduce::Minimized done = reduce::minimize(frames.at(0), request, reduce::Observer{});
    const std::string report = reduce::to_text(done, request);
    if (!done.failed()) {
        find.not_minimized = repro::last_line(report);
        return;
    }
    const Graph& smallest = done.smallest.graph;
    find.kind = find.model.parent_path() / fuzz::kind_of(smallest);
    find.known = fs::exists(find.kind);
    if (find.known) return;
    const fs::path result = find.kind / "min.json";
    save_graph(smallest, result);
    write_file(find.kind / "minify.txt", replaced(report, request.output.string(), result.string()));
    find.repro = repro::repro_of(smallest, result, find.kind / "repro.cpp", cli::environment());
    write_file(find.kind / "repro.txt", find.repro.report
                                            ? to_text(*find.repro.report, *smallest.failure, find.repro.options)
                                            : find.repro.none + "\n");
}

}  // namespace

void FuzzOptions::declare(cli::Tool& tool) {
    tool.option("-o,--output", output, "DIR",
                "Folder for failing models. Each model is saved as DIR/model_N.json. Each kind of failure gets a "
                "subfolder of DIR. If the subfolder already exists, the failure counts as known. Default: finds.");
    tool.section("Random models");
    tool.option("--models", models, "N", "Number of models. Default: 1000, or no limit if --time-limit is given.");
    tool.option("--time-limit", time_limit, "TIME", "Start no new model after TIME (such as 90s, 10m or 2h).");
    tool.option("--seed", seed, "N",
                "Random seed of the first model. Each further model has the next seed. Default: 0.");
    tool.choice("--dialect", dialect, {"aten", "onnx"}, "Dialect of the ops to use. Default: aten.");
    tool.option("--dtype", dtypes, "D",
                "Use only calls whose main operands have the data type D. If --dtype is repeated, the operands may "
                "have any of the given data types.");
    tool.option("--without", without, "OP", "Do not use the op OP. May be repeated.");
    tool.option("--calls", calls, "MIN-MAX",
                "Number of calls in a model, for example 4 (exactly 4), 2-6 (from 2 to 6), 2- (at least 2) or -6 (at "
                "most 6). Default: 1-8.");
    tool.choice("--data", data, {"random", "special", "exact"},
                "Values of inputs and parameters. random (default): random numbers. special: also NaN, infinities and "
                "other special values. exact: numbers for which no operation rounds; the results are compared without "
                "a tolerance.");
    tool.option("--timeout", timeout, "S", "Time limit for each model, in seconds. Default: 20.");
    backend.declare(tool, kDefaultSuspect);
    tool.common("--backend --output --models --time-limit --dialect");
    tool.example("whittle fuzz --backend ./mine.so --time-limit 10m",
                 "test your own backend with random models for ten minutes");
    tool.example("whittle fuzz --dialect onnx --backend onnxruntime --dtype f32",
                 "test with ONNX models whose ops are all f32");
    tool.exit_one("a model fails");
}

int fuzz(const cli::Tool& tool, const FuzzOptions& options) {
    options.backend.check();
    const fuzz::Options asked = options_of(options);
    const bool lines = !tool.shared().json;
    std::vector<Find> finds;
    cli::Progress progress(tool.called(), asked.last().value_or(0), tool.shared().progress, "models");
    std::optional<std::chrono::steady_clock::time_point> end;
    if (asked.time_limit) end = std::chrono::steady_clock::now() + *asked.time_limit;
    const auto found = [&](std::uint64_t number, const Graph& failing) {
        Find find{options.output / ("model_" + std::to_string(number) + ".json"), failing.failure->text()};
        save_graph(failing, find.model);
        progress.clear();
        if (lines) std::cout << find.model.string() << ": " << find.failure << std::endl;
        finds.push_back(std::move(find));
    };
    const auto show = [&](const fuzz::Counts& so_far) {
        progress.update(so_far.models, plural(so_far.failing, "failure"), end);
    };
    const fuzz::Counts counts = fuzz::fuzz(asked, {.found = found, .progress = show});
    progress.clear();
    if (lines) std::cout << fuzz::to_text(counts) << std::flush;
    nlohmann::json reported = nlohmann::json::array();
    for (Find& find : finds) {
        throw_if_interrupted();
        try {
            minimize(find);
        } catch (const Error& error) {
            find.not_minimized = error.what();
        }
        if (lines) std::cout << find.text() << std::endl;
        reported.push_back(find.json());
    }
    if (!lines) cli::print_json({{"counts", fuzz::to_json(counts)}, {"found", reported}});
    return finds.empty() ? 0 : 1;
}

}  // namespace whittle::umbrella
