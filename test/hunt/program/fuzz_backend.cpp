// Random models on a backend, against the reference: what differs is written down for minify and repro.
// scripts/fuzz-backend runs it and then those two.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iostream>

#include "backends/registry.h"
#include "base/error.h"
#include "base/files.h"
#include "base/words.h"
#include "cli/backend_choice.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "graph/json.h"
#include "graph/releases.h"
#include "hunt/left_open.h"
#include "hunt/random_model.h"
#include "hunt/standard.h"
#include "judge/suspect.h"
#include "ops/core/interpreter.h"
#include "passes/widen.h"

namespace {

using namespace whittle;
namespace fs = std::filesystem;

struct Options {
    cli::BackendChoice backend;
    std::string dialect = "aten";
    std::int64_t models = 1000, seed = 0, least = 1, most = 8, timeout = 20;
    std::optional<std::int64_t> seconds = {};
    std::vector<std::string> without = {}, dtypes = {};
    bool special = false;
    fs::path output = "finds";
};

struct Counts {
    std::size_t models = 0, right = 0, unsupported = 0, refused = 0, unstable = 0, outside = 0, open = 0, found = 0;
};

std::vector<DType> dtypes_of(const std::vector<std::string>& names) {
    std::vector<DType> dtypes;
    for (const std::string& name : names) {
        const auto dtype = dtype_from_name(name);
        if (!dtype) throw Error("invalid value '" + name + "' for --dtype: expected a dtype as f32, i64 or bool");
        dtypes.push_back(*dtype);
    }
    return dtypes;
}

bool finite(const std::vector<Tensor>& tensors) {
    return std::ranges::all_of(tensors, [](const Tensor& tensor) {
        if (!is_floating(tensor.dtype())) return true;
        return std::ranges::all_of(tensor.values<double>(), [](double v) { return std::isfinite(v); });
    });
}

/// Whether rounding alone changes what the model gives: its values in f64 are others than the reference's.
bool is_unstable(const hunt::Model& model, const std::vector<Tensor>& expected) {
    const auto exact = evaluate_exactly(model.graph, model.inputs);
    if (!exact) return false;
    for (std::size_t i = 0; i < expected.size(); i++) {
        if ((*exact)[i].sizes() != expected[i].sizes()) return true;
        if (compare((*exact)[i].to(expected[i].dtype()), expected[i], default_tolerance(expected[i].dtype())))
            return true;
    }
    return false;
}

class Hunt {
  public:
    explicit Hunt(const Options& options)
        : options_(options),
          models_({options.dialect, options.least, options.most, options.special, options.without,
                   dtypes_of(options.dtypes)}),
          backend_(find_backend(options.backend.spec("halide"), options.backend.options())),
          suspect_{.spec = options.backend.spec("halide"),
                   .options = options.backend.options(),
                   .limits = {.timeout = std::chrono::seconds(options.timeout)},
                   .tier = Tier::computes} {}

    void run() {
        const auto start = std::chrono::steady_clock::now();
        for (std::int64_t i = 0; i < options_.models; i++) {
            const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - start;
            if (options_.seconds && gone.count() >= static_cast<double>(*options_.seconds)) break;
            one(static_cast<std::uint64_t>(options_.seed + i));
        }
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
        std::cout << "models " << counts_.models << ": " << counts_.right << " right, " << counts_.unsupported
                  << " unsupported, " << counts_.refused << " that the reference refuses, " << counts_.unstable
                  << " where rounding decides, " << counts_.outside << " of which the standard says nothing, "
                  << counts_.open << " where nobody says what is right, " << counts_.found << " found; "
                  << models_.ops() << " ops, " << models_.pairs() << " pairs, "
                  << static_cast<int>(static_cast<double>(counts_.models) / std::max(seconds.count(), 1e-3))
                  << " models a second\n";
    }
    bool found() const { return counts_.found > 0; }

