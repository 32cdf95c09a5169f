// Bugs that tests inject into compilations, through the hooks of program/hooks.h.
#pragma once

#include <string>

#include "program/hooks.h"

namespace whittle {

/// Hooks that make one step wrong:
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
///   BUG+BUG       both, of different steps
/// Throws Error for another text.
program::Hooks planted_bug(const std::string& text);

/// The bug is in the compilations of this process as long as the object lives.
class Planted {
  public:
    explicit Planted(const std::string& bug) { program::set_hooks(planted_bug(bug)); }
    ~Planted() { program::set_hooks({}); }
    Planted(const Planted&) = delete;
    Planted& operator=(const Planted&) = delete;
};

}  // namespace whittle
