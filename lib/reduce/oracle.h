// Oracles: what says whether a candidate still fails in the same way. One compiles and runs it on a backend, isolated;
// the other asks a command of the user's.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "judge/judge.h"
#include "reduce/reductions/case.h"

namespace whittle::reduce {

/// What a run of a candidate said.
struct Observation {
    bool failed = false;
    bool unresolved = false;   ///< no usable answer, whatever the signature
    Signature signature = {};  ///< when failed
    std::string message = {};
    bool marginal = false;  ///< it fails, and a candidate no larger may have no answer: too short for a clock
    /// Unresolved because something outside ended the query or its launcher: not kept, and worth asking again.
    bool lost = false;
    bool replayed = false;  ///< nothing was run: an earlier run's answer (journal.h)
};

/// Of a backend's run, before anything excuses it.
Observation observation_of(const Outcome& outcome);

/// What observe() throws where a candidate cannot be handed to the judge: its format has no spelling for it. Any other
/// Error says that the judge itself cannot be asked.
class NotWritten : public Error {
  public:
    explicit NotWritten(const Error& error) : Error(error) {}
};

class Oracle {
  public:
    virtual ~Oracle() = default;
    /// May be called from several threads.
    virtual Observation observe(const Case& candidate) = 0;
    /// Fills in how the failure is to be reproduced: backend or command, reference, tolerance.
    virtual void describe(Failure& failure) const = 0;
    /// "halide", or the command line.
    virtual std::string name() const = 0;
    /// All that its answers depend on besides the candidate, as text: what is asked, within which limits, and the
    /// contents of the files that answer. Here what describe() says.
    virtual std::string question() const;
};

/// Compiles and runs on the suspect, whose backend is `backend`. Of a file it reads how that ends and no results; where
/// a value of its inputs is not known, there is no answer.
std::unique_ptr<Oracle> backend_oracle(Backend& backend, Suspect suspect);

struct CommandOracleOptions {
    std::vector<std::string> command;  ///< "{}" stands for the candidate's path; it is appended when there is none
    /// As a failure has it: "test", exit 0 is still interesting (C-Vise, llvm-reduce); "test-must-fail", any other exit
    /// is; "check", any other exit is the failure (Polygraphy).
    std::string polarity = "test";
    std::string extension = ".json";              ///< ".onnx" or ".json": how candidates are written
    std::string external_data = "auto";           ///< of ".onnx", for all but an original file: see ExternalData
    std::vector<std::int64_t> fail_codes = {};    ///< check: only these are failures
    std::vector<std::int64_t> ignore_codes = {};  ///< check: these are not
    std::string fail_pattern = {};  ///< check: output must match this regular expression (RE2) to be the failure
    Limits limits = {};
    std::vector<std::string> launcher = {};  ///< words before the command: they take it elsewhere
};

/// The launcher and the command with the candidate's path.
std::vector<std::string> command_line(const CommandOracleOptions& options, const std::filesystem::path& candidate);

/// Writes each candidate into a folder of its own and runs the command in the user's working directory, with
/// WHITTLE_QUERY_DIR naming the folder (candidate, inputs). Exit 125 is unresolved, 126 and 127 throw Error (the
/// command itself is broken). A timed-out command, or one over its memory, is a failure only where the original was
/// too; one that somebody else ended is lost.
std::unique_ptr<Oracle> command_oracle(CommandOracleOptions options);

/// Who judges: a backend, or a command.
using Judge = std::variant<Suspect, CommandOracleOptions>;
/// The same, ready to be asked. The backend lives as long as the oracle.
struct Judging {
    explicit Judging(const Judge& judge);

    std::unique_ptr<Backend> backend = {};  ///< null: a command judges
    std::unique_ptr<Oracle> oracle = {};
};

}  // namespace whittle::reduce
