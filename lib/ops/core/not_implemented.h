// NotImplemented: a library has no kernel for a call with such operands. That is no failure of the graph, and no answer
// about it.
#pragma once

#include "base/error.h"

namespace whittle {

class NotImplemented : public Error {
  public:
    using Error::Error;
};

}  // namespace whittle
