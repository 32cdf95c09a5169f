// Arguments<T>: a call's arguments bound to its schema's parameter names. T stands for a tensor: ValueMeta in infer,
// Tensor in eval, V in decompose, expr::Value in lower; so the four functions of an op read their arguments
// alike.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "graph/schema.h"

namespace whittle {

template <class T>
class Arguments {
  public:
    using Resolve = std::function<T(NodeRef)>;
    using RunGraph = std::function<std::vector<T>(const std::string& graph, const std::vector<T>& inputs)>;

    /// Binds (see bind_arguments) and resolves. `run_graph` runs a nested graph, where there is something to run it.
    /// `graph` is the graph of the call, where known() and nested() look.
    Arguments(const Schema& schema, const Node& call, const Resolve& resolve, RunGraph run_graph = {},
              const Graph* graph = nullptr);
    /// The same with arguments that are bound already; they outlive this.
    Arguments(const Schema& schema, const ArgList* bound, const Resolve& resolve, RunGraph run_graph = {},
              const Graph* graph = nullptr);

    const Schema& schema() const { return *schema_; }
    /// One argument for each parameter of the schema, in order.
    const ArgList& bound() const { return lent_ ? *lent_ : bound_; }

    /// The value of any operand of the call.
    T value(NodeRef operand) const { return resolve_(operand); }

    // By parameter name; asking for an unknown name or a wrong kind is a bug. A missing optional is nullopt.
    T tensor(std::string_view name) const;
    std::optional<T> optional_tensor(std::string_view name) const { return if_given(name, &Arguments::tensor); }
    std::vector<T> tensors(std::string_view name) const;
    std::vector<std::optional<T>> optional_tensors(std::string_view name) const;
    /// A Tensor parameter that may have been given as a number.
    std::variant<T, Scalar> operand(std::string_view name) const;
    std::int64_t integer(std::string_view name) const;
    std::optional<std::int64_t> optional_integer(std::string_view name) const {
        return if_given(name, &Arguments::integer);
    }
    std::vector<std::int64_t> integers(std::string_view name) const;  ///< empty when none
    std::optional<std::vector<std::int64_t>> optional_integers(std::string_view name) const {
        return if_given(name, &Arguments::integers);
    }
    double number(std::string_view name) const;
    std::optional<double> optional_number(std::string_view name) const { return if_given(name, &Arguments::number); }
    std::vector<double> numbers(std::string_view name) const;
    bool boolean(std::string_view name) const;
    std::vector<bool> booleans(std::string_view name) const;
    Scalar scalar(std::string_view name) const;
    std::optional<Scalar> optional_scalar(std::string_view name) const { return if_given(name, &Arguments::scalar); }
    std::string text(std::string_view name) const;
    std::vector<std::string> texts(std::string_view name) const;
    std::optional<DType> dtype(std::string_view name) const;
    bool has(std::string_view name) const;  ///< not none
    std::vector<T> run_graph(std::string_view name, const std::vector<T>& inputs) const;
    /// The nested graph itself.
    const Graph& nested(std::string_view name) const;
    /// The elements of a tensor that is a constant of the graph: for infer, which sees metas only.
    std::optional<Tensor> known(std::string_view name) const;

  private:
    const Arg& arg(std::string_view name) const;
    template <class Value>
    std::optional<Value> if_given(std::string_view name, Value (Arguments::*value)(std::string_view) const) const {
        return has(name) ? std::optional((this->*value)(name)) : std::nullopt;
    }

    const Schema* schema_;
    ArgList bound_;
    const ArgList* lent_ = nullptr;
    Resolve resolve_;
    RunGraph run_graph_;
    const Graph* graph_;
};

template <class T>
void take_arguments(const Arguments<T>& arguments);
/// For functions that need not know what stands for a tensor.
template <class A>
concept AnyArguments = requires(const A& arguments) {
    take_arguments(arguments);
};

}  // namespace whittle
