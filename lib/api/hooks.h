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

/// One compilation that succeeded. Graphs are text, as `explain` and `minify` print them.
struct CompiledGraphInfo {
    static constexpr int kVersion = 2;  ///< of this struct: it grows when members are added
    std::uint64_t compile_id = 0;       ///< of this compilation: they are numbered as they succeed, from 1
    std::string function = {};          ///< whose graph it is
    std::string name = {};              ///< "step_0"
    std::string backend = {};           ///< that compiled it
    std::string captured = {};          ///< as it was recorded
    std::string functional = {};        ///< as the backend got it: without writes, parameters as inputs
    /// Where gradients are wanted: all of them in one graph, and what the backend got of it.
    std::string joint = {}, forward = {}, backward = {};
    std::vector<std::string> guards = {};  ///< of the specialization, in the order of their checks
    double seconds = 0;                    ///< that the backend took
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

WHITTLE_API_END

#endif
