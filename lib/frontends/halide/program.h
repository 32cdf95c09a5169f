// What a run of a program that uses Halide showed: its directives, its pipelines, and what became of them.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "frontends/halide/captured.h"

namespace whittle::halide_program {

/// Where the program calls Halide.
struct Place {
    std::string file = {};  ///< empty without debug information
    int line = 0, column = 0;
    std::string source = {};              ///< the line's text; empty where the file cannot be read
    std::vector<std::string> stack = {};  ///< "/path/app+0x1234", the innermost first; of Python none
    /// "app.cpp:12", relative to the working directory where the file lies in it; without a line "app+0x1234".
    std::string text() const;
};

struct Directive {
    int number = 0;          ///< from 1, in the order of the calls
    std::string key = {};    ///< the same in each run
    std::string owner = {};  ///< the Func, its update, or a buffer's dimension: "f", "f.update(0)", "in.dim(0)"
    std::string name = {};   ///< "vectorize"
    std::string call = {};   ///< "vectorize(xi, 8)"
    Place place = {};
    std::vector<int> needs = {};  ///< numbers of those that make its Func, and the loops that it uses
    int at = 0;                   ///< of the one that makes the loop where the Func is computed or stored; 0: none does
    CapturedCall captured = {};   ///< where pipelines were captured

    /// "f.update(0).vectorize(xi, 8)"
    std::string text() const { return owner + "." + call; }
    /// The Func; the input, where the directive is an ImageParam's.
    std::string func() const;
    /// May be left out: it states no size, and the place where everything is computed without a schedule is not asked
    /// about.
    bool is_candidate() const;
    /// Says where a Func is computed or stored: directives of other Funcs may be valid by it.
    bool places_func() const;
    /// States a size: asked about where all candidates are left out and the program still fails.
    bool states_size() const;
};

/// Something that Halide or the recorder did about a directive: "dependent" (left out, since a loop that it uses was
/// left out), "refused" (by Halide, for something was left out), "moved" (computed or stored elsewhere); or an error of
/// Halide: "compile-error", "runtime-error", "internal-error", "error".
struct Event {
    std::string what = {};
    int of = 0, needs = 0;  ///< numbers of directives; 0: of none
    std::string text = {};
    bool is_error() const;
    /// Of an error: Halide's message, without the words "Error:" before it, and what Halide adds to the name of a loop
    /// that it moves (".$n"); its first line.
    std::string message() const;
};

struct Definition {
    std::string text = {};                  ///< "f(x, y) = …"
    std::vector<std::string> loops = {};    ///< from the outermost: "parallel y"
    std::vector<std::string> domains = {};  ///< of its reduction variables
};
struct Func {
    std::string name = {}, external = {};  ///< the external function that computes it
    std::vector<Definition> definitions = {};
    std::string compute = {}, store = {};  ///< "root", "inlined", "g.x"
};
struct Pipeline {
    std::string entry = {};  ///< "Func::realize"
    std::vector<Func> funcs = {};
    std::string loop_nest = {};  ///< as Halide prints it
};

/// Compiling or running took time.
struct Step {
    enum class Kind : std::uint8_t { lowered, compiled, ran };
    Kind kind = Kind::ran;
    std::string entry = {};
    double seconds = 0;
};

struct Program {
    std::vector<Directive> directives = {};
    std::vector<Pipeline> pipelines = {};
    std::vector<Step> steps = {};
    std::vector<Event> events = {};
    std::vector<CapturedPipeline> captured = {};
    std::vector<CapturedRun> runs = {};   ///< of pipelines, where they were recorded
    std::vector<std::string> notes = {};  ///< what could not be seen, and what to do

    /// It called Halide.
    bool found() const { return !directives.empty() || !steps.empty(); }
    /// The first error; nothing where there is none.
    const Event* first_error() const;
    /// In its own words, with its kind; empty: there is none.
    std::string error() const;
};

/// Reads the files of a program's processes, one behind the other, each a line of JSON for each thing that happens.
Program read_lines(const std::vector<std::string>& files);

/// Finds the lines of the places, which takes a while. Not for several threads at once.
void find_lines(Program& program);

std::string to_text(const Program& program);
nlohmann::json to_json(const Directive& directive);
nlohmann::json to_json(const Program& program);

}  // namespace whittle::halide_program
