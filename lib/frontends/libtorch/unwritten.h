// Unwritten: memory that LibTorch allocated without contents, and which of its elements no operation had written at a
// moment. Where the program never reads such elements, they are no data of its: whatever lay in memory there.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "frontends/libtorch/steps.h"
#include "tensor/tensor.h"

namespace whittle::libtorch {

class Unwritten {
  public:
    explicit Unwritten(const std::vector<Step>& steps);

    /// Sets to zero what no operation had written of the tensor's elements by the event `order`, which `elements` are
    /// as they were observed then. Leaves memory alone of which anything may have been read before it was written.
    void clear(const TensorRef& tensor, std::uint64_t order, Tensor& elements) const;

  private:
    struct Allocation {
        TensorRef tensor = {};                  ///< all of the memory, contiguous
        std::vector<std::uint64_t> first = {};  ///< per element: the event at which it was written first; 0: never
        std::uint64_t whole = 0;                ///< the event at which all of it was written at once; 0: it was not
    };
    void read(const EventValue& value);
    void visit(const Step& step);
    void allocate(const Step& step);
    bool was_written(const Allocation& allocation, std::int64_t position, std::uint64_t order) const;
    void write(Allocation& allocation, const TensorRef& tensor, std::uint64_t order);

    std::unordered_map<std::uint64_t, Allocation> by_storage_;
    std::int64_t room_ = std::int64_t{1} << 24;  ///< elements that may still be kept track of
};

}  // namespace whittle::libtorch
