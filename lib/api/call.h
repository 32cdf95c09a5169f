// One operation that a program issues: its arguments, then its results. What the functions of functions/ are made of.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "api/impl.h"

namespace whittle::api {

/// An argument that goes by name.
template <class T>
struct Keyword {
    const char* name;
    const T& value;
};
template <class T>
Keyword<T> keyword(const char* name, const T& value) {
    return {name, value};
}

class Call {
  public:
    /// `target` names a registered op ("aten.relu.default") and has static lifetime; `pc` is the return address in the
    /// user's code.
    Call(const char* target, void* pc) : pc_(pc) {
        node_.target = target;
        node_.args.reserve(4);
        operands_.reserve(2);
    }

    void add(const Tensor& value) { push(reference(value)); }
    void add(const OptionalTensor& value) { push(value ? reference(*value) : Arg()); }
    void add(const TensorList& values);
    void add(const std::vector<OptionalTensor>& values);
    void add(std::int64_t value) { push(Arg(value)); }
    void add(double value) { push(Arg(value)); }
    void add(bool value) { push(Arg(value)); }
    void add(const Scalar& value);
    void add(const std::string& value) { push(Arg(value)); }
    void add(ScalarType value) { push(Arg(to_internal(value))); }
    void add(const IntList& value);
    void add(const FloatList& value);
    void add(const std::vector<bool>& values);
    template <class T>
    void add(const std::optional<T>& value) {
        if (value)
            add(*value);
        else
            push(Arg());
    }
    template <class T>
    void add(const Keyword<T>& named) {
        keyword_ = named.name;
        add(named.value);
        keyword_ = nullptr;
    }

    // Issues the call. Throws Error for arguments that do not fit.
    Tensor one();
    /// An in-place op, "aten.add_.Tensor": writes into `self`, which is the first argument.
    void in_place(const Tensor& self);
    TensorList list();
    template <std::size_t n>
    auto tuple() {
        const TensorList results = list();
        return tuple_of(results, std::make_index_sequence<n>());
    }

  private:
    template <std::size_t... i>
    static auto tuple_of(const TensorList& results, std::index_sequence<i...>) {
        return std::make_tuple(results.at(i)...);
    }
    Arg reference(const Tensor& tensor);
    void push(Arg arg);
    void check(const Schema& schema);
    /// Numbers that a graph computes become operands where the op takes a tensor for them, and gives the same kinds of
    /// results; elsewhere they are demanded. `in_place`: results have the kind of what is written.
    void take_symbols(bool in_place);
    whittle::Scalar demanded(const Scalar& symbol) const;
    bool take_symbol(std::size_t position, const Scalar& number, bool in_place);

    Node node_;                                            ///< NodeRefs in it are positions in operands_
    std::vector<std::pair<std::size_t, Scalar>> symbols_;  ///< by argument, which holds another number for now
    std::vector<ImplPtr> operands_;
    const char* keyword_ = nullptr;
    void* pc_;
};

/// Runs or records a call whose NodeRefs are positions in `operands`; `pc`: where the user issued it.
TensorList issue(Node call, const std::vector<ImplPtr>& operands, void* pc);

/// The same of an in-place call, which writes into its first operand; `functional` computes what is written.
void issue_write(Node call, const std::string& functional, const std::vector<ImplPtr>& operands, void* pc);

using IssueCall = std::function<TensorList(Node call, const std::vector<ImplPtr>& operands)>;
/// Issues the calls of a graph, whose placeholders are `inputs`, one by one; returns its outputs.
TensorList issue_calls(const Graph& graph, const std::vector<ImplPtr>& inputs, const IssueCall& one);

/// A graph that holds nothing but the call, which reads a placeholder per operand and whose results are its outputs.
/// Throws Error for operands that do not fit.
Graph graph_of_call(const Node& call, const std::vector<ImplPtr>& operands);

/// Whether results require a gradient, of an op that has some.
bool wants_gradient(const std::vector<ImplPtr>& operands);

/// Runs a call now, on the reference kernels; its NodeRefs are positions in `operands`, which have values.
std::vector<whittle::Tensor> run_now(const Node& call, const std::vector<ImplPtr>& operands);

/// The op of these arguments, with its results as an R: a Tensor, a TensorList or a tuple of Tensors. `target` and `pc`
/// as for Call.
template <class R, class... Args>
R call(const char* target, void* pc, const Args&... args) {
    Call issued(target, pc);
    (issued.add(args), ...);
    if constexpr (std::is_same_v<R, Tensor>)
        return issued.one();
    else if constexpr (std::is_same_v<R, TensorList>)
        return issued.list();
    else
        return issued.template tuple<std::tuple_size_v<R>>();
}

/// An in-place op, which returns the tensor that it writes.
template <class... Args>
Tensor call_in_place(const char* target, void* pc, const Tensor& self, const Args&... args) {
    Call issued(target, pc);
    issued.add(self);
    (issued.add(args), ...);
    issued.in_place(self);
    return self;
}

}  // namespace whittle::api
