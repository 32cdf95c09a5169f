// ProbedCalls: what the probes of `trace cc` told in a LibTorch program: which functions ran when, and what their
// parameters and variables are called. Empty for a program without probes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "frontends/libtorch/reader.h"

namespace whittle::libtorch {

struct ProbedName {
    std::string name;
    std::int64_t element = -1;  ///< position in a list of that name
    TensorRef tensor;
};

/// One execution of a function.
struct ProbedCall {
    std::string function = {};                                ///< qualified
    std::int32_t caller = -1;                                 ///< the probed function that it ran in
    std::vector<ProbedName> parameters = {}, variables = {};  ///< in the order in which they were told

    /// What the tensor is called: a parameter, else the last variable that held it; nullptr when it is neither.
    const ProbedName* name_of(const TensorRef& tensor) const;
};

class ProbedCalls {
  public:
    ProbedCalls() = default;
    explicit ProbedCalls(const EventFile& file);

    /// The execution of the function (its name, or the last part of it) that was running on the thread at the event
    /// `order`, the outermost when it called itself; nullptr when no probes told of it.
    const ProbedCall* at(std::uint32_t thread, std::uint64_t order, const std::string& function) const;

  private:
    std::vector<ProbedCall> calls_;
    /// Per thread, ascending: from this event on, which call is the innermost, or -1.
    std::map<std::uint32_t, std::vector<std::pair<std::uint64_t, std::int32_t>>> innermost_;
};

}  // namespace whittle::libtorch
