// first_failing_component(): the procedure of PyTorch's debugging guide as one function: which component of the stack
// is the first with which a graph fails? https://pytorch.org/docs/stable/torch.compiler_troubleshooting.html
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/built_in/built_in.h"
#include "graph/rate.h"
#include "judge/frame.h"
#include "judge/frames.h"

namespace whittle::diagnose {

/// Those built-in backends that are components, in order, and behind them the suspect, whose name is empty.
std::span<const BuiltInBackend> components();
/// Null: none has this backend.
const BuiltInBackend* component_named(const BackendSpec& spec);

/// A component with what came of it.
struct Tried {
    const BuiltInBackend* component = nullptr;
    std::string backend = {};  ///< with its options, where it is a suspect that would be taken for a component
    BackendOptions options = {};
    std::string failure = {};                ///< of the first run that failed, in words; empty: none did
    std::string heading = {};                ///< the same in few words
    std::string undecided = {};              ///< why it is not judged: it does not support an op
    std::vector<std::string> compared = {};  ///< as Judgement has it
    Rate rate = {};                          ///< at which it failed
    double seconds = 0;                      ///< of all runs
    bool of_gradients = false;               ///< it failed at them
    bool suspect = false;                    ///< with the options that are the suspect's

    bool fails() const { return rate.failed > 0; }
    std::string_view culprit() const {
        const Component& says = component->in_diagnosis;
        return of_gradients && !says.culprit_of_gradients.empty() ? says.culprit_of_gradients : says.culprit;
    }
};

struct ComponentVerdict {
    std::string name = {}, file = {};  ///< the frame's
    std::vector<Tried> tried = {};     ///< up to the first that fails, the suspect last
    Rate rate = {};                    ///< at which the suspect fails
    int repeat = 1;  ///< runs without a failure after which the first that passed was said to (graph/rate.h)

    /// The one that fails, else the suspect.
    const Tried& last() const { return tried.back(); }
    bool fails() const { return last().fails(); }
    Verdict verdict() const {
        return fails() ? Verdict::fails : last().undecided.empty() ? Verdict::right : Verdict::not_judged;
    }
};

/// Asks the suspect, at most `runs` times and some seconds, to know how often it fails, longer where only some of its
/// runs do; then each component before it until one fails, as often as that rate wants. A debug backend as suspect is
/// held against those before it. Wrong results count. A component that is not judged (judge/judge.h) is passed over.
/// Throws Error for a backend that is not there.
ComponentVerdict first_failing_component(const LoadedFrame& frame, const Suspect& suspect, int runs = 10);

JudgedFrame judged_frame(const ComponentVerdict& found);

/// The table of what was tried. How the last fails is said in a few words, as its report has all of them.
std::string to_text(const ComponentVerdict& found);
nlohmann::json to_json(const ComponentVerdict& found);

}  // namespace whittle::diagnose
