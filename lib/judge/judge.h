// The judge: what a backend makes of a graph, held against what is known of the graph's results. explain, trace,
// minify, repro, replay and explain diagnose ask it and nothing else.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/onnx_file.h"
#include "judge/suspect.h"

namespace whittle {

enum class Verdict {
    right,      ///< it compiles, runs and computes what it is compared with, or differs by rounding alone
    fails,      ///< it refuses, crashes, hangs or computes something else
    not_judged  ///< nobody can say, as the reason tells
};
/// "right", "fails", "not_judged".
std::string_view name(Verdict verdict);
/// The same for readers: "not judged".
std::string_view words(Verdict verdict);
/// Of several graphs: one that fails counts before one that is not judged, that before one that is right. Of none:
/// not_judged.
Verdict worst(std::span<const Verdict> verdicts);

/// The results that are right, according to `from`.
struct Expectation {
    std::vector<Tensor> outputs = {};  ///< one per output of the graph; empty: nobody gave them
    std::string from = {};             ///< the file, folder or program that they come from
};

/// A graph that may fail, with all that a verdict on it depends on.
struct FailingCase {
    const Graph& graph;
    std::span<const Tensor> inputs;  ///< one per placeholder
    Expectation given = {};          ///< what the user says that the graph computes
    Suspect suspect = {};            ///< Tier::ends: results are not compared
    /// The file that the graph was read from: a backend that reads such files compiles it, byte by byte, and not the
    /// graph. Null: there is none.
    const OnnxFile* file = nullptr;
    /// Why a part of the file could not be read, so that the graph is not what the file says; empty: all was read.
    std::string broken = {};
    /// What of a model the graph is, where that is not all: "3 of 4 operations: …". Told with the verdict right.
    std::string scope = {};
};

/// Judgement::only_file of a graph that was read whole.
inline constexpr char kGraphDoesNotFail[] = "the graph that Whittle reads from the file does not fail";

struct Judgement {
    Verdict verdict = Verdict::not_judged;
    /// Fails: a result lies outside the interval of what rounding explains (judge/interval.h).
    bool beyond_rounding = false;
    /// Not judged: why. Right although results differ: why that counts for nothing. Fails: in words, as text() of the
    /// outcome.
    std::string reason = {};
    /// The file that was given fails, and the graph that was read from it does not show this: why. Else empty.
    std::string only_file = {};
    Outcome outcome = {};                    ///< of the backend
    Expectation expected = {};               ///< what is right, as judge() finds it; none: see below
    std::string no_reference = {};           ///< why the reference computes nothing, where it was asked
    std::vector<std::string> compared = {};  ///< whose results the backend's were compared with: "eager", a folder
    /// Where results differ: the backend's and those that they were compared with, grouped by who agrees with whom. The
    /// given results are "expected", the backend's unoptimized ones "NAME without optimization".
    std::vector<std::vector<std::string>> agree = {};

    bool right() const { return verdict == Verdict::right; }
    bool fails() const { return verdict == Verdict::fails; }
};

/// Runs the graph on the backend, isolated unless it is the reference, and judges how that ends: by the results that
/// were given, else by the reference's, else, where that cannot run the graph, by what LibTorch computes of opaque
/// calls (ops/core/opaque.h), or what the backend itself computes without optimization. Where results differ, all of
/// these and LibTorch say who computes what; expected results that nobody else computes, while another compiler agrees
/// with the backend, accuse nobody. Not judged are a backend that does not support the graph or has nothing to run of
/// it, values of unknown type that nobody gave, a graph that lacks a part of the file, a run that something outside
/// ended, a graph that draws random numbers, input for which a definition leaves the result open, and results that
/// nobody knows.
Judgement judge(const FailingCase& asked, Backend& backend);
/// The same of a run that has ended as `ran`.
Judgement judge(const FailingCase& asked, Backend& backend, Outcome ran);

/// Whether no operation is left for a backend: every result is a constant of the graph, as where all operations of a
/// file were computed while it was read.
bool leaves_nothing_to_run(const Graph& graph);

/// One query about a case whose right results are known, as query() of suspect.h. Of a file that the backend reads it
/// says how that ends, and compares nothing.
Outcome query(const FailingCase& asked, Backend& backend);

/// Why a failure says nothing of the backend.
struct Excuse {
    /// right: results differ by rounding alone; not_judged: a definition leaves the result open, results that are to be
    /// exact are not, or only the tolerance judges results of a suspect that fails beyond_rounding.
    Verdict verdict;
    std::string why;
};
/// Of a run that failed as `outcome`, against `expected` where it has outputs. Nothing where the failure counts; where
/// rounding explains the outputs and not the gradients, the outcome becomes the failure of the gradients.
std::optional<Excuse> excuse(const Graph& graph, std::span<const Tensor> inputs, Outcome& outcome,
                             std::span<const Tensor> expected, const Suspect& suspect);

/// Whether results are right without optimization, or without directives of the schedule; nothing where the backend has
/// no such switches or the suspect's options set them so already.
std::optional<bool> right_unoptimized(const Graph& graph, std::span<const Tensor> inputs,
                                      std::span<const Tensor> expected, Backend& backend, Suspect suspect);

/// "exception at compile", "mismatch at run of backward".
std::string heading_of(const Outcome& outcome);
/// "exception at compile: ReluCompileError", "mismatch at run of backward: …"; empty for a good outcome.
std::string text_of(const Outcome& outcome);

/// How it fails, and why the graph that was read from the file does not, where that is so.
std::string failure_text(const Judgement& judgement);

/// "right: matches eager", "fails: mismatch at run: …", "not judged: …".
std::string text_of(Verdict verdict, const std::string& reason, const std::vector<std::string>& compared);
inline std::string text_of(const Judgement& said) { return text_of(said.verdict, said.reason, said.compared); }

/// How a recorded failure ends when it is asked about again.
enum class Again {
    fails,  ///< alike
    right,
    otherwise  ///< it fails in another way, or there is no answer
};

/// A further query about a failure that is known.
struct Question {
    const Graph& graph;                     ///< with its failure: backend, signature, inputs
    std::span<const Tensor> expected = {};  ///< one per output, where the failure is one of results
    Limits limits = {};
    std::optional<BackendOptions> options = {};  ///< in place of the failure's
    std::optional<BackendSpec> spec = {};        ///< in place of the failure's, with no options but these
    bool any_values = false;                     ///< results that are wrong in another way are alike
    bool any_words = false;                      ///< exceptions with another text are alike
    bool compares = false;                       ///< wrong results count whatever the failure is
};
struct Answer {
    Again again = Again::otherwise;
    Outcome outcome = {};  ///< of the run that decided
};

/// Runs the graph at most `runs` times, until it fails.
Answer ask_again(const Question& question, Backend& backend, int runs);
/// As often as the failure's rate wants before it counts as right (graph/rate.h).
Answer ask_again(const Question& question, Backend& backend);
/// The failure shows again.
bool still_fails(const Question& question, Backend& backend);

}  // namespace whittle
