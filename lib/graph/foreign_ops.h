// The ability (graph/abilities.h) to take calls of ops that Whittle does not know.
#pragma once

namespace whittle {

/// Of ops it knows more than Whittle may: calls of others are handed to it as they are, with the results that the
/// model states of them.
class ForeignOps {
  public:
    static constexpr bool kOfInner = true;
    virtual ~ForeignOps() = default;
};

}  // namespace whittle
