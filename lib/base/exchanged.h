// A variable, mostly of a thread, that has another value as long as a scope lasts.
#pragma once

#include <utility>

namespace whittle {

template <class T>
class Exchanged {
  public:
    Exchanged(T& variable, T value) : variable_(variable), before_(std::exchange(variable, std::move(value))) {}
    ~Exchanged() { variable_ = std::move(before_); }
    Exchanged(const Exchanged&) = delete;
    Exchanged& operator=(const Exchanged&) = delete;

    const T& before() const { return before_; }

  private:
    T& variable_;
    T before_;
};

}  // namespace whittle
