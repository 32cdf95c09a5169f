// The user's mistakes. `Error` is thrown wherever bad input is noticed and caught once, in run_tool(), which prints it
// and exits with 2. A failing graph is never an Error (see judge/outcome.h), and neither is a bug of ours (see
// WHITTLE_CHECK).
#pragma once

#include <concepts>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

namespace whittle {

/// Where the mistake is: a file (or "command line") and a place in it that the user can find.
struct Location {
    std::string file;      ///< path as the user gave it; empty when there is no file
    std::string position;  ///< "line 3", "byte 120", a JSON pointer such as "/nodes/3/args/0", or empty
};

/// One mistake of the user's: where, what was found and what was expected, and how to put it right.
class Error : public std::exception {
  public:
    Error(Location where, std::string message, std::string hint = {});
    /// A mistake without a place. A template, so that a braced Location is never taken for a std::string.
    template <std::convertible_to<std::string> Text>
    explicit Error(Text&& message, std::string hint = {})
        : Error(Location{}, std::string(std::forward<Text>(message)), std::move(hint)) {}

    const Location& where() const { return where_; }
    const std::string& message() const { return message_; }
    const std::string& hint() const { return hint_; }
    /// "FILE: POSITION: MESSAGE; hint: HINT" on one line, without the parts that are empty.
    const char* what() const noexcept override { return text_.c_str(); }

    /// Says where, for callers that know the place when the thrower did not: `catch (Error& error)`, then `throw;`,
    /// which keeps the kind of the error.
    void locate(Location where);

  private:
    void compose();

    Location where_;
    std::string message_, hint_, text_;
};

/// Throws Error: "cannot DOING: …", with the words of errno.
[[noreturn]] void throw_errno(const char* doing);

[[noreturn]] void report_bug(const char* condition, const char* file, int line, const std::string& message);

// Bugs of ours that a program of somebody else's is to survive: where capture works inside of it, what WHITTLE_CHECK
// finds is thrown instead of ending the process.

/// What report_bug() would have printed.
struct InternalError : std::logic_error {
    using std::logic_error::logic_error;
};

/// As long as one lives, WHITTLE_CHECK throws InternalError on this thread.
class BugsAreThrown {
  public:
    BugsAreThrown();
    ~BugsAreThrown();
    BugsAreThrown(const BugsAreThrown&) = delete;
    BugsAreThrown& operator=(const BugsAreThrown&) = delete;
};

}  // namespace whittle

/// Our own invariants: prints a request to report the bug and aborts. Never for input.
#define WHITTLE_CHECK(condition, message) \
    ((condition) ? void(0) : ::whittle::report_bug(#condition, __FILE__, __LINE__, message))