  private:
    void one(std::uint64_t seed) {
        const hunt::Model model = models_.model(seed);
        if (model.graph.calls().empty()) return;
        counts_.models++;
        if (!hunt::outside_standard(model.graph).empty()) {
            counts_.outside++;
            return;
        }
        std::vector<Tensor> expected;
        try {
            expected = evaluate(model.graph, model.inputs);
        } catch (const Error&) {
            counts_.refused++;
            return;
        }
        if (!options_.special && !finite(expected)) {
            counts_.refused++;
            return;
        }
        const Outcome outcome = query(model.graph, model.inputs, expected, *backend_, suspect_);
        if (!outcome.failed()) {
            counts_.right++;
        } else if (!outcome.is_failure()) {
            counts_.unsupported++;
        } else if (outcome.kind == Outcome::Kind::mismatch && is_unstable(model, expected)) {
            counts_.unstable++;
        } else if (shares_lowerings() || hunt::left_open(model.graph, model.inputs).empty()) {
            write(seed, model, outcome);
        } else {
            settled(seed, hunt::without_open(model));
        }
    }

    /// What is left of a failing model when nobody can say anything against what is expected of it.
    void settled(std::uint64_t seed, const hunt::Model& model) {
        if (!model.graph.calls().empty()) {
            const std::vector<Tensor> expected = evaluate(model.graph, model.inputs);
            const Outcome outcome = query(model.graph, model.inputs, expected, *backend_, suspect_);
            if (outcome.is_failure() && !(outcome.kind == Outcome::Kind::mismatch && is_unstable(model, expected)))
                return write(seed, model, outcome);
        }
        counts_.open++;
    }
    /// Of a backend that compiles our lowerings, these say what is right.
    bool shares_lowerings() const { return backend_->consumes() == CompileStage::plan; }

    void write(std::uint64_t seed, const hunt::Model& model, const Outcome& outcome) {
        counts_.found++;
        Graph graph = model.graph;
        Failure failure;
        describe(suspect_, failure);
        failure.version = version_of(*backend_, suspect_.options);
        failure.signature = signature_of(outcome);
        failure.message = outcome.message;
        failure.inputs = model.inputs;
        graph.failure = std::move(failure);
        fs::create_directories(options_.output);
        const fs::path file = options_.output / ("model_" + std::to_string(seed) + ".json");
        save_graph(graph, file);
        std::cout << file.string() << ": " << graph.failure->signature.text() << "\n" << std::flush;
    }

    const Options& options_;
    hunt::RandomModels models_;
    const std::unique_ptr<Backend> backend_;
    const Suspect suspect_;
    Counts counts_;
};

}  // namespace

int main(int argc, char** argv) {
    Options options;
    cli::Tool tool("fuzz_backend", "",
                   "Runs random models on a backend and writes down where it differs from the reference.");
    options.backend.declare(tool, "halide");
    tool.choice("--dialect", options.dialect, {"aten", "onnx"}, "The ops. Default: aten.");
    tool.option("--models", options.models, "N", "How many. Default: 1000.");
    tool.option("--seconds", options.seconds, "S", "No new model after so many seconds.");
    tool.option("--seed", options.seed, "N", "The first model's number; the others follow. Default: 0.");
    tool.option("--least", options.least, "N", "Calls of a model at least. Default: 1.");
    tool.option("--most", options.most, "N", "Calls of a model at most. Default: 8.");
    tool.option("--timeout", options.timeout, "S", "Seconds that one model may take. Default: 20.");
    tool.option("--without", options.without, "OP", "An op that is not to occur. May be repeated.");
    tool.option("--dtype", options.dtypes, "D", "Calls on this dtype only. May be repeated.");
    tool.flag("--special", options.special, "NaN, infinities and the like among the data.");
    tool.option("-o,--output", options.output, "DIR", "Where finds are written. Default: finds.");
    tool.exit_one("something was found.");
    return cli::run_tool(tool, argc, argv, [&] {
        cli::require_range("--least", static_cast<double>(options.least), 1, 50);
        cli::require_range("--most", static_cast<double>(options.most), static_cast<double>(options.least), 50);
        options.backend.check();
        Hunt hunt(options);
        hunt.run();
        return hunt.found() ? 1 : 0;
    });
}
