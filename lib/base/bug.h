// Bugs of ours that a program of somebody else's is to survive: where capture works inside of it, what WHITTLE_CHECK
// finds is thrown instead of ending the process.
#pragma once

#include <stdexcept>

namespace whittle {

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
