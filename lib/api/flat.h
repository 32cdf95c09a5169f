// Values that are made of tensors, as flat lists of them: a tensor, or a vector, array, tuple or pair of what is one.
#ifndef WHITTLE_API_FLAT_H
#define WHITTLE_API_FLAT_H

#include <whittle/api/tensor.h>

#include <array>
#include <tuple>
#include <utility>

WHITTLE_API_BEGIN

namespace detail {

template <class T, class = void>
struct IsTuple : std::false_type {};
template <class T>
struct IsTuple<T, std::void_t<decltype(std::tuple_size<T>::value)>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

/// Whether the type is one of those.
template <class T, class = void>
struct AreTensors : std::is_same<T, Tensor> {};
template <class T>
struct AreTensors<std::vector<T>> : AreTensors<T> {};
template <class T, std::size_t n>
struct AreTensors<std::array<T, n>> : AreTensors<T> {};
template <class... T>
struct AreTensors<std::tuple<T...>> : std::conjunction<AreTensors<T>...> {};
template <class A, class B>
struct AreTensors<std::pair<A, B>> : std::conjunction<AreTensors<A>, AreTensors<B>> {};

/// The tensors of a value, in order.
template <class T>
void flatten(const T& value, TensorList& tensors) {
    if constexpr (std::is_same_v<T, Tensor>) {
        tensors.push_back(value);
    } else if constexpr (IsVector<T>::value) {
        for (const auto& element : value) flatten(element, tensors);
    } else {
        static_assert(IsTuple<T>::value, "expected a Tensor, or a vector, array, tuple or pair of tensors");
        std::apply([&](const auto&... elements) { (flatten(elements, tensors), ...); }, value);
    }
}

/// The same with other tensors.
template <class T>
T rebuild([[maybe_unused]] const T& like, const TensorList& tensors, std::size_t& position) {
    if constexpr (std::is_same_v<T, Tensor>) {
        return tensors.at(position++);
    } else if constexpr (IsVector<T>::value) {
        T result;
        for (const auto& element : like) result.push_back(rebuild(element, tensors, position));
        return result;
    } else {
        return std::apply([&](const auto&... elements) { return T{rebuild(elements, tensors, position)...}; }, like);
    }
}

template <class T>
T rebuilt(const T& like, const TensorList& tensors) {
    std::size_t position = 0;
    return rebuild(like, tensors, position);
}

}  // namespace detail

WHITTLE_API_END

#endif
