// What only some backends can do. A backend offers an ability by deriving from it beside Backend; whoever needs one
// asks for it and does without where there is none, so that nobody asks which backend it is:
//
//   if (Switchable* parts = offered<Switchable>(backend)) …
//
// Emitter, its part of a repro, is in emitter.h.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/subprocess.h"
#include "graph/backend.h"
#include "graph/backend_options.h"
#include "graph/failure.h"
#include "graph/graph.h"
#include "graph/joint_forward.h"

namespace whittle {

/// A backend that hands what it is given on to another one. That one's abilities are offered() as its own, those with
/// kOfInner: what compiles or runs graphs, or decides who does, would pass by the wrapper.
class Wrapper {
  public:
    virtual ~Wrapper() = default;
    virtual Backend& inner() const = 0;
};

/// Null where the backend does not offer it.
template <class Ability>
Ability* offered(Backend& backend) {
    if (auto* const own = dynamic_cast<Ability*>(&backend)) return own;
    if constexpr (requires { Ability::kOfInner; })
        if (const auto* const wrapper = dynamic_cast<const Wrapper*>(&backend))
            return offered<Ability>(wrapper->inner());
    return nullptr;
}
template <class Ability>
const Ability* offered(const Backend& backend) {
    return offered<Ability>(const_cast<Backend&>(backend));
}

/// The reference: its results are what is right, and it is trusted not to take the process down that it runs in.
class Reference {
  public:
    virtual ~Reference() = default;
};

/// Its first compilation loads and starts what later ones need. Only for backends that are trusted not to crash.
class WarmUp {
  public:
    static constexpr bool kOfInner = true;
    virtual ~WarmUp() = default;
    /// Loads and starts it now. Queries are copies of this process (judge/outcome.h): what is done here once is done
    /// for all of them.
    virtual void warm_up() = 0;
};

/// It knows its options, so that a wrong one is told before anything runs (backends/registry.h). Whoever takes any
/// option, or leaves that to a library of somebody else's, does not offer it.
class Optioned {
  public:
    static constexpr bool kOfInner = true;
    virtual ~Optioned() = default;
    /// Their names, where these are given: an option may name a backend that has more. Throws Error where it has to be
    /// started for that and cannot be.
    virtual std::vector<std::string> option_names(const BackendOptions& given) = 0;
    /// Throws Error (graph/backend_options.h) for a value that an option cannot have; of others it says nothing.
    virtual void check(const BackendOptions& options) = 0;
};

/// It compiles in full, or quickly, which is enough for who follows a failure that shows there as well.
class Tiered {
  public:
    static constexpr bool kOfInner = true;
    virtual ~Tiered() = default;
    /// The options of a quick compilation; what is given, where that already says how it compiles.
    virtual BackendOptions quick(BackendOptions options) const = 0;
};

/// It can say, without compiling, what it cannot compile.
class Support {
  public:
    static constexpr bool kOfInner = true;
    virtual ~Support() = default;
    /// Targets in `graph` that it cannot compile, each once, in order of appearance; explain names them.
    virtual std::vector<std::string> unsupported(const Graph& graph) const = 0;
    /// It calls the kernels that are registered where it runs: those of a program's own ops, too, which another process
    /// has to name above.
    virtual bool calls_kernels() const { return false; }
};

/// What the backend says that it cannot compile; nothing where it cannot say.
inline std::vector<std::string> unsupported_by(const Backend& backend, const Graph& graph) {
    const Support* support = offered<Support>(backend);
    return support ? support->unsupported(graph) : std::vector<std::string>();
}

/// Its compiler is a process of its own that answers many queries: none of them needs a copy of this process.
class Apart {
  public:
    /// How a query ended without an answer.
    struct Ended {
        ProcessResult process;
        std::string stage = {};  ///< "compile" or "run"
    };
    /// The backend, for one query within limits.
    class Query : public Backend {
      public:
        /// Set where the process ended instead of answering; what compile() or run() said then is nobody's words.
        virtual const std::optional<Ended>& ended() const = 0;
    };

