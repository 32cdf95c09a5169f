// Hooks for tools that inspect compile() inside the program: the graphs of each compilation, the entries of a
// function's cache, and scopes in which all of it is written to files.
//
//   const whittle::OnCompile hook([](const whittle::CompiledGraphInfo& graph) { std::cerr << graph.captured; });
//   const whittle::PrepareDebug scope("debug");  // as `trace -o debug`, for the rest of the scope, on this thread
//   for (const whittle::CacheEntry& entry : whittle::cache_entries(fast)) …
#ifndef WHITTLE_API_HOOKS_H
#define WHITTLE_API_HOOKS_H

#include <whittle/api/compile.h>

WHITTLE_API_BEGIN

/// A graph at a stage of a compilation. The version of this and the following structs grows when members are added.
struct StageGraph {
    static constexpr int kVersion = 1;
    /// "captured", "functional"; if gradients are needed "joint", "forward" and "backward"; then, as far as the backend
    /// uses Whittle's passes, "functional", "decomposed", "folded", "core" and "plan" of each part.
    std::string stage = {};
    std::string part = {};  ///< "forward" or "backward"; "" of a graph that was not split
    std::string text = {};  ///< as `explain` and `minify` print it
    std::string json =
        {};  ///< as a file of the format whittle.graph, whose version it says; without elements of tensors
};

/// A kernel of a backend that compiles plans.
struct KernelInfo {
    static constexpr int kVersion = 1;
    std::string part = {};  ///< as StageGraph::part
    std::string name = {};
    std::vector<std::string> calls = {};  ///< those of the part's graph "plan" that it computes
    std::string expressions = {};         ///< what it computes, before scheduling
    std::vector<std::string> schedule = {};
    std::string source = {};  ///< the input of the compiler; for halide C++
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

/// A successful compilation. Graphs are text, as `explain` and `minify` print them.
struct CompiledGraphInfo {
    static constexpr int kVersion = 4;
    std::uint64_t compile_id = 0;  ///< successful compilations are numbered from 1
    std::string function = {};     ///< the compiled function
    std::string name = {};         ///< "step_0"
    std::string backend = {};      ///< the backend that compiled it
    std::string captured = {};     ///< the graph as it was recorded
    std::string functional = {};   ///< the graph that the backend got: without writes, parameters as inputs
    /// If gradients are needed: the joint graph, and the two parts that the backend got.
    std::string joint = {}, forward = {}, backward = {};
    std::vector<std::string> guards = {};  ///< of the specialization, in the order of their checks
    double seconds = 0;                    ///< compile time of the backend
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

/// While it lives, the hook is called for each graph that any function of the program compiles, on the thread that
/// compiled it, before the graph runs. Exceptions of the hook leave the compiled function. The hook must not create or
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
    std::int64_t graphs = 0;                ///< graphs that a call runs
    std::int64_t hits = 0;                  ///< calls that it fitted, besides the one that created it
};
/// Returns the specializations, in the order in which a call checks them.
std::vector<CacheEntry> cache_entries(FunctionState& function);
template <class F>
std::vector<CacheEntry> cache_entries(const Compiled<F>& function) {
    return cache_entries(function.state());
}

/// While it lives, it traces the compiled functions on this thread into the folder, as `trace` does: graphs, records,
/// index.json, and at its end full_code.cpp of each function. The trace of an earlier run of the program is replaced.
/// Throws std::exception for a folder that holds another trace, or that cannot be written.
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

/// While it lives, a debugger can step through the graphs of the process's compiled functions. Each graph that a
/// backend interprets is written as C++ into a new folder FOLDER/run_N, built without optimization, loaded, and called
/// in place of the interpreter; so is the C code of each Halide kernel. The folder also has all parts of the debug
/// folder (share/doc/reference/logs.md). A graph or kernel that cannot be built causes a warning and runs as usual.
/// Functions that were compiled before the scope are recompiled in it, and use their earlier graphs again after it.
/// `$WHITTLE_DEBUG_DIR` with `$WHITTLE_DEBUG_PARTS=+step` does the same for an unchanged program. Throws std::exception
/// for a folder that cannot be written.
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
