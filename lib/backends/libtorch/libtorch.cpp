#include "backends/libtorch/libtorch.h"
#include "backends/libtorch/memory.h"
#include "backends/libtorch/short_program.h"

#include <dlfcn.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "backends/eager/interpreted.h"
#include "backends/libtorch/boxed_call.h"
#include "base/error.h"
#include "base/subprocess.h"
#include "graph/abilities.h"
#include "graph/backend_options.h"
#include "ops/core/registry.h"

namespace whittle {
namespace {

bool has_nested_graph(const Schema& schema) {
    return std::ranges::any_of(schema.params, [](const Param& param) { return param.type == ParamType::graph; });
}

/// The op, or the element type of what it reads or gives.
bool is_unsupported(const Graph& graph, const Node& node) {
    if (node.kind != NodeKind::call) return false;
    bool known = std::ranges::all_of(node.results, [](const ValueMeta& meta) { return aten::has(meta.dtype); });
    for_each_input(node, [&](NodeRef read) {
        for (const ValueMeta& meta : graph.node(read).results) known &= aten::has(meta.dtype);
    });
    if (!known) return true;
    if (node.target == kGetItem || aten::schema_of(node.target)) return false;
    const RegisteredOp* op = Registry::instance().op(node.target);
    return !op || (!op->def->decompose && !has_nested_graph(op->schema));
}

void add_unsupported(const Graph& graph, std::vector<std::string>& targets) {
    for (const Node& node : graph.nodes)
        if (is_unsupported(graph, node) && std::ranges::find(targets, node.target) == targets.end())
            targets.push_back(node.target);
    for (const auto& [name, nested] : graph.subgraphs) add_unsupported(*nested, targets);
}

class LibTorchInterpreter final : public NamingInterpreter {
  protected:
    std::vector<Tensor> step(const Graph& graph, const Node& call, const RegisteredOp& op,
                             const Arguments<Tensor>& arguments) override {
        at_work(call);
        if (aten::schema_of(call.target)) return boxed(call, [&](NodeRef operand) { return arguments.value(operand); });
        if (has_nested_graph(op.schema)) return Interpreter::step(graph, call, op, arguments);
        if (!op.def->decompose) throw Error("LibTorch has no op '" + call.target + "'");
        const Expansion expansion = expand(graph, call);
        std::vector<Tensor> inputs;
        for (const NodeRef operand : expansion.operands) inputs.push_back(arguments.value(operand));
        return run(expansion.graph, inputs);
    }

    std::vector<Tensor> unknown(const Graph&, const Node& call, const std::function<Tensor(NodeRef)>& value) override {
        at_work(call);
        return boxed(call, value);
    }

  private:
    static std::vector<Tensor> boxed(const Node& call, const aten::Operands& value) {
        std::vector<Tensor> results;
        for (std::optional<Tensor>& result : aten::call_boxed(call, value)) {
            // A gradient that nobody asked for is undefined there, zeros here.
            const ValueMeta meta = results.size() < call.results.size() ? call.results[results.size()] : ValueMeta();
            results.push_back(result ? std::move(*result) : Tensor(meta.dtype, meta.sizes));
        }
        return results;
    }
};

class LibTorchBackend final : public Backend, public Support, public Optioned, public Emitter {
  public:
    std::string name() const override { return "libtorch"; }
    CompileStage consumes() const override { return CompileStage::captured; }  // it writes as LibTorch does
    std::string description() const override { return "LibTorch, op by op: a reference that is not ours"; }

    CompileResult compile(const Graph& graph, const BackendOptions& options) override {
        for (const std::string& file : libraries(options)) load(file);
        if (const std::vector<std::string> missing = unsupported(graph); !missing.empty())
            return BackendFailure{"compile", missing[0], "LibTorch has no op '" + missing[0] + "'", true};
        return interpreted(graph, [] { return std::make_unique<LibTorchInterpreter>(); });
    }

    SuspectCode emit(const EmitRequest&) override {
        throw Error("no harness calls LibTorch", "leave --harness out; or hand on `repro --python`");
    }
    std::optional<ShortProgram> short_program(const ShortRequest& request, std::string& why_not) override {
        return libtorch_program(request, why_not);
    }
    bool is_pytorch() const override { return true; }

    std::vector<std::string> unsupported(const Graph& graph) const override {
        std::vector<std::string> targets;
        add_unsupported(graph, targets);
        return targets;
    }

    std::vector<std::string> option_names(const BackendOptions&) override { return {std::string(kLibrary)}; }
    /// The libraries are opened in a copy of this process: their constructors may do anything.
    void check(const BackendOptions& options) override {
        for (const std::string& file : libraries(options)) {
            const ForkedAnswer asked = ask_forked(
                [&] {
                    try {
                        load(file);
                        return std::string();
                    } catch (const Error& error) {
                        return std::string(error.what());
                    }
                },
                {.timeout = std::chrono::seconds(30)});
            const std::string& refused = asked.process.good() ? asked.answer : ending_of(asked.process);
            if (!refused.empty())
                throw wrong_option(std::string(kLibrary), file, "shared libraries, between ':': " + refused);
        }
    }

  private:
    static constexpr std::string_view kLibrary = "library";

    /// Files between ':'.
    static std::vector<std::string> libraries(const BackendOptions& options) {
        const auto given = options.find(std::string(kLibrary));
        std::istringstream rest(given == options.end() ? std::string() : given->second);
        std::vector<std::string> files;
        for (std::string file; std::getline(rest, file, ':');)
            if (!file.empty()) files.push_back(file);
        return files;
    }

    /// What it registers with TORCH_LIBRARY is there from then on.
    static void load(const std::string& file) {
        if (!::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) throw Error(std::string(::dlerror()));
    }
};

}  // namespace

std::unique_ptr<Backend> make_libtorch_backend() { return std::make_unique<LibTorchBackend>(); }

}  // namespace whittle

extern "C" whittle::Backend* whittle_make_libtorch_backend() { return whittle::make_libtorch_backend().release(); }