    virtual ~Apart() = default;
    /// Whether the process is there for these options; else the backend runs them as one that is not apart.
    virtual bool takes(const BackendOptions&) { return true; }
    /// Of `limits`, its times and memory count. Throws Error where the process cannot be started, and for options that
    /// the compiler does not have.
    virtual std::unique_ptr<Query> query(const BackendOptions& options, const ProcessOptions& limits) = 0;
};

/// The function of the library `onnx` that makes the backend of a worker (backends/command/worker.h), for who is not
/// linked with that library: name, description, command line, and the options that the command line takes.
using MakeWorkerBackend = Backend*(const std::string&, const std::string&, const std::vector<std::string>&,
                                   const std::vector<std::string>&);
/// Of an executable (graph/backend.h) whose run() does more than its compiler's code, which another process compiles,
/// maybe: that process takes the times.
class TimesRuns {
  public:
    virtual ~TimesRuns() = default;
    /// Runs it once, then `runs` times, and adds the seconds of each of these. A failure where it cannot.
    virtual std::optional<BackendFailure> time(std::span<const Tensor> inputs, int runs,
                                               std::vector<double>& seconds) = 0;
};

/// A question to a compiler that is a process of its own: a line of JSON on its standard input.
struct AskedByLine {
    std::vector<std::string> command;  ///< that starts it
    std::string question;              ///< "{}" in it stands for the folder with the model and its inputs
};
/// Its compiler answers such questions, and takes the times of runs ("timed_runs"): without Whittle, too.
class AsksByLine {
  public:
    virtual ~AsksByLine() = default;
    /// Of a graph with its failure, under these options. Writes the model and the failure's inputs into the folder.
    virtual AskedByLine asked_by_line(const Graph& graph, const BackendOptions& options,
                                      const std::filesystem::path& folder) = 0;
};

/// Null where queries with these options need a copy of this process.
inline Apart* apart_for(Backend& backend, const BackendOptions& options) {
    Apart* const apart = offered<Apart>(backend);
    return apart && apart->takes(options) ? apart : nullptr;
}

/// It knows which release of the compiler it is.
class Versioned {
  public:
    static constexpr bool kOfInner = true;
    virtual ~Versioned() = default;
    /// "1.30.0 (node 20.20.2)". Throws Error where it has to be started for that and cannot be.
    virtual std::string version() = 0;
};

/// What it says; nothing where it cannot say.
inline std::string version_of(Backend& backend) {
    Versioned* versioned = offered<Versioned>(backend);
    return versioned ? versioned->version() : std::string();
}

/// Where bugs of a compiler are reported.
struct Tracker {
    std::string project;   ///< "Halide"
    std::string url = {};  ///< of its issues; empty: unknown
};
/// Its compiler is a project with an issue tracker of its own.
class Tracked {
  public:
    static constexpr bool kOfInner = true;
    virtual ~Tracked() = default;
    /// Nothing where the compiler is not known. Throws Error where it has to be started for that and cannot be.
    virtual std::optional<Tracker> tracker() = 0;
};

/// It differentiates graphs, has its own way to cut them in two, and compiles the two parts each in its own way.
class Differentiates {
  public:
    virtual ~Differentiates() = default;
    /// What the cut that `options` ask for is called as options of a CompiledProgram (compile/program.h).
    virtual BackendOptions cut(const BackendOptions& options) const = 0;
    /// Targets in a joint graph that whoever compiles its parts does not take as they are, and that are decomposed
    /// under decompositions=backend.
    virtual std::vector<std::string> not_taken(const Graph& joint, const BackendOptions& options) const = 0;
    /// Whether neither part is compiled: the reference's kernels interpret both.
    virtual bool interprets(const BackendOptions& options) const = 0;
    /// Another backend that compiles a part, by the name that it is found by, with the options that it is given.
    struct Compiler {
        std::string backend;
        BackendOptions options;
    };
    /// Nothing where it compiles or interprets the part itself. `part` is `forward` or `backward`.
    virtual std::optional<Compiler> compiler_of(CompileStage part, const BackendOptions& options) const = 0;
    /// Compiles what was cut already; `part` is `forward` or `backward`.
    virtual CompileResult compile_part(CompileStage part, const Graph& graph, const BackendOptions& options) = 0;
};

/// It runs another graph in place of the one that it is given, which is to compute the same.
class Rewriting {
  public:
    static constexpr bool kOfInner = true;
    virtual ~Rewriting() = default;
    /// Nothing where it cannot make one.
    virtual std::optional<Graph> instead_of(const Graph& graph) const = 0;
};

/// It computes the gradients of a graph in its own way: another judge of our rules.
class OwnGradients {
  public:
    virtual ~OwnGradients() = default;
    /// Of a joint graph it takes what the first outputs depend on, and computes the others without what else is in the
    /// graph. A failure where it cannot is `unsupported`. The executable's inputs and outputs are the joint graph's.
    virtual CompileResult compile_joint(const Graph& joint, const JointShape& shape, const BackendOptions& options) = 0;
    /// Whether it does so under these options; if not, its backward graphs are cut and compiled as those of others are.
    virtual bool computes_gradients(const BackendOptions&) { return true; }
};

/// Null where the backend does not compute gradients in its own way under these options.
inline OwnGradients* own_gradients(const Backend& backend, const BackendOptions& options) {
    auto* const own = const_cast<OwnGradients*>(offered<OwnGradients>(backend));
    return own && own->computes_gradients(options) ? own : nullptr;
}

/// A compiler whose parts can be switched off by options of its own: which of them does it take to fail?
class Switchable {
  public:
    static constexpr bool kOfInner = true;

