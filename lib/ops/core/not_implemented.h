// NotImplemented: a library has no kernel, or a pass no form, for a call with such operands. That is no failure of the
// graph, and no answer about it: all other errors are failures.
#pragma once

#include "base/error.h"

namespace whittle {

class NotImplemented : public Error {
  public:
    using Error::Error;
};

}  // namespace whittle
