// Control flow as operations: cond(), while_loop(), map() and scan(), with torch's meaning. Inside compile() their
// functions are recorded as nested graphs of one operation, so a data-dependent branch or loop does not break the
// graph. Tensors that the functions capture become operands of the operation.
//
//   Tensor y = whittle::cond(x.sum() > 0, [](Tensor x) { return x.sin(); }, [](Tensor x) { return x.cos(); }, x);
//   auto [i, v] = whittle::while_loop([&](Tensor i, Tensor) { return i < n; },
//                                     [](Tensor i, Tensor v) { return std::tuple(i + 1, v * 2); }, i0, v0);
//   Tensor rows = whittle::map([](Tensor row, Tensor w) { return row.dot(w); }, matrix, w);
//   auto [last, sums] = whittle::scan([](Tensor sum, Tensor x) { return std::pair(sum + x, sum + x); }, zero, xs);
//
// Operands and results are tensors, or std::vector, array, tuple and pair of such values. Results are contiguous and
// share no memory with anything else.
//
// The functions must only compute: during recording each of them runs once, on tensors without values, whichever branch
// the data will take. A function cannot be recorded if it reads a value, prints, draws random numbers, writes to a
// captured tensor, or keeps a tensor anywhere but in its result. Its recording is then discarded, the graph breaks at
// the operation, and the program's own code runs. Changes of the program's variables are neither seen nor undone: a
// function must not assign captured variables, nor fill containers or caches.
#ifndef WHITTLE_API_CONTROL_H
#define WHITTLE_API_CONTROL_H

#include <whittle/api/compile.h>
#include <whittle/api/flat.h>

WHITTLE_API_BEGIN

namespace detail {

using Body = std::function<TensorList(const TensorList&)>;

// `pc`: where the user called.
TensorList run_cond(const Tensor& pred, const Body& on_true, const Body& on_false, const TensorList& operands,
                    void* pc);
TensorList run_while_loop(const Body& condition, const Body& body, const TensorList& carried, void* pc);
TensorList run_map(const Body& body, const TensorList& xs, void* pc);
/// `body` is given what is carried, then slices, and returns what is carried on, then what is collected.
TensorList run_scan(const Body& body, const TensorList& init, const TensorList& xs, void* pc);

/// A user's function on flat lists of tensors; `result` says what its last result looked like.
template <class Result, class F, class Operands>
Body flat(F& function, const Operands& like, std::optional<Result>& result) {
    return [&function, &like, &result](const TensorList& tensors) {
        std::size_t position = 0;
        const Operands operands = rebuild(like, tensors, position);
        TensorList results;
        const Result made = std::apply(function, operands);
        flatten(made, results);
        result.emplace(rebuilt(made, TensorList(results.size())));  // holds on to no tensor
        return results;
    };
}

}  // namespace detail

/// Returns on_true(operands…) if `pred`, a boolean of one element, is true, else on_false(operands…).
template <class T, class F, class... Operands>
WHITTLE_API_CALL auto cond(const Tensor& pred, T&& on_true, F&& on_false, const Operands&... operands) {
    using Result = std::decay_t<std::invoke_result_t<T&, const Operands&...>>;
    static_assert(std::is_same_v<Result, std::decay_t<std::invoke_result_t<F&, const Operands&...>>>,
                  "both functions of cond() must return the same type");
    const std::tuple<Operands...> given(operands...);
    TensorList tensors;
    detail::flatten(given, tensors);
    std::optional<Result> result;
    const TensorList results =
        detail::run_cond(pred, detail::flat(on_true, given, result), detail::flat(on_false, given, result), tensors,
                         __builtin_return_address(0));
    return detail::rebuilt(*result, results);
}

/// While condition(carried…), a boolean of one element, is true: carried = body(carried…). Returns the last carried
/// values; several are a std::tuple.
template <class C, class F, class... Carried>
WHITTLE_API_CALL auto while_loop(C&& condition, F&& body, const Carried&... carried) {
    using State = std::tuple<Carried...>;
    using Result = std::decay_t<std::invoke_result_t<F&, const Carried&...>>;
    static_assert(std::is_same_v<Tensor, std::decay_t<std::invoke_result_t<C&, const Carried&...>>>,
                  "the condition of while_loop() must return a Tensor");
    static_assert(std::is_same_v<Result, State> || std::is_same_v<std::tuple<Result>, State>,
                  "the body of while_loop() must return the values that it carries from one iteration to the next");
    const State given(carried...);
    TensorList tensors;
    detail::flatten(given, tensors);
    std::optional<Tensor> last_condition;
    std::optional<Result> last;
    const TensorList results =
        detail::run_while_loop(detail::flat(condition, given, last_condition), detail::flat(body, given, last), tensors,
                               __builtin_return_address(0));
    std::size_t position = 0;
    State state = detail::rebuild(given, results, position);
    if constexpr (std::is_same_v<Result, State>)
        return state;
    else
        return std::get<0>(std::move(state));
}

/// Returns the results of function(slice, rest…) for each slice of `xs` along dimension 0, stacked.
template <class F, class Xs, class... Rest>
WHITTLE_API_CALL auto map(F&& function, const Xs& xs, const Rest&... rest) {
    using Result = std::decay_t<std::invoke_result_t<F&, const Xs&, const Rest&...>>;
    const auto of_slice = [&](const Xs& slice) { return function(slice, rest...); };
    const std::tuple<Xs> given(xs);
    TensorList tensors;
    detail::flatten(given, tensors);
    std::optional<Result> result;
    const TensorList results =
        detail::run_map(detail::flat(of_slice, given, result), tensors, __builtin_return_address(0));
    return detail::rebuilt(*result, results);
}

/// carried = init; then, for each slice of `xs` along dimension 0: (carried, y) = function(carried, slice, rest…).
/// Returns the last carried value and the ys, stacked: a pair or tuple of two, as the function returns.
template <class F, class Carried, class Xs, class... Rest>
WHITTLE_API_CALL auto scan(F&& function, const Carried& init, const Xs& xs, const Rest&... rest) {
    using Result = std::decay_t<std::invoke_result_t<F&, const Carried&, const Xs&, const Rest&...>>;
    static_assert(detail::IsTuple<Result>::value,
                  "the function of scan() must return the next carried value and an output");
    static_assert(std::tuple_size_v<Result> == 2 && std::is_same_v<std::tuple_element_t<0, Result>, Carried>,
                  "the function of scan() must return two values; the first must have the type of the carried value");
    const auto of_slice = [&](const Carried& carried, const Xs& slice) { return function(carried, slice, rest...); };
    const std::tuple<Carried, Xs> given(init, xs);
    TensorList carried, slices;
    detail::flatten(init, carried);
    detail::flatten(xs, slices);
    std::optional<Result> result;
    const TensorList results =
        detail::run_scan(detail::flat(of_slice, given, result), carried, slices, __builtin_return_address(0));
    return detail::rebuilt(*result, results);
}

WHITTLE_API_END

#endif
