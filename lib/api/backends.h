// register_backend(): a function of the program as a backend, beside those that explain list backends shows. It is
// given each graph that capture found, and says what is to run instead of it:
//
//   // fails if the graph contains relu
//   whittle::BackendAnswer toy_compiler(const whittle::BackendGraph& graph) {
//       for (const whittle::BackendNode& node : graph.nodes)
//           if (node.target == "aten.relu.default") throw std::runtime_error("no relu");
//       return graph;
//   }
//   auto fast = whittle::compile(f, {.backend = toy_compiler});
//
// or, to be found by name, also in $WHITTLE_BACKEND: whittle::register_backend("toy_compiler", toy_compiler).
#ifndef WHITTLE_API_BACKENDS_H
#define WHITTLE_API_BACKENDS_H

#include <whittle/api/tensor.h>

#include <functional>
#include <memory>
#include <string>

WHITTLE_API_BEGIN

/// A value that a graph is given.
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

/// A graph that is to be compiled, without writes to memory; parameters are inputs. Calling it interprets it.
struct BackendGraph {
    std::string name = {};
    std::string text = {};  ///< as explain and minify print it
    std::vector<BackendNode> nodes = {};
    std::vector<BackendInput> inputs = {};

    TensorList operator()(const TensorList& inputs) const { return run(inputs); }

    std::function<TensorList(const TensorList&)> run = {};
};

/// What a graph is compiled to: a callable, which is given the inputs in their order and returns the outputs; another
/// graph with the same inputs and outputs, as text; or nothing: the graph runs eagerly.
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

/// It and its callable leave grad mode and default dtype as they were; what it draws while it compiles is not missing
/// from what the program draws. What it throws is the backend's failure: a BackendError, with the original nested in it
/// (std::rethrow_if_nested).
using BackendFunction = std::function<BackendAnswer(const BackendGraph&)>;

/// Makes it a backend of this process, under a name that no other has; one that was registered is replaced. Other
/// processes do not know it: the programs of Whittle cannot run it. Throws std::exception for a name that is taken.
void register_backend(const std::string& name, BackendFunction function);

namespace detail {

/// Registers the function, under the name of what is at the address; of a lambda there is none. Returns the name.
std::string backend_of(BackendFunction function, const void* address);

}  // namespace detail

/// What CompileOptions.backend takes: a name, or a function.
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
