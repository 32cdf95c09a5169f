// What of the program's global state operations depend on; specializations are guarded by it.
#pragma once

#include <whittle/api/tensor.h>

#include <vector>

#include "api/impl.h"
#include "ops/core/mode.h"

namespace whittle::api {

/// deterministic_algorithms(), for what does not rely on the answer.
bool is_deterministic();

/// Global state is what it was when this is left, however it is left: grad mode, default dtype, deterministic mode, and
/// the modes of this thread.
class RestoreState {
  public:
    RestoreState() : grad_(grad_enabled()), dtype_(get_default_dtype()), deterministic_(is_deterministic()) {}
    ~RestoreState() {
        set_grad_enabled(grad_);
        set_default_dtype(dtype_);
        use_deterministic_algorithms(deterministic_);
    }
    RestoreState(const RestoreState&) = delete;
    RestoreState& operator=(const RestoreState&) = delete;

  private:
    const SameModes modes_ = {};
    bool grad_;
    ScalarType dtype_;
    bool deterministic_;
};

/// The grad mode while this lives.
class GradMode {
  public:
    explicit GradMode(bool value) : before_(grad_enabled()) { set_grad_enabled(value); }
    ~GradMode() { set_grad_enabled(before_); }
    GradMode(const GradMode&) = delete;
    GradMode& operator=(const GradMode&) = delete;

  private:
    bool before_;
};

/// Whether this thread asked for the deterministic mode since it was last asked here: then what it did relies on it.
bool take_asked_deterministic();

/// Makes a call whose result's dtype would be the default one say which that is: graphs do not depend on the state.
/// Operands of whole numbers are converted where that is the only way (`pc`: for these calls). Throws Error where there
/// is none.
void use_default_dtype(Node& call, const Schema& schema, std::vector<ImplPtr>& operands, void* pc);

}  // namespace whittle::api
