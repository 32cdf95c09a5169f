// A value that backward needs: it must not be written to until then.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "tensor/tensor.h"

namespace whittle::api {

class SavedValue {
  public:
    explicit SavedValue(whittle::Tensor value);
    /// Throws Error, which names `by`, when its memory was written to.
    const whittle::Tensor& get(const std::string& by) const;

  private:
    whittle::Tensor value_;
    std::shared_ptr<std::atomic<std::uint64_t>> writes_;  ///< to its memory, since the first value of it was saved
    std::uint64_t seen_ = 0;
};

/// The program wrote to the tensor's memory.
void note_write(const whittle::Tensor& tensor);

}  // namespace whittle::api