    /// A decision of this one compilation, such as a directive of a schedule.
    struct Directive {
        std::string text;             ///< as reports and repros show it
        std::vector<int> needs = {};  ///< positions, in the list, of those without which it cannot be
    };
    /// A pass, which is applied to a graph again and again.
    struct Pass {
        std::string name;
        int applications = 0;
        std::vector<std::string> each = {};  ///< what each application is; fewer than `applications` where unknown
    };
    struct Parts {
        std::vector<Directive> directives = {};  ///< in order, prerequisites first
        std::vector<Pass> passes = {};           ///< in the order in which they are to be suspected
        /// What a directive is called where it belongs to no schedule: "optimizer".
        std::string directive_is = {};
    };

    /// One compilation of a graph under options, looked into.
    class Inspection {
      public:
        virtual ~Inspection() = default;
        /// What there is to switch off.
        virtual const Parts& parts() const = 0;
        /// The graph, which has its failure (a mismatch), fails without any directive: what is wrong already in what
        /// the directives are for? Nothing where that computes `expected` or nobody can say.
        virtual std::optional<Culprit> wrong_before(std::span<const Tensor> expected) {
            return static_cast<void>(expected), std::nullopt;
        }
    };

    virtual ~Switchable() = default;
    /// Null when the graph, which outlives the inspection, cannot be compiled so far.
    virtual std::unique_ptr<Inspection> inspect(const Graph& graph, const BackendOptions& options) = 0;
    /// `options` and, beside what they switch off, these directives (their texts).
    virtual BackendOptions without(BackendOptions options, const std::vector<std::string>& directives) const {
        return switched_off(std::move(options), directives);
    }
    /// `options` with only the first `most` applications of a pass.
    virtual BackendOptions limited(BackendOptions options, const std::string& pass, int most) const {
        return limited_to(std::move(options), pass, most);
    }
};

/// Of ops it may know more than Whittle, even what types their results have: models that do not state these types are
/// read for it all the same.
class ForeignOps {
  public:
    static constexpr bool kOfInner = true;
    virtual ~ForeignOps() = default;
};

/// It can say what it lacks to compile a call, whatever the call's op is.
class Lacking {
  public:
    static constexpr bool kOfInner = true;
    virtual ~Lacking() = default;
    /// "complex numbers (c64)"; empty: nothing.
    virtual std::string lacks(const Graph& graph, const Node& call) const = 0;
};

/// Its results come from LibTorch's kernels, whatever it makes of the graph: LibTorch is no other witness of them.
class RunsLibTorch {
  public:
    static constexpr bool kOfInner = true;
    virtual ~RunsLibTorch() = default;
};

/// Several releases of its compiler are at hand: since which of them does a graph fail?
class Releases {
  public:
    static constexpr bool kOfInner = true;
    virtual ~Releases() = default;
    /// Their names, oldest first; none where there is only one that has no name. Throws Error where the compiler has to
    /// be started for that and cannot be.
    virtual std::vector<std::string> releases() = 0;
    /// The command that installs another one: "…/install VERSION"; empty: none is known. Throws as releases().
    virtual std::string installer() { return {}; }
    /// The one that `options` choose. Throws Error for one that is not among them.
    virtual std::string release_of(const BackendOptions& options) = 0;
    /// `options` with that one, whatever they chose.
    virtual BackendOptions in_release(BackendOptions options, const std::string& release) const = 0;
    /// What Versioned says of the one that `options` choose.
    virtual std::string version_in(const BackendOptions& options) = 0;
    /// The library that makes a process of ours the one that `options` choose, if LD_PRELOAD names it; empty: this
    /// process serves.
    virtual std::filesystem::path library_for(const BackendOptions&) { return {}; }
};

/// The version that runs under `options`; nothing where the backend cannot say.
inline std::string version_of(Backend& backend, const BackendOptions& options) {
    Releases* const releases = offered<Releases>(backend);
    return releases ? releases->version_in(options) : version_of(backend);
}

/// An executable that serves a graph at other sizes, too: offered by what a backend compiled, not by the backend.
class AnySize {
  public:
    virtual ~AnySize() = default;
    /// An executable of `graph`, which is the one that this was compiled of but for sizes, and numbers that follow from
    /// them. Nothing is decided anew that does not depend on sizes; null where it has to be compiled. The backend still
    /// lives. May be called while this runs.
    virtual std::unique_ptr<Executable> at(const Graph& graph) const = 0;
};

/// Null where nothing is known, or where it only serves its own sizes.
inline std::unique_ptr<Executable> at_other_sizes(const Executable* known, const Graph& graph) {
    const AnySize* const any = dynamic_cast<const AnySize*>(known);
    return any ? any->at(graph) : nullptr;
}

}  // namespace whittle
