// Bugs that tests inject into compilations, through the hook of program/hooks.h.
#pragma once

#include <string>

#include "program/hooks.h"

namespace whittle {

/// A hook that makes one pass wrong:
///   schedule      lanes of one vector race to update the same element, in the first reduction of every kernel
///   throw         a loop of every kernel is named twice in a reorder, which Halide refuses
///   hang          a loop of every kernel is unrolled 4096 times
///   lower=OP      results of the op are lowered as one more than they are
///   flaky=OP      the same, in 3 of 10 compilations
///   fuse, inline  the second application of the pass gives one more
///   fold          every call of constants folds to one more
///   functionalize every write stores one more
///   cse           calls are compared without their arguments that are no tensors
///   partition     every gradient of a backward graph is one more
///   decompose=OP  calls of the composite decompose into one more
///   BUG+BUG       both
/// Throws Error for another text.
AfterPass planted_bug(const std::string& text);

/// The bug is in the compilations of this process as long as the object lives.
class Planted {
  public:
    explicit Planted(const std::string& bug) { program::set_after_pass(planted_bug(bug)); }
    ~Planted() { program::set_after_pass({}); }
    Planted(const Planted&) = delete;
    Planted& operator=(const Planted&) = delete;
};

}  // namespace whittle
