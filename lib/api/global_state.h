// What of the program's global state operations depend on; specializations are guarded by it.
#pragma once

#include <whittle/api/tensor.h>

#include <vector>

#include "api/impl.h"

namespace whittle::api {

/// Global state is what it was when this is left, however it is left.
class RestoreState {
  public:
    RestoreState() : grad_(grad_enabled()), dtype_(get_default_dtype()) {}
    ~RestoreState() {
        set_grad_enabled(grad_);
        set_default_dtype(dtype_);
    }
    RestoreState(const RestoreState&) = delete;
    RestoreState& operator=(const RestoreState&) = delete;

  private:
    bool grad_;
    ScalarType dtype_;
};

/// Makes a call whose result's dtype would be the default one say which that is: graphs do not depend on the state.
/// Operands of whole numbers are converted where that is the only way (`pc`: for these calls). Throws Error where there
/// is none.
void use_default_dtype(Node& call, const Schema& schema, std::vector<ImplPtr>& operands, void* pc);

}  // namespace whittle::api
