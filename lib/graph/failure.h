// What a minimized graph remembers of how it fails, so that `repro m.json` needs no flags. Plain data.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/rate.h"
#include "tensor/compare.h"
#include "tensor/tensor.h"

namespace whittle {

/// How a graph fails, without anything that reduction changes (addresses, temporaries' names, numbers, paths, indices).
struct Signature {
    /// "exception" "mismatch" "crash" "timeout" "out_of_memory" "slow" "check" (a user's oracle command)
    std::string kind = {};
    /// "compile" or "run"; empty for a command oracle
    std::string stage = {};
    /// Signal name, normalized message, or class of mismatch: "dtype" "sizes" "nan_or_inf" "value"; of what the
    /// backend must not write: "written_input" "written_parameter".
    std::string detail = {};
    std::string part = {};  ///< "backward" where it fails at gradients
    Rate rate = {};         ///< measured, where it fails in some runs only; {0, 0}: in all

    /// Two failures are alike whatever their rates: these are measured, and no two measurements agree.
    bool operator==(const Signature& other) const {
        return kind == other.kind && stage == other.stage && detail == other.detail && part == other.part;
    }
    /// The outputs are right, and what is computed of their gradients is not.
    bool at_gradients() const { return !part.empty(); }
    /// "mismatch (nan_or_inf) at run", "mismatch (value) at run of backward, in 12 of 40 runs": one line.
    std::string text() const;
    /// The same above the failure's message, which an exception's detail would say once more: "exception at run".
    std::string heading() const;
};

/// What is to blame, as far as switching parts of the compiler off could tell.
struct Culprit {
    /// "schedule", "switch" (of a compiler that has no schedules), "lowering", "pass" (a rewrite of the graph before
    /// lowering) or "compiler" (what remains: Halide)
    std::string component = {};
    std::string directive = {};  ///< schedule: as explain prints it, "conv.vectorize(x, 8)"; switch: its name
    std::vector<std::string> together = {};  ///< directives it takes, too; pass: last good, first bad
    std::string op = {};  ///< lowering: the op that is lowered wrongly; pass: its name; switch: its kind, "optimizer"
    std::string application = {};              ///< pass: what its first bad application is, "relu"; empty: unknown
    std::string partner = {};                  ///< pass: another one without which it does no harm
    bool minimized_only = false;               ///< with it switched off, the model that was given fails all the same
    std::vector<std::string> dependents = {};  ///< directives that depend on it: off whenever it is
    bool operator==(const Culprit&) const = default;
    /// Whittle made something wrong of the graph before the compiler got it.
    bool before_compiler() const { return component == "lowering" || component == "pass"; }
    std::string text() const;  ///< one line
};

/// What a graph is compared with that takes too long.
struct Pace {
    double factor = 0;      ///< it fails where it takes more than so many times as long …
    std::string than = {};  ///< … as on this backend; empty: as its own without optimization
    std::map<std::string, std::string> options = {};  ///< of `than`
    bool operator==(const Pace&) const = default;
    /// "onnxruntime", "onnxruntime (release=1.16.3)", "its own code without optimization".
    std::string text() const;
};

struct Failure {
    std::string backend = {};                         ///< as in --backend; empty when a command was the oracle
    std::string version = {};                         ///< of its compiler, where it says
    std::map<std::string, std::string> options = {};  ///< backend options
    std::vector<std::string> command = {};            ///< the oracle command, when one was used
    std::string polarity = {};                        ///< "test", "test-must-fail" or "check" with a command
    Signature signature = {};
    std::string message = {};         ///< the first run's own words
    std::string reference = "eager";  ///< the reference backend
    Accuracy accuracy = {};           ///< for mismatches
    std::optional<Pace> slower = {};  ///< for what is slow: the graph fails by its time
    std::optional<Culprit> culprit = {};
    std::string releases = {};        ///< since which it fails, of those that were installed, in words; empty: unknown
    std::string python = {};          ///< the interpreter that ran the program that was traced; empty: none, unknown
    std::vector<Tensor> inputs = {};  ///< one per placeholder: recorded values

    /// "mismatch (value) at run", "exception at run: exited with 1: no kernel for Abs": one line. A signature has # for
    /// the numbers of an exception's message; this has the message itself.
    std::string text() const;
};

/// What a report says below the failure's culprit, a line each: what "together" means, the directives that are switched
/// off with it, and the backend options under which it was found.
std::vector<std::string> culprit_notes(const Failure& failure);

}  // namespace whittle
