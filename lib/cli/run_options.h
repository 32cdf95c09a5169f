// What runs a graph, on what and within which limits, and what counts as a failure: the options that programs share.
// Each is declared here once, and travels as it is to what runs and to the command lines that are printed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/spec.h"
#include "cli/model.h"
#include "graph/backend.h"
#include "graph/failure.h"
#include "judge/suspect.h"
#include "tensor/compare.h"

namespace whittle::cli {

class Tool;

struct BackendChoice {
    std::string name = {};                ///< as the user typed it; empty: the program's default
    std::vector<std::string> pairs = {};  ///< KEY=VALUE
    std::vector<std::filesystem::path> op_libraries = {};

    /// `fallback` is what the help page states as the default.
    void declare(Tool& tool, std::string_view fallback);
    /// --op-library alone.
    void declare_libraries(Tool& tool);
    /// Loads the libraries of ops; before anything is read that may call them. Of the backend that was named: throws
    /// Error where it is not there, or an option cannot have its value; starts this program again as the release of its
    /// compiler that the options choose, where that takes another process (continue_in_release()).
    void check() const;
    /// Without --backend: the one that a record was made with or that a minimized graph fails with, with its options
    /// below those given. The reference, and a failure that a command judged, name none.
    void default_to(const LoadedFrame& frame);
    /// Whether the backend, or where none was named what the frame was recorded or judged with, may know ops that
    /// Whittle does not.
    bool knows_more(const LoadedFrame& frame, std::string_view fallback) const;
    /// The one that was named, else `fallback`.
    BackendSpec spec(std::string_view fallback) const { return name.empty() ? BackendSpec(fallback) : name; }
    /// As they are typed: --backend B --backend-option KEY=VALUE … --op-library FILE.
    std::vector<std::string> words() const;
    /// The options as a map. Throws Error as add_option() does.
    BackendOptions options() const;
};

class Tool;

/// Of programs that run graphs.
inline constexpr char kLimited[] = "each run of a graph";

struct LimitOptions {
    double timeout = 60;                   ///< seconds of wall clock
    std::optional<std::int64_t> cpu = {};  ///< seconds of processor time
    std::int64_t memory = 4096;            ///< MiB

    /// `what` is limited: "one candidate".
    void declare(Tool& tool, const char* what);
    /// Throws Error for values out of range.
    Limits limits() const;
    /// Those that are not the default, as they were given.
    std::vector<std::string> words() const;
};

class Tool;

/// The tolerances that hold without options where records are compared as they say.
inline constexpr char kRecordedTolerances[] =
    "the tolerances in the record, or, if there is no record, a value for each data type";

struct AccuracyChoice {
    std::optional<std::string> mode = {};           ///< of --accuracy
    std::vector<std::string> rtol = {}, atol = {};  ///< "X" or "DTYPE=X"; of rtol also "Nulp"

    /// `means`: what --accuracy does in this program, a sentence. `fallback`: which tolerances hold without options.
    void declare(Tool& tool, const std::string& means, const std::string& fallback = "a value for each data type");
    /// A mode or a tolerance was named.
    bool given() const { return mode || tolerances(); }
    /// Data are chosen on which no operation rounds.
    bool exact() const { return mode == "exact"; }
    bool tolerances() const { return !rtol.empty() || !atol.empty(); }
    /// As accuracy(); nothing: none was named, and each frame's own holds.
    std::optional<Accuracy> chosen() const { return given() ? std::optional(accuracy()) : std::nullopt; }
    /// As they are typed: --accuracy, with the mode if one was named, and the tolerances.
    std::vector<std::string> words() const;
    /// Where no mode was named: a recorded one, with its tolerances unless some were given.
    void default_to(const Accuracy& recorded);
    /// Throws Error for what is no data type or number. X alone is for floating-point results; integers and booleans
    /// are compared exactly unless their type is named.
    Accuracy accuracy() const;
};

class Tool;

struct PaceChoice {
    std::optional<double> factor = {};    ///< of --slower
    std::string than = {};                ///< a backend; empty: see Pace
    std::vector<std::string> pairs = {};  ///< KEY=VALUE

    /// `means`: what --slower does in this program, up to "FACTOR times as long …".
    void declare(Tool& tool, const std::string& means);
    /// Throws Error for --than without --slower, for a factor that is none, and for a backend that is not there.
    /// `alone`: nothing else runs on this machine at the same time that disturbs the times; else jobs are refused.
    void check(const BackendChoice& suspect, bool alone) const;
    /// Of the suspect that runs as `spec` with `options`: nothing without --slower.
    std::optional<Pace> pace(const BackendSpec& spec, const BackendOptions& options) const;
    /// As they are typed.
    std::vector<std::string> words() const;
};

/// Where the release that `options` choose takes the place of a library of this process (Releases in
/// graph/abilities.h), starts this program again, with the same arguments, as that release: to be called before
/// anything is written. Else returns. Throws Error where the release cannot be used.
void continue_in_release(const BackendSpec& spec, const BackendOptions& options);

/// Of one that runs graphs: all of its programs hand it on to each other.
struct RunOptions {
    BackendChoice backend = {};
    AccuracyChoice accuracy = {};
    InputOptions inputs = {};
    LimitOptions limits = {};  ///< of a run of a graph

    /// Where no backend was named, `fallback`. Wrong results are failures where results are to be compared.
    Suspect suspect(std::string_view fallback) const;
    /// As they are typed; those of the accuracy where `wrong` results count.
    std::vector<std::string> words(bool wrong) const;
};

}  // namespace whittle::cli
