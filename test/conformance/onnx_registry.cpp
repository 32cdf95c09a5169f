// Every ONNX op of the registry, on every sample of every dtype, on a worker around another runtime: what it computes
// is what eager computes. Entry point of the test conformance/onnxruntime-*.
//   onnx_registry FOLDER KNOWN [--only TEXT] [--shard I --shards N]
// FOLDER: of the backend (share/doc/reference/backends.md, A worker by name). KNOWN: where the two differ, lines as in
// test/known-failing/libtorch.txt. A sample that the standard says nothing of is not asked, and what the runtime has no
// kernel for is counted. Exit 77: it is not installed.
#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <map>

#include "backends/described.h"
#include "backends/libtorch/agreement.h"
#include "backends/registry.h"
#include "base/error.h"
#include "frontends/onnx/unspecified.h"
#include "judge/suspect.h"
#include "ops/core/interpreter.h"
#include "ops/samples/table.h"

namespace {

using namespace whittle;
using test::Aspect;
using test::Case;
using test::Disagreement;

struct Counts {
    int agree = 0, differ = 0, no_kernel = 0, unsaid = 0;
};

class Walk {
  public:
    Walk(const std::string& backend, const std::string& known)
        : backend_(find_backend(BackendSpec(backend))),
          suspect_{
              .spec = BackendSpec(backend), .limits = {.timeout = std::chrono::seconds(60)}, .tier = Tier::computes},
          exceptions_(known, {"none", ""}) {}

    void op(const RegisteredOp& op) {
        Counts counts;
        for (const DType dtype : kAllDTypes) {
            if (!(op.def->dtypes & set_of(dtype))) continue;
            for (const Sample& sample : samples_of(op, dtype)) one(op, {op.name, dtype, sample.label}, sample, counts);
        }
        for (const std::string& line : exceptions_.unused(op.name)) surprise(line + ": no case is like that");
        std::cout << op.name << ": " << counts.agree << " agree, " << counts.differ << " differ as is known, "
                  << counts.no_kernel << " without a kernel, " << counts.unsaid << " that the standard does not say"
                  << std::endl;
        total_.agree += counts.agree, total_.differ += counts.differ, total_.no_kernel += counts.no_kernel;
        total_.unsaid += counts.unsaid;
        checked_ += counts.agree > 0;
        ++ops_;
    }

    int finish() const {
        std::cout << ops_ << " ops, of which " << checked_ << " are checked: " << total_.agree << " samples agree, "
                  << total_.differ << " differ as is known, " << total_.no_kernel << " have no kernel there, "
                  << total_.unsaid << " the standard does not say; " << surprises_ << " surprises\n";
        return surprises_ || total_.agree == 0 ? 1 : 0;
    }

  private:
    void one(const RegisteredOp& op, const Case& tried, const Sample& sample, Counts& counts) {
        const Graph graph = graph_of(op, sample);
        if (!outside_standard(graph).empty()) {
            ++counts.unsaid;
            return;
        }
        const std::vector<Tensor> inputs = sample.inputs();
        const Outcome outcome = query(graph, inputs, evaluate(graph, inputs), *backend_, suspect_);
        if (outcome.kind == Outcome::Kind::unsupported) {
            ++counts.no_kernel;
            return;
        }
        std::vector<Disagreement> found;
        if (outcome.kind == Outcome::Kind::mismatch)
            found.push_back({Aspect::values, outcome.message});
        else if (outcome.failed())
            found.push_back({Aspect::refused, std::string(name(outcome.kind)) + ": " + outcome.message});
        ++(found.empty() ? counts.agree : counts.differ);
        for (const std::string& problem : exceptions_.judge(tried, found))
            surprise(std::string(op.name) + " " + std::string(name(tried.dtype)) + " '" + sample.label + "' " +
                     problem);
    }
    void surprise(const std::string& what) {
        std::cout << what << std::endl;
        ++surprises_;
    }

    const std::unique_ptr<Backend> backend_;
    const Suspect suspect_;
    test::Exceptions exceptions_;
    Counts total_;
    int ops_ = 0, checked_ = 0, surprises_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    std::string folder, known, only;
    std::size_t shard = 0, shards = 1;
    CLI::App app("Runs the samples of ONNX's ops on another runtime.");
    app.add_option("FOLDER", folder, "the backend")->required();
    app.add_option("KNOWN", known, "where the two differ")->required();
    app.add_option("--only", only, "ops whose name contains this");
    app.add_option("--shard", shard, "which part, from 0");
    app.add_option("--shards", shards, "how many parts")->check(CLI::PositiveNumber);
    CLI11_PARSE(app, argc, argv);
    try {
        const DescribedBackend described = read_described_backend(folder);
        if (!described.missing.empty()) {
            std::cout << "skipped: " << described.name << " is not installed; " << described.install << "\n";
            return 77;
        }
        Walk walk(described.name, known);
        std::size_t i = 0;
        for (const RegisteredOp& op : Registry::instance().all()) {
            if (op.of_torch() || op.def->random) continue;
            if (i++ % shards == shard && op.name.find(only) != std::string_view::npos) walk.op(op);
        }
        return walk.finish();
    } catch (const Error& error) {
        std::cerr << "onnx_registry: error: " << error.what() << "\n";
        return 2;
    }
}
