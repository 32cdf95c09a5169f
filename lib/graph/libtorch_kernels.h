// RunsLibTorch: an ability of backends, as those in abilities.h.
#pragma once

namespace whittle {

/// Its results come from LibTorch's kernels, whatever it makes of the graph: LibTorch is no other witness of them.
class RunsLibTorch {
  public:
    static constexpr bool kOfInner = true;
    virtual ~RunsLibTorch() = default;
};

}  // namespace whittle
