// The text of a repro.cpp, from a failing graph.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/emitter.h"
#include "repro/cpp_data.h"
#include "repro/repro.h"

namespace whittle::repro {

struct Emission {
    std::string text;
    std::string summary = {};   ///< what is wrong, in a line: "f() is 2, expected 3"; empty: as the failure has it
    std::string compiler = {};  ///< what is under suspicion, in which version
    std::vector<Sidecar> sidecars = {};
    std::string control = {};                            ///< what must pass when the program is run with "control"
    std::vector<std::filesystem::path> companions = {};  ///< files that the program looks for beside itself first
    std::vector<std::string> arguments = {};  ///< that the program is run with, where its companions are not beside it
    std::string spec_beside = {};             ///< --backend, in a folder with the companions
    std::vector<std::string> compile_flags = {};  ///< what follows "g++ -std=c++17 -O1 repro.cpp -o repro"
    std::optional<ProgramFolder> folder = {};     ///< none: it is C++, and the options' output
    std::vector<OtherProgram> others = {};        ///< beside it
    bool control_in_each_run = false;             ///< nothing is run with "control": each run shows that it passes
    std::string ends_by = {};                     ///< the signal that shows the failure; empty: exit 1 does
    std::string says = {};                        ///< what it prints then, in other numbers and names; empty: anything
    std::string expected = {};                    ///< what is right, in a report; empty: that it ends with status 0
    std::string facts = {};                       ///< Markdown for a bug report; the next two as well
    std::string near = {};
    std::string model = {};
    std::string tracker = {};   ///< whose form a bug report has
    std::string releases = {};  ///< since which it fails (run/release_history.h); empty: unknown
    Also also = {};             ///< of a report alone
    /// The same with the expected values in place of the compiler's results: its check must pass. Null: nothing
    /// compares.
    std::shared_ptr<const Emission> given_expected = {};
};

/// What is known of a repro beside its graph.
struct Facts {
    std::string data;                            ///< the header's words on it: "zeros: real data do not matter"
    std::map<std::size_t, std::uint64_t> seeds;  ///< of inputs that the program makes up (made_up, Data::random)
    std::string releases = {};                   ///< see Emission
};

/// `expected`: one tensor per output, from the reference. The suspect's part is `emitter`'s. The header says that it is
/// not verified.
Emission emit(const Graph& graph, const std::vector<Tensor>& expected, Emitter& emitter, const Options& options,
              const Facts& facts);

/// Its header says, in place of that, what became of it: "verified: 3 of 3 runs fail, the control passes".
void claim(Emission& emission, const std::string& what);

}  // namespace whittle::repro
