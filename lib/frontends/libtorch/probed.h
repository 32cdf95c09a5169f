// ProbedCalls: what the probes of `trace cc` told in a LibTorch program: which functions ran when, what their
// parameters and variables are called, with which numbers they were called, and which way they went. Empty for a
// program without probes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "capture/guard.h"
#include "frontends/libtorch/reader.h"

namespace whittle::libtorch {

/// The flag, number or text that was recorded; nothing for another value.
std::optional<capture::HostValue> host_value(const EventValue& told);

struct ProbedName {
    std::string name;
    std::int64_t element = -1;  ///< position in a list of that name
    TensorRef tensor;
};

/// One execution of a function.
struct ProbedCall {
    std::string function = {};                                            ///< qualified
    std::int32_t caller = -1;                                             ///< the probed function that it ran in
    std::optional<std::uint64_t> left = {};                               ///< the event at which it ended
    std::vector<ProbedName> parameters = {}, variables = {};              ///< in the order in which they were told
    std::vector<std::pair<std::string, capture::HostValue>> values = {};  ///< of parameters that are no tensors

    /// What the tensor is called: a parameter, else the last variable that held it; nullptr when it is neither.
    const ProbedName* name_of(const TensorRef& tensor) const;
    /// A variable or parameter held this very tensor.
    bool is_variable(const TensorRef& tensor) const;
};

class ProbedCalls {
  public:
    ProbedCalls() = default;
    explicit ProbedCalls(const EventFile& file);

    /// The execution of the function that was running on the thread at the event `order`, the outermost when it called
    /// itself; nullptr when no probes told of it. A name without a scope, as some debug information has it, may be that
    /// of a function in any.
    const ProbedCall* at(std::uint32_t thread, std::uint64_t order, const std::string& function) const;

    /// What graphs of the call rely on: its numbers and texts …
    static std::vector<capture::Guard> value_guards(const ProbedCall& call);
    /// … and the ways that it, and what it called, went at branches after the event `from` and before `until`; without
    /// those at which a tensor's value decided (`data_dependent`, by the event at which it was known).
    std::vector<capture::Guard> branch_guards(const ProbedCall& call, std::uint64_t from, std::uint64_t until,
                                              const std::function<bool(std::uint64_t)>& data_dependent) const;

  private:
    /// An outcome of a branch.
    struct Way {
        std::uint64_t order = 0;
        std::int32_t call = -1;  ///< the innermost
        StackFrame place = {};
        std::int64_t outcome = 0;
        bool selects = false;
    };

    std::vector<ProbedCall> calls_;
    std::vector<Way> ways_;  ///< ascending
    /// Per thread, ascending: from this event on, which call is the innermost, or -1.
    std::map<std::uint32_t, std::vector<std::pair<std::uint64_t, std::int32_t>>> innermost_;
};

}  // namespace whittle::libtorch
