// Builds and runs what was written, in a folder that has nothing else: only then does it count.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "repro/repro.h"

namespace whittle::repro {

/// Where a program is: itself, and the folder in which it is built and run.
struct Place {
    std::filesystem::path folder, file;
};
/// Of a program that is written for `root`, the folder of Options::file(): there, or in a folder of its own.
Place place_in(const std::filesystem::path& root, const ReproProgram& program, const Options& options);

/// The program with all that it reads; of one in a folder of its own and of a bundle's, the companions, too.
void write_program(const Place& place, const ReproProgram& program, const Options& options);

/// "repro.cpp", "run.mjs".
std::string name_of(const ReproProgram& program, const Options& options);
/// How it is built, where it is, without a bundle's script; empty: nothing is built.
std::vector<std::string> build_command(const ReproProgram& program, const Options& options);
/// What a user types there after that.
std::vector<std::string> run_command(const ReproProgram& program, const Options& options);
/// The same where its companions are beside it, as a line for a shell.
std::string run_beside(const ReproProgram& program, const Options& options);

/// What brings the program what it needs elsewhere, builds and runs it there: one line for a shell.
std::string all_commands(const ReproProgram& program, const Options& options);

/// What must pass, and did when verified: "conv.vectorize(x, 8) switched off".
std::string control_of(const ReproProgram& program);
/// It is run with "control" for that.
bool runs_control(const ReproProgram& program);

/// The last line of what somebody printed.
std::string last_line(std::string text);

/// Builds the program that was written for `root`, runs it and its control; fills in what became of it.
void verify(const std::filesystem::path& root, const Options& options, Repro& repro);

/// Builds and runs the program that has the expected values in place of the compiler's results, and so what is beside
/// it and was verified: each must pass. Where one does not, the repro says so, and is not verified.
void verify_check(const Options& options, Repro& repro);

}  // namespace whittle::repro
