// Two lists as one.
#pragma once

#include <vector>

namespace whittle {

template <class T>
std::vector<T> joined(std::vector<T> a, const std::vector<T>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

}  // namespace whittle
