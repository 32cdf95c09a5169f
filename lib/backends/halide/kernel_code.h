// Machine code of kernels: compiled by Halide ahead of time, or found in the user's cache, and loaded into this
// process.
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "backends/halide/pipeline.h"

namespace whittle::halide {

/// A function that takes pointers to its arguments: the address of a std::string for what Halide's run-time library
/// says of errors, the halide_buffer_t of the inputs that are not empty, then of the outputs. Returns 0 when all is
/// well.
class KernelCode {
  public:
    using Function = int(void** arguments);

    virtual ~KernelCode() = default;
    Function* function = nullptr;
    std::string hash = {};  ///< of its machine instructions; empty of one that was built to be stepped through
};

/// Kernels of one text, schedule, target and build are one, in this process and (see user_cache()) in others. What
/// fails is not kept. `from` is told where it came from.
std::variant<std::shared_ptr<const KernelCode>, KernelError> kernel_code(const expr::Group& group,
                                                                         const expr::Schedule& schedule,
                                                                         const std::string& target, CodeSource& from);

}  // namespace whittle::halide
