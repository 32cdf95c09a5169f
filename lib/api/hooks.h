// Hooks for tools that look into what compile() does, inside the program: the graphs of each compilation, the entries
// of a function's cache, and scopes in which all of it is written down.
//
//   const whittle::OnCompile hook([](const whittle::CompiledGraphInfo& graph) { std::cerr << graph.captured; });
//   const whittle::PrepareDebug scope("debug");  // as `trace -o debug`, for what follows on this thread
//   for (const whittle::CacheEntry& entry : whittle::cache_entries(fast)) …
#ifndef WHITTLE_API_HOOKS_H
#define WHITTLE_API_HOOKS_H

#include <whittle/api/compile.h>

WHITTLE_API_BEGIN

/// A graph as it was at a stage of a compilation. Versions of this and the following structs grow when members are
/// added.
struct StageGraph {
    static constexpr int kVersion = 1;
    /// "captured", "functional"; where gradients are wanted "joint", "forward" and "backward"; then, as far as the
    /// backend has Whittle take them, "functional", "decomposed", "folded", "core" and "plan", each of a part.
    std::string stage = {};
    std::string part = {};  ///< "forward" or "backward"; "" of what was not cut in two
    std::string text = {};  ///< as `explain` and `minify` print it
    std::string json =
        {};  ///< as a file of the format whittle.graph, whose version it says; without elements of tensors
};

/// A kernel of a backend that compiles plans.
struct KernelInfo {
    static constexpr int kVersion = 1;
    std::string part = {};  ///< as StageGraph::part
    std::string name = {};
    std::vector<std::string> calls = {};  ///< of the part's graph "plan" that it computes
    std::string expressions = {};         ///< what it computes, before it is scheduled
    std::vector<std::string> schedule = {};
    std::string source = {};  ///< the program that the compiler was given; of halide C++
};

/// A condition under which the specialization is used.
struct GuardInfo {
    static constexpr int kVersion = 1;
    std::string kind =
        {};  ///< "tensor_match", "scalar_equal", "global_state", "identity", "length", "relation", "branch"
    std::string source = {};  ///< what it is about: "L['x']"
    std::string text = {};    ///< "L['n'] == 3"
    std::string json = {};  ///< the tree of it, as guards in the index.json of a trace: share/schema/index.schema.json
};

/// One compilation that succeeded. Graphs are text, as `explain` and `minify` print them.
struct CompiledGraphInfo {
    static constexpr int kVersion = 4;
    std::uint64_t compile_id = 0;  ///< of this compilation: they are numbered as they succeed, from 1
    std::string function = {};     ///< whose graph it is
    std::string name = {};         ///< "step_0"
    std::string backend = {};      ///< that compiled it
    std::string captured = {};     ///< as it was recorded
    std::string functional = {};   ///< as the backend got it: without writes, parameters as inputs
    /// Where gradients are wanted: all of them in one graph, and what the backend got of it.
    std::string joint = {}, forward = {}, backward = {};
    std::vector<std::string> guards = {};  ///< of the specialization, in the order of their checks
    double seconds = 0;                    ///< that the backend took
    // Since version 3:
    std::vector<StageGraph> stages = {};     ///< all of the graphs, in the order in which passes make them
    std::vector<KernelInfo> kernels = {};    ///< of the forward part, then of the backward part
    std::vector<GuardInfo> conditions = {};  ///< one for each of `guards`
    // Since version 4:
    std::string id = {};      ///< "0/1": which function, and which specialization of it, as logs and reports have it
    std::int64_t ops = 0;     ///< calls of the captured graph, without getitems
    std::int64_t nodes = 0;   ///< all of its nodes
    std::int64_t inputs = 0;  ///< without parameters

    /// The graph at the stage, or null.
    const StageGraph* graph(const std::string& stage, const std::string& part = {}) const {
        for (const StageGraph& known : stages)
            if (known.stage == stage && known.part == part) return &known;
        return nullptr;
    }
};

/// As long as it lives, the hook is called for each graph that any function of the program compiles, on the thread that
/// compiled it, before the graph runs. What the hook throws leaves the compiled function. The hook must not make or
/// destroy an OnCompile.
class OnCompile {
  public:
    using Hook = std::function<void(const CompiledGraphInfo&)>;
    explicit OnCompile(Hook hook);
    ~OnCompile();
    OnCompile(const OnCompile&) = delete;
    OnCompile& operator=(const OnCompile&) = delete;

  private:
    std::shared_ptr<Hook> hook_;
};

/// A specialization of a compiled function.
struct CacheEntry {
    std::string id = {};                    ///< "0/1", as CompiledGraphInfo::id
    std::vector<std::string> guards = {};   ///< in the order of their checks
    std::vector<std::string> symbols = {};  ///< sizes that may vary: "s0 = L['x'].size(0)"
    std::int64_t graphs = 0;                ///< that a call runs
    std::int64_t hits = 0;                  ///< calls that it fitted, after the one that made it
};
/// In the order in which a call checks them.
std::vector<CacheEntry> cache_entries(FunctionState& function);
template <class F>
std::vector<CacheEntry> cache_entries(const Compiled<F>& function) {
    return cache_entries(function.state());
}

/// As long as it lives, what compiled functions do on this thread is written into the folder as `trace` writes it:
/// graphs, records, index.json, and, when it ends, full_code.cpp of each function. Throws std::exception for a folder
/// that holds another trace, or that cannot be written.
class PrepareDebug {
  public:
    explicit PrepareDebug(const std::string& folder);
    ~PrepareDebug();
    PrepareDebug(const PrepareDebug&) = delete;
    PrepareDebug& operator=(const PrepareDebug&) = delete;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// As long as it lives, a debugger can stop in what the process's compiled functions run: each graph that a backend
/// interprets is written as C++ into a new folder FOLDER/run_N, built without optimization, loaded and called in place
/// of the interpreter; and so is the C of each kernel of halide. Beside them are all parts of the debug folder
/// (logs.md). Where a graph or a kernel cannot be built, a warning says so, and it runs as ever. What was compiled
/// before the scope is compiled anew in it, and runs again behind it. `$WHITTLE_DEBUG_DIR` with
/// `$WHITTLE_DEBUG_PARTS=+step` does the same of a program that is not changed. Throws std::exception for a folder that
/// cannot be written.
///
///   const whittle::Debug scope("debug");   // (gdb) break step_0   or   break FILE:LINE, pending on the library's load
class Debug {
  public:
    explicit Debug(const std::string& folder);
    ~Debug();
    Debug(const Debug&) = delete;
    Debug& operator=(const Debug&) = delete;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

WHITTLE_API_END

#endif
