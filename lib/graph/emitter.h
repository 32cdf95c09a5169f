// A backend's part of a repro: C++17 that compiles and runs the failing graph with nothing of Whittle. An ability, see
// abilities.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "graph/backend.h"
#include "graph/joint_forward.h"
#include "graph/near.h"

namespace whittle {

/// A result of a call that is not what was said of it.
struct HeldResult {
    std::string node;  ///< the call
    std::size_t result = 0;
    ValueMeta computed = {};
    ValueMeta said = {};
    std::string said_is = {};  ///< "inferred" or "recorded"
    bool inferred = false;     ///< `computed` was inferred: nothing ran

    /// "result 0 of OP is f32[2], inferred is f32[3]", with metas as they are to be written.
    std::string text(const std::string& target, const std::string& is, const std::string& was_said) const {
        return "result " + std::to_string(result) + " of " + target + " is " + (inferred ? "inferred as " : "") + is +
               ", " + said_is + " is " + was_said;
    }
};
/// An operand of a call that is not as its schema promises.
struct HeldOperand {
    std::string node;                           ///< the call
    std::string parameter;                      ///< what the schema calls it
    std::optional<std::size_t> shared_by = {};  ///< the result that shares its memory; nothing: it was written to
    /// What a kernel of ours left in it; nothing: the op is from outside, and to be asked itself.
    std::optional<Tensor> after = {};
};
using Held = std::variant<HeldResult, HeldOperand>;

/// What the part is written for. In the program each placeholder and get_attr `%NAME` is a pointer in_NAME to its first
/// element, with the tensor's strides; the results go to arrays of `struct Outputs`.
struct EmitRequest {
    const Graph& graph;                       ///< with its failure: inputs, options, culprit
    std::span<const Tensor> expected;         ///< one per output
    const std::vector<std::string>& outputs;  ///< members of Outputs, one per output; there is none without elements
    /// Defines NAME, at file scope, as a pointer to the tensor's first element; large ones go into a file of their own.
    std::function<std::string(const std::string& name, const Tensor& tensor)> define;
    /// The graph is a joint one, and its gradients are to be computed as OwnGradients in abilities.h has it.
    std::optional<JointShape> gradients = {};
    /// What the part asks of a call beside what it computes. It throws what backends say (backends/debug/op_checks.h)
    /// where it is the case: "result 0 of OP is f32[2], inferred is f32[3]", "OP wrote to the operand 'x', …".
    std::optional<Held> held = {};
};

/// The same computation as plain loops: the second opinion.
struct LoopsCode {
    Graph graph;          ///< whose placeholders and get_attr are the program's inputs
    std::string support;  ///< types and functions that the program needs for them
    std::string code;     ///< defines static void run_loops(Outputs& out)
};

struct SuspectCode {
    std::string includes = {};
    std::string support = {};      ///< before the inputs
    std::string code;              ///< defines static void under_test(Outputs& out); a failure is an exception
    std::string name = "backend";  ///< who says what the program prints
    std::string called = {};       ///< the backend, in a verdict; empty: as the failure has it
    std::string label = {};        ///< "BUG in LABEL"; empty: "the backend CALLED on OPS"
    std::string header = {};       ///< of the file: what is under suspicion, in which version
    std::string lowering = "Whittle's own lowering";  ///< to blame when the loops are wrong
    std::vector<std::string> compile_flags = {};      ///< of build_words (printers/short_program.h)
    /// Files that the program looks for beside itself first.
    std::vector<std::filesystem::path> companions = {};
    std::string spec_beside = {};  ///< --backend in a folder with the companions; empty: as the failure has it
    /// The suspect is a second opinion on the reference: the loops may differ from what is expected, too.
    bool judges_reference = false;
    /// The code reads `static bool culprit_on`: false switches the culprit's directive off.
    bool reads_culprit = false;
    /// Loops by the suspect's own plan; none: by Whittle's.
    std::optional<LoopsCode> loops = {};
    /// The graph whose placeholders and get_attr are the program's inputs, where they are not the given one's; then
    /// there are no loops but the suspect's own.
    std::optional<Graph> leaves = {};
    std::int64_t more_seconds = 0;  ///< that it may take beyond a run's limit
};

/// One more program beside the first that shows the same, for who has another of the compiler's interfaces.
struct OtherProgram {
    std::string name, text;
    std::vector<std::string> run;  ///< in its folder
    /// A command that ends with 0 where what it needs is installed; it may print what that is, in which version.
    std::vector<std::string> probe;
    std::string ends_by = {};  ///< the signal that ends it; empty: as the first is ended

