// register_backend(): makes a function of the program a backend, besides those of `explain list backends`. The function
// gets each captured graph and returns what runs in place of it:
//
//   // fails if the graph contains relu
//   whittle::BackendAnswer toy_compiler(const whittle::BackendGraph& graph) {
//       for (const whittle::BackendNode& node : graph.nodes)
//           if (node.target == "aten.relu.default") throw std::runtime_error("no relu");
//       return graph;
//   }
//   auto fast = whittle::compile(f, {.backend = toy_compiler});
//
// To use it by name, also in $WHITTLE_BACKEND: whittle::register_backend("toy_compiler", toy_compiler).
#ifndef WHITTLE_API_BACKENDS_H
#define WHITTLE_API_BACKENDS_H

#include <whittle/api/tensor.h>

#include <functional>
#include <memory>
#include <string>

WHITTLE_API_BEGIN

/// An input of a graph.
struct BackendInput {
    std::string name = {};
    ScalarType dtype = kFloat32;
    std::vector<std::int64_t> sizes = {};
};

struct BackendNode {
    std::string kind = {};    ///< "placeholder", "get_attr", "call" or "output"
    std::string name = {};    ///< of its value
    std::string target = {};  ///< of a call, its op: "aten.relu.default"
};

/// A graph to compile: it has no writes to memory, and parameters are inputs. Calling it interprets it.
struct BackendGraph {
    std::string name = {};
    std::string text = {};  ///< as explain and minify print it
    std::vector<BackendNode> nodes = {};
    std::vector<BackendInput> inputs = {};

    TensorList operator()(const TensorList& inputs) const { return run(inputs); }

    std::function<TensorList(const TensorList&)> run = {};
};

/// What a graph is compiled to: a callable that takes the inputs in order and returns the outputs; another graph with
/// the same inputs and outputs, as text; or nothing, so that the graph runs eagerly.
class BackendAnswer {
  public:
    BackendAnswer() = default;
    template <class F, class = std::enable_if_t<std::is_invocable_r_v<TensorList, F&, const TensorList&>>>
    BackendAnswer(F callable) : callable_(std::move(callable)) {}
    static BackendAnswer rewritten(std::string text) {
        BackendAnswer answer;
        answer.text_ = std::move(text);
        return answer;
    }
    const std::function<TensorList(const TensorList&)>& callable() const { return callable_; }
    const std::string& text() const { return text_; }

  private:
    std::function<TensorList(const TensorList&)> callable_ = {};
    std::string text_ = {};
};

/// Grad mode and default dtype are restored after a call of it or of its callable. Random numbers that it draws during
/// compilation do not change those of the program. An exception is a failure of the backend: a BackendError, with the
/// original nested in it (std::rethrow_if_nested).
using BackendFunction = std::function<BackendAnswer(const BackendGraph&)>;

/// Registers the function as a backend of this process, under a name that no built-in backend has; an earlier function
/// of that name is replaced. Other processes, and so Whittle's programs, cannot run it. Throws std::exception for a
/// name that is taken.
void register_backend(const std::string& name, BackendFunction function);

namespace detail {

/// Registers the function under the name of the symbol at the address (none for a lambda). Returns the name.
std::string backend_of(BackendFunction function, const void* address);

}  // namespace detail

/// The type of CompileOptions.backend: a name, or a function.
class BackendName : public std::string {
  public:
    using std::string::string;
    BackendName(std::string name) : std::string(std::move(name)) {}
    template <class F, class = std::enable_if_t<std::is_invocable_r_v<BackendAnswer, F&, const BackendGraph&>>>
    BackendName(F function) : BackendName(named(std::move(function))) {}

  private:
    template <class F>
    static std::string named(F function) {
        const void* address = nullptr;
        if constexpr (std::is_pointer_v<F>) address = reinterpret_cast<const void*>(function);
        return detail::backend_of(std::move(function), address);
    }
};

WHITTLE_API_END

#endif
