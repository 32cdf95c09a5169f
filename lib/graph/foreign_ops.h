// The ability (graph/abilities.h) to take calls of ops that Whittle does not know.
#pragma once

namespace whittle {

/// Of ops it may know more than Whittle, even what types their results have: models that do not state these types are
/// read for it all the same.
class ForeignOps {
  public:
    static constexpr bool kOfInner = true;
    virtual ~ForeignOps() = default;
};

}  // namespace whittle