    // What became of it.
    bool ran = false;          ///< what it needs is installed
    bool verified = false;     ///< all of its runs failed
    std::string message = {};  ///< "repro.py: 3 of 3 runs fail"
    std::string printed = {};  ///< all that the last run wrote to its standard output
    std::string runs_on = {};  ///< what it needs, in which version, where its probe says so: "PyTorch 1.13.0"
};

/// A program in a folder of its own, with what it reads.
struct ProgramFolder {
    std::string name;                     ///< of the program, in the folder: "run.mjs"
    std::vector<std::string> build = {};  ///< in the folder; empty: nothing is built
    std::vector<std::string> run = {};    ///< in the folder
    std::string get = {};                 ///< the shell command that brings what it needs
    /// What is lent to the folder while it is run here, by the names there: where `get` would bring it.
    std::map<std::string, std::filesystem::path> lent = {};
};

/// A whole program that shows the failure: short enough to be read at a glance, or the harness (repro/repro.h).
struct ReproProgram {
    struct File {
        std::string name, text;
    };
    std::string text = {};
    std::string summary = {};                            ///< what is wrong, in a line; a harness has none
    std::string compiler = {};                           ///< what is under suspicion, in which version
    std::vector<std::string> compile_flags = {};         ///< of build_words (printers/short_program.h)
    std::vector<std::filesystem::path> companions = {};  ///< what a folder that shows the failure elsewhere needs
    std::string spec_beside = {};                        ///< --backend there; empty: as the failure has it
    std::vector<File> files = {};                        ///< that are written beside it
    std::vector<std::string> arguments = {};             ///< that it is run with here
    std::optional<ProgramFolder> folder = {};            ///< none: it is C++, and the request's file
    std::vector<OtherProgram> others = {};               ///< that are written beside it, too
    std::string ends_by = {};                            ///< the signal that ends it; empty: it exits with 1
    std::string control = {};                            ///< what passes in each run: where that fails it exits with 2
    std::string control_argument = {};                   ///< what passes where it is run with "control"
    std::string expected = {};                           ///< "f() is 1": what is right; empty: that it ends with 0
    std::string facts = {};                              ///< Markdown for a bug report: what decides
    std::string near = {};                               ///< a sentence for it: the near case (near_text())
    std::string model = {};                              ///< Markdown for it: the model
    std::string tracker = {};                            ///< whose form a bug report has (share/templates/issue_*)
    /// What may show the failure where this one, which is shorter, does not.
    std::shared_ptr<ReproProgram> otherwise = {};
    /// The same with the expected values in place of the compiler's results: its check must pass. Null: nothing
    /// compares.
    std::shared_ptr<ReproProgram> given_expected = {};
};

/// What decides whether a graph fails, as far as the compiler's own switches tell (Switchable).
struct Blame {
    std::string level = {};            ///< what is limited to a number: "level"; empty: nothing is, or all alike
    int passes_to = -1, fails_at = 0;  ///< the highest level that is right, and the lowest that is wrong
    std::string off = {};              ///< the switch without which it is right
    bool exact = false;                ///< it has the bits of what is expected then

    /// Something can be switched off with which it is right.
    bool controlled() const { return passes_to >= 0 || !off.empty(); }
};

struct ShortRequest {
    const Graph& graph;                ///< with its failure: inputs, options
    std::span<const Tensor> expected;  ///< one per output
    std::span<const Tensor> got;       ///< what the suspect computed instead, where it computed something
    std::filesystem::path file;        ///< the program's name
    std::int64_t alarm = 60;           ///< seconds after which the suspect counts as hung
    Blame blame = {};
    bool varies = false;  ///< `got` is other values in other runs
    std::optional<NearCase> near = {};
    /// Results of the compiler are replaced by the expected ones: what the program checks must pass then.
    bool given_expected = false;
    /// The graph is a joint one, whose gradients the suspect computes in its own way.
    std::optional<JointShape> gradients = {};
    /// PyTorch's eager mode is not as close to the results in f64 as the tolerance asks: those in f64 decide.
    bool in_f64 = false;
};

class Emitter {
  public:
    static constexpr bool kOfInner = true;
    virtual ~Emitter() = default;
    /// Throws Error when the graph cannot be written down.
    virtual SuspectCode emit(const EmitRequest& request) = 0;
    /// Nothing where there is none for such a failure: `why_not` then says why, as a clause.
    virtual std::optional<ReproProgram> short_program(const ShortRequest&, std::string& /*why_not*/) {
        return std::nullopt;
    }
    /// What it runs is PyTorch's own: the graph as a script of PyTorch's calls shows the failure, too.
    virtual bool is_pytorch() const { return false; }
};

}  // namespace whittle
