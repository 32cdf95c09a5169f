// StackReader: what a stack says: the user's part of it, and the function whose frame it belongs to.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "frontends/libtorch/symbolizer.h"
#include "graph/graph.h"

namespace whittle::libtorch {

/// A function that a frame is of.
struct FrameFunction {
    std::string function, file;
    int line = 0;
    std::string call_place;    ///< where it was called from
    bool constructor = false;  ///< of C++, or __init__ of Python
    bool resumable = false;    ///< see CodePlace
    /// Functions around it, as Event::untouched counts them; the last one called it. None: that is not known.
    std::optional<std::size_t> callers = {};
    /// Functions around the one that has its part of the stack, which may be one that it was inlined into; so many
    /// numbers are before the call's among records::Calls::numbers. None: that is not known.
    std::optional<std::size_t> position = {};
    bool is_same_call(const FrameFunction& other) const {
        return function == other.function && call_place == other.call_place;
    }
};

/// What a stack says: the user's part of it, and the function whose frame it belongs to.
struct StackInfo : FrameFunction {
    std::vector<StackFrame> user;
    bool root = true;            ///< nothing but main's own code
    bool outside = false;        ///< no function of the names asked for
    bool comprehension = false;  ///< of Python's is in it
    bool job = false;            ///< a thread's function was given what calls that function, as a std::function
    std::string library = {};    ///< whose own code the user's calls there: "torch/optim/adam.py"; "" for an operation
    /// The module of Python's or TorchScript's inside that function, whose frame it really belongs to.
    std::optional<FrameFunction> module = {};
    const FrameFunction& innermost() const { return module ? *module : *this; }
};

class StackReader {
  public:
    /// `functions`: frames are of these only; none: of those that main calls.
    StackReader(const EventFile& file, Symbolizer& symbolizer, std::vector<std::string> functions)
        : file_(file), symbolizer_(symbolizer), functions_(std::move(functions)) {}

    const StackInfo& info(std::uint32_t stack);
    /// The user's part of the stack on which the parent forked the process.
    std::vector<StackFrame> fork_place();
    bool names() const { return !nameless_; }
    const std::set<std::string>& functions_seen() const { return seen_; }

  private:
    StackInfo read(std::uint32_t stack);
    struct ModuleCall {
        FrameFunction of;
        std::size_t place;                ///< that is the function's
        std::optional<std::size_t> call;  ///< the place of Python's by which it is called
    };
    std::optional<ModuleCall> module_call(const std::vector<CodePlace>& places, std::size_t engine,
                                          std::size_t function);
    std::optional<std::size_t> callers(std::uint32_t stack, std::size_t of) const;
    bool is_entered(const CodePlace& place) const;
    bool is_user(const CodePlace& place);
    bool is_asked_for(const CodePlace& place) const;
    std::size_t inherited(const std::vector<std::uint64_t>& pcs) const;
    static std::optional<std::size_t> worked_item(const std::vector<CodePlace>& places);
    std::size_t forking_functions(const std::vector<CodePlace>& places, const std::vector<std::size_t>& user,
                                  std::size_t outer);
    static const CodePlace* library_function(const std::vector<CodePlace>& places);
    static bool is_within(const std::vector<CodePlace>& places, const std::vector<std::size_t>& user,
                          std::size_t inner);
    static bool is_called_by_torch(const std::vector<CodePlace>& places, std::size_t outermost);
    static std::size_t job_of(const std::vector<CodePlace>& places, const std::vector<std::size_t>& user);
    StackFrame frame(const CodePlace& place);

    const EventFile& file_;
    Symbolizer& symbolizer_;
    const std::vector<std::string> functions_;
    std::map<std::uint32_t, StackInfo> known_;
    std::set<std::string> seen_;
    bool nameless_ = false;
};

}  // namespace whittle::libtorch
