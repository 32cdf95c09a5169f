// The steps by which a repro grows, each in a file of its own or with its next of kin: what it shows, its program, what
// stands beside that. Those that build and run the program are in verify.h; write_repro() is who takes them.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "compile/kernel_programs.h"
#include "graph/near.h"
#include "repro/repro.h"

namespace whittle::repro {

// ---- what it shows --------------------------------------------------------------------------------------------------

/// What the reference computes of the frame's inputs. Throws Error where it cannot run it.
std::vector<Tensor> reference_outputs(const LoadedFrame& frame);

/// With such inputs and floating-point parameters, and what the reference computes of them; integers among the
/// parameters stay, they may be sizes. Throws Error when the reference cannot run it.
Repro with_data(Repro repro, Data data);
/// With the smallest data that fails in the same way. What a program does not make up by itself is tried where it is
/// little.
Repro with_smallest_data(Repro repro, Backend& backend);
/// "zeros", "the recorded values; with zeros, ones, the program does not fail".
std::string data_text(const Repro& repro);

/// Nothing of the user's in it but what the failure needs: other names for values, parameters, nested graphs and the
/// graph, no stacks and no module paths; then, one tensor after another, made-up values (ones, small numbers, random)
/// in the place of inputs and parameters wherever the graph still fails in the same way: asked of the backend. Integers
/// may be sizes or positions and stay where the reference refuses others. The failure's message is that of a new run.
/// Throws Error where the graph does not fail under other names.
void anonymize(Repro& repro, Backend& backend);

/// Since which release it fails: what minify found is in the failure; otherwise the releases are asked. Empty where
/// nobody can say.
std::string releases_of(const Graph& graph, Backend& backend);
/// What those of Options::also say, each in the version that it says that it has. One that does not know an op, or
/// fails otherwise, cannot tell. Throws Error where one cannot be started.
void ask_also(const Options& options, Repro& repro);

/// Of what is right with one change, the one that says most: what the compiler takes the graph for (`got`, what it
/// computes of it, is right of that one), one of the same values, another one. Nothing where none of the few that are
/// tried is right, each in two runs, or where a run may take its whole limit. `controlled`: something that is switched
/// off makes it right, so that what is right of other values says nothing more.
std::optional<NearCase> near_case(const Repro& repro, std::span<const Tensor> got, bool controlled, Backend& backend);

// ---- the program ----------------------------------------------------------------------------------------------------

/// Gives the repro the short program of the kernel that fails by itself, reduced. False where there is none: `why_not`
/// then says why, as a clause: "it takes two kernels to fail". Asks in children of this process. `programs`: the
/// backend's ability.
bool show_kernel(Repro& repro, Backend& backend, program::KernelPrograms& programs, const Options& options,
                 std::string& why_not);

/// The harness of a repro, whose data are known. The suspect's part is `emitter`'s. The header says that it is not
/// verified.
ReproProgram emit(const Repro& repro, Emitter& emitter, const Options& options);
/// Its header says, in place of that, what became of it: "verified: 3 of 3 runs fail, the control passes".
void claim(ReproProgram& program, const std::string& what);
/// "#include <cmath>\n…": the system's headers, then the standard library's, whose names occur in the code. Code that
/// names something of a header that is not in the table of includes.cpp brings the header itself.
std::string includes_of(const std::string& code);

/// Of a report: the line with the command that shows the failure. Empty where the program was run and does not show it.
std::string next_line(const std::string& command, bool verified, const Options& options);
/// Says in the first lines of each of the programs since which release it fails.
void tell_releases(const Options& options, Repro& repro);

// ---- a bug report, and a bundle: a repro with everything that it takes to show, replay or go on minimizing the
// failure on another machine
// --------------------------------------------------------------------------------------------------

/// Markdown, in the form of the tracker: a line "Title: …", what happens, the program (within the text where it is
/// short, else by its name), how it is built, what it prints, versions. Boxes of the form that only a person can tick
/// stay open.
std::string issue_text(const Repro& repro, const Options& options);
/// What only a person can say of it, a line for each: for who sends it. Of the current release nothing where others
/// were asked and one of them fails, too, or the user states something.
std::string before_sending(const Repro& repro, const Options& options);

/// Adds to a folder that holds the program with its companions and all that it reads:
///   run.sh                    the exact commands: builds and runs it; `sh run.sh control` runs the control
///   candidate.json            the graph with its failure, for minify, repro and explain
///   candidate.onnx, test_data_set_0/   the same for other tools, when the graph is in the ONNX dialect
///   record/                   for replay
///   environment.txt, README.txt, ISSUE.md
///   contents.txt              the names of all these; see note_contents()
/// Throws Error when something cannot be written.
void write_bundle(const std::filesystem::path& folder, const Repro& repro, const Options& options);
/// The files below `folder`, relative to it.
std::set<std::filesystem::path> files_below(const std::filesystem::path& folder);
/// Notes in contents.txt what the bundle in `folder` consists of, after removing what an older one consisted of and
/// this one does not; files that are nobody's bundle stay.
void note_contents(const std::filesystem::path& folder, const std::set<std::filesystem::path>& files);

}  // namespace whittle::repro
