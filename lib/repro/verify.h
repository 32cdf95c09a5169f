// Builds and runs what was written, in a folder that has nothing else: only then does it count.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "repro/emit.h"
#include "repro/repro.h"

namespace whittle::repro {

/// Where a program is: itself, and the folder in which it is built and run.
struct Place {
    std::filesystem::path folder, file;
};
/// Of an emission that is written for `root`, the folder of the options' output: there, or in a folder of its own.
Place place_in(const std::filesystem::path& root, const Emission& emission, const Options& options);

/// The program with all that it reads; of one in a folder of its own, the companions, too.
void write_program(const Place& place, const Emission& emission);

/// How it is built, where it is, without a bundle's script; empty: nothing is built.
std::vector<std::string> build_command(const Emission& emission, const Options& options);
/// What a user types there after that.
std::vector<std::string> run_command(const Emission& emission, const Options& options);

/// What is built and run, and how.
struct Program {
    std::filesystem::path folder;
    std::vector<std::string> build, run;
    std::map<std::string, std::filesystem::path> lent = {};  ///< to the folder, for so long
    std::string ends_by = {};                                ///< a signal; empty: exit 1 shows the failure
    std::string says = {};  ///< what it must print on standard output, in other numbers and names; empty: anything
    bool control = false;   ///< run with "control" it must pass
    bool checked = false;   ///< a control, of that kind or in each run, passes what compares values
    std::vector<OtherProgram> others = {};
};
Program program_in(const std::filesystem::path& root, const Emission& emission, const Options& options);

/// Builds it, runs it and its control; fills in `report`. `rate`: at which what it shows fails, if not always.
void verify(const Program& program, const Rate& rate, const Options& options, Report& report);

/// Builds and runs `program`, which has the expected values in place of the compiler's results, and so what is beside
/// it and was verified: each must pass. Where one does not, the report says so, and the repro is not verified.
void verify_check(const Program& program, const Options& options, Report& report);

}  // namespace whittle::repro
