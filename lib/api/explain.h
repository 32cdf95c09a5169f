// explain(fn, args...): runs the function once and reports its graphs, and where and why they break.
#ifndef WHITTLE_API_EXPLAIN_H
#define WHITTLE_API_EXPLAIN_H

#include <whittle/api/compile.h>

WHITTLE_API_BEGIN

struct Explanation {
    std::int64_t graph_count = 0, graph_break_count = 0, op_count = 0;
    std::vector<std::string> break_reasons = {};               ///< distinct, most frequent first
    std::vector<std::string> graphs = {};                      ///< as text
    std::vector<std::vector<std::string>> ops_per_graph = {};  ///< "aten.relu.default"
    std::vector<std::vector<std::string>> out_guards = {};     ///< per graph, in the order of their checks
    std::string text = {};                                     ///< the report, as the program `explain` prints it
};
std::ostream& operator<<(std::ostream& out, const Explanation& explanation);

/// Collects what compiled functions do on this thread while it lives.
class Explaining {
  public:
    explicit Explaining(std::string name);
    ~Explaining();
    Explaining(const Explaining&) = delete;
    Explaining& operator=(const Explaining&) = delete;
    Explanation result() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Compiles the function with `options`, runs it on these arguments, and drops its result.
template <class F, class... Args>
Explanation explain_with(CompileOptions options, F&& function, Args&&... args) {
    const auto compiled = compile(std::forward<F>(function), std::move(options));
    const Explaining explaining(compiled.stats().name);
    static_cast<void>(compiled(std::forward<Args>(args)...));
    return explaining.result();
}
template <class F, class... Args>
Explanation explain(F&& function, Args&&... args) {
    return explain_with({}, std::forward<F>(function), std::forward<Args>(args)...);
}

WHITTLE_API_END

#endif
