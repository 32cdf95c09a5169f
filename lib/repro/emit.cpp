#include "repro/steps.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/number_text.h"
#include "base/program_text.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "compile/planned.h"
#include "expr/loops.h"
#include "graph/text.h"
#include "graph/value_ref.h"
#include "judge/normalize.h"
#include "passes/widen.h"
#include "repro/verify.h"
#include "text/language.h"

namespace whittle::repro {
namespace {

// The claim is what the header's first paragraph ends with.
constexpr std::string_view kNotVerified = "not verified", kNextParagraph = "\n//\n";

std::string comment(const std::string& text, const std::string& prefix) {
    std::string out = "// " + prefix;
    for (char c : text) {
        out += c;
        if (c == '\n') out += "//" + std::string(prefix.size() + 1, ' ');
    }
    return out + "\n";
}

/// As one paragraph: with one empty line behind it, or nothing.
std::string spaced(std::string text) {
    while (text.ends_with('\n')) text.pop_back();
    return text.empty() ? text : text + "\n\n";
}

/// A paragraph that not every program has.
std::string optional_part(bool wanted, std::string_view name, const std::map<std::string, std::string>& values = {}) {
    return wanted ? spaced(fill_template(name, values)) : "";
}

/// As part of a C string literal.
std::string in_literal(const std::string& text) {
    const std::string literal = language::cpp.quoted_lines(text);
    return literal.substr(1, literal.size() - 2);
}

/// As part of a format of printf.
std::string in_format(const std::string& text) {
    std::string doubled;
    for (const char c : text) doubled += c == '%' ? "%%" : std::string(1, c);
    return in_literal(doubled);
}

/// Members of the program's struct Outputs, one per output: named after the nodes, which are unique.
std::vector<std::string> output_members(const Graph& graph) {
    std::vector<std::string> members;
    std::set<std::string> used;
    for (const NodeId id : graph.outputs()) {
        const std::string member = "out_" + graph.node({id}).name;
        members.push_back(used.insert(member).second ? member : member + "_output" + std::to_string(members.size()));
    }
    return members;
}

/// Of words that were too long to keep, those that are whole.
std::string unclipped(const std::string& words) {
    constexpr std::string_view kClipped = " ...";
    if (!words.ends_with(kClipped)) return words;
    return words.substr(0, words.rfind(' ', words.size() - kClipped.size() - 1));
}

/// The C++ condition that the suspect crashed as the signature's detail says: "SIGSEGV", "signal 63", "exit"; another
/// signal is another failure.
std::string crash_like(const std::string& detail) {
    const std::string crash = "ending == Ending::crash";
    if (detail == "exit") return crash + " && signal == 0";
    if (detail.starts_with("signal ")) return crash + " && signal == " + detail.substr(std::string("signal ").size());
    return detail.starts_with("SIG") ? crash + " && signal == " + detail : crash;
}

/// Everything of the program but the suspect's own part: inputs, expected outputs, loops, comparison and verdict.
class ProgramText {
  public:
    ProgramText(const Repro& repro, const Options& options)
        : repro_(repro),
          graph_(repro.graph),
          failure_(repro.failure()),
          expected_(repro.expected),
          options_(options),
          members_(output_members(repro.graph)),
          data_(options.stem()) {}

    ReproProgram write(Emitter& emitter) {
        suspect_ =
            emitter.emit({graph_, expected_, members_,
                          [this](const std::string& name, const Tensor& tensor) { return data_.define(name, tensor); },
                          repro_.gradients});
        if (!suspect_.leaves)
            loops_ = suspect_.loops ? std::move(suspect_.loops) : program::loops_code(graph_, members_);
        const Graph& leaves = suspect_.leaves ? *suspect_.leaves : loops_ ? loops_->graph : graph_;
        const std::string types = suspect_.leaves ? "" : loops_ ? loops_->support : half_types(leaves);
        values_["SUPPORT"] = spaced(types + suspect_.support);
        values_["INPUTS"] = inputs(leaves);
        values_["LOOPS"] =
            loops_ ? spaced("// ---- the same computation as plain loops " + std::string(80, '-') + "\n" + loops_->code)
                   : "";
        values_["SUSPECT"] = spaced(culprit_switch() + suspect_.code);
        compared();
        control();
        judge();
        ReproProgram program{.compiler = suspect_.header,
                             .compile_flags = suspect_.compile_flags,
                             .companions = suspect_.companions,
                             .spec_beside = suspect_.spec_beside,
                             .files = data_.sidecars(),
                             .control_argument = control_};
        values_["HEADER"] = header(program);
        values_["VALUES_MADE_UP"] = optional_part(data_.made_up(), "repro_values.cpp");
        values_["SIDECAR"] = optional_part(!data_.sidecars().empty(), "repro_sidecar.cpp");
        values_["BESIDE"] = optional_part(suspect_.code.find("beside(") != std::string::npos, "repro_beside.cpp");
        values_["INCLUDES"] = "";
        const std::string own = includes_of(fill_template("repro_common.cpp", values_));
        values_["INCLUDES"] = (suspect_.includes.empty() ? "" : suspect_.includes + "\n\n") + chomped(own);
        program.text = fill_template("repro_common.cpp", values_);
        return program;
    }

  private:
    const std::optional<Culprit>& culprit() const { return failure_.culprit; }
    bool switches_culprit() const { return suspect_.reads_culprit && culprit() && !culprit()->directive.empty(); }

    std::string culprit_switch() const {
        if (!switches_culprit()) return "";
        return "// The culprit: " + culprit()->directive +
               ". To switch the culprit off, set culprit_on to false, or run ./" + options_.stem() +
               " control.\nstatic bool culprit_on = true;\n\n";
    }

    std::string inputs(const Graph& graph) {
        std::string text;
        std::size_t next = 0;
        for (const Node& node : graph.nodes) {
            if (node.kind != NodeKind::placeholder && node.kind != NodeKind::get_attr) continue;
            const bool input = node.kind == NodeKind::placeholder;
            const Tensor& value = input ? failure_.inputs.at(next++) : graph.attributes.at(node.target);
            const auto seed = input ? repro_.seeds.find(next - 1) : repro_.seeds.end();
            text += seed == repro_.seeds.end() ? data_.define("in_" + node.name, value)
                                               : data_.define_random("in_" + node.name, value, seed->second);
        }
        return text;
    }

    /// The reduced floats that inputs and outputs need, where no loops bring them.
    static std::string half_types(const Graph& graph) {
        std::string text;
        for (const DType dtype : kAllDTypes) {
            if (!is_reduced(dtype)) continue;
            bool used = false;
            for (const Node& node : graph.nodes)
                for (const ValueMeta& meta : node.results) used |= meta.dtype == dtype;
            if (used) text += expr::half_support_cpp(dtype);
        }
        return text;
    }

    /// The functions that compare: what these outputs take and no more. Whether steps between values count.
    bool comparison(bool fp64) {
        const auto any = [&](auto&& holds) { return std::ranges::any_of(expected_, holds); };
        const bool reduced = any([](const Tensor& tensor) { return is_reduced(tensor.dtype()); });
        const bool ulp = any([&](const Tensor& tensor) { return failure_.accuracy.tolerance(tensor.dtype()).ulp > 0; });
        values_["NUMBER"] = reduced ? "number" : "double";
        values_["NUMBER_TEXT"] = optional_part(reduced, "repro_number.cpp");
        values_["OVERLOADS"] = "";
        for (const DType dtype : {DType::i64, DType::u64}) {
            if (!any([&](const Tensor& tensor) { return tensor.dtype() == dtype; })) continue;
            const std::string overloads = fill_template("repro_close.cpp", {{"LONG", language::cpp.type(dtype)}});
            values_["OVERLOADS"] += (values_["OVERLOADS"].empty() ? "" : "\n") + chomped(overloads);
        }
        const bool complex = any([](const Tensor& tensor) { return is_complex(tensor.dtype()); });
        if (complex && ulp)
            throw Error("a C++ repro cannot compare complex numbers in units in the last place",
                        "pass --rtol without ulp");
        if (complex)
            values_["OVERLOADS"] +=
                (values_["OVERLOADS"].empty() ? "" : "\n") + chomped(fill_template("repro_close_complex.cpp", {}));
        const bool as_they_are = !values_["OVERLOADS"].empty();
        values_["WHY"] =
            complex
                ? "Elements are compared and printed in their own types."
                : "Integers of 64 bits are compared and printed as integers, because double would round such numbers.";
        values_["VALUE"] = as_they_are ? "value" : values_["NUMBER"];
        values_["SHOWN_AS"] = as_they_are ? "%s" : "%.9g";
        for (const auto& [key, element] :
             {std::pair("SHOWN_GOT", "got[i]"), std::pair("SHOWN_EXPECTED", "expected[i]")})
            values_[key] = as_they_are ? "shown(value(" + std::string(element) + ")).c_str()"
                                       : values_["NUMBER"] + "(" + element + ")";
        values_["INT64"] = optional_part(as_they_are, "repro_as_they_are.cpp", values_);
        values_["STEPS"] = optional_part(ulp, "repro_steps.cpp");
        values_["ULP"] = ulp ? ", double ulp" : "";
        values_["ULP_ARGUMENT"] = ulp ? ", ulp" : "";
        values_["OR_STEPS"] = ulp ? chomped(fill_template("repro_or_steps.cpp", values_)) : "";
        values_["SIGNED_ZEROS"] = strict() ? fill_template("repro_signed_zeros.cpp", {}) : "";
        values_["FP64"] = optional_part(fp64, "repro_fp64.cpp", values_);
        return ulp;
    }

    /// The expected outputs and how they are compared.
    void compared() {
        std::string members, definitions, compare;
        std::int64_t total = 0;
        std::vector<Tensor> exact;
        if (failure_.accuracy.mode == Accuracy::Mode::fp64)
            exact = evaluate_exactly(graph_, failure_.inputs).value_or(exact);
        const bool ulp = comparison(!exact.empty());
        for (std::size_t i = 0; i < expected_.size(); i++) {
            const Tensor expected = expected_[i].contiguous();
            if (expected.numel() == 0) continue;  // nothing to compare, and C++ has no empty arrays
            const std::string &member = members_[i], count = std::to_string(expected.numel());
            const Tolerance tolerance = failure_.accuracy.tolerance(expected.dtype());
            members += "    " + language::cpp.type(expected.dtype()) + " " + member + "[" + count + "];  // " +
                       std::string(name(expected.dtype())) + to_string(expected.sizes()) + "\n";
            definitions += data_.define("expected_" + member, expected);
            const bool fp64 = i < exact.size() && is_floating(expected.dtype());
            if (fp64) definitions += data_.define("exact_" + member, exact[i].contiguous());
            compare += "    wrong += differing(who, \"" + member.substr(4) + "\", got." + member + ", expected_" +
                       member + (fp64 ? ", exact_" + member : "") + ", " + count + ", " +
                       shortest(tolerance.rtol, false) + ", " + shortest(tolerance.atol, false) +
                       (ulp ? ", " + shortest(tolerance.ulp, false) : "") +
                       (fp64 ? ", " + shortest(failure_.accuracy.multiplier, false) : "") + ");\n";
            total += expected.numel();
        }
        values_["MEMBERS"] = chomped(members);
        values_["EXPECTED"] = definitions;
        values_["COMPARE"] = chomped(compare);
        values_["VALUES"] = std::to_string(total);
    }

    /// What runs in the suspect's place and must pass.
    void control() {
        values_["PROGRAM"] = options_.stem();
        if (switches_culprit()) {
            control_ = culprit()->directive + " switched off";
            values_["CONTROL"] = "    culprit_on = false;\n    under_test(out);";
        } else if (loops_ && !strict() && !suspect_.judges_reference && !(culprit() && culprit()->before_compiler())) {
            control_ = "plain loops instead of the compiler";
            values_["CONTROL"] = "    run_loops(out);";
        } else {
            control_ = "the recorded outputs instead of the compiler";
            std::string copies;
            for (std::size_t i = 0; i < expected_.size(); i++)
                if (expected_[i].numel())
                    copies += "    std::memcpy(out." + members_[i] + ", expected_" + members_[i] + ", sizeof out." +
                              members_[i] + ");\n";
            values_["CONTROL"] = chomped(copies);
        }
        values_["CONTROL_WHAT"] = control_;
        values_["CONTROL_SAID"] = in_format(control_);
    }

    /// Results must have the reference's bits, which loops in another order of rounding have not.
    bool strict() const { return failure_.accuracy.mode == Accuracy::Mode::strict; }

    /// The minimized graph's ops, as the culprit of a backend that we know nothing of.
    std::string ops() const {
        std::string text;
        std::set<std::string> seen;
        for (const NodeId id : graph_.calls()) {
            const std::string& target = graph_.node({id}).target;
            if (is_getitem(graph_.node({id})) || !seen.insert(target).second) continue;
            if (seen.size() > 3) return text + ", ...";
            text += (text.empty() ? "" : ", ") + target;
        }
        return text.empty() ? "a graph without ops" : text;
    }

    /// Who is to blame when the suspect is wrong.
    std::string accused() const {
        if (culprit() && culprit()->component == "schedule") return culprit()->text();
        if (culprit() && culprit()->component == "switch")
            return "the " + culprit()->text() + " of " + (suspect_.called.empty() ? failure_.backend : suspect_.called);
        if (!suspect_.label.empty()) return suspect_.label;
        return "the backend " + (suspect_.called.empty() ? failure_.backend : suspect_.called) + " on " + ops();
    }

    /// And when the loops are wrong, too.
    std::string accused_with_loops() const {
        if (strict()) return "neither the backend nor the loops match the reference bit for bit (--accuracy=strict)";
        const bool known = culprit() && culprit()->before_compiler();
        return "BUG in " + (known ? "the " + culprit()->text() : suspect_.lowering) +
               " (the plain loops are wrong, too)";
    }

    /// The main function. What ends a process, or must not take the machine, runs in a child of it; what is seen in a
    /// result or caught does not, and a debugger stops where it happens.
    void judge() {
        const std::string& kind = failure_.signature.kind;
        values_["SUSPECT_NAME"] = suspect_.name;
        values_["ACCUSED"] = in_format(accused());
        values_["FAILURE"] = in_format(failure_.signature.heading());
        values_["RECORDED"] = in_format(failure_.text());
        values_["ALARM"] = std::to_string(options_.alarm + suspect_.more_seconds);
        values_["SAYS"] =
            optional_part(kind == "exception", "repro_says.cpp", {{"NORMALIZER", std::string(normalizer_text())}});
        if (kind == "mismatch") {
            judge_values();
        } else if (kind == "exception") {
            values_["RECOGNIZED"] =
                "says(error.what(), " + language::cpp.quoted_lines(unclipped(failure_.signature.detail)) + ")";
            values_["THROWN"] = fill_template("repro_thrown.cpp", values_);
            values_["VERDICT"] = chomped(fill_template("repro_verdict_gone.cpp", values_));
        } else {
            values_["MEMORY"] = std::to_string(Limits().memory >> 20);
            values_["ENDING"] = kind == "timeout"         ? "ending == Ending::hang"
                                : kind == "out_of_memory" ? "(ending == Ending::exception || ending == Ending::crash)"
                                                          : crash_like(failure_.signature.detail);
            values_["MAIN"] = chomped(fill_template("repro_main_child.cpp", values_));
            return;
        }
        values_["MAIN"] = chomped(fill_template("repro_main.cpp", values_));
    }

    /// The verdict on wrong results, by the loops where there are some.
    void judge_values() {
        const std::string& detail = failure_.signature.detail;
        const std::string suspect = "\"BUG in " + in_literal(accused()) + "\"";
        const std::string both = "\"" + in_literal(accused_with_loops()) + "\"";
        values_["RECOGNIZED"] = "!std::strncmp(error.what(), \"mismatch: \", 10)";
        values_["THROWN"] =
            detail == "value" || detail == "nan_or_inf" ? "" : fill_template("repro_thrown.cpp", values_);
        values_["RUN_LOOPS"] = loops_ ? fill_template("repro_run_loops.cpp", {}) : "";
        values_["IN_LOOPS"] = loops_ ? ", %ld in loops" : "";
        values_["WRONG_LOOPS"] = loops_ ? ", wrong_loops" : "";
        values_["BLAMED"] = loops_ ? "wrong_loops ? " + both + " : " + suspect : suspect;
        values_["VERDICT"] = chomped(fill_template("repro_verdict_mismatch.cpp", values_));
    }

    /// The machine and the versions, of all that is known of them what tells one machine's results from another's.
    std::string environment() const {
        std::string text;
        for (const char* key : {"os", "kernel", "cpu", "whittle"}) {
            const auto found = options_.environment.find(key);
            if (found == options_.environment.end()) continue;
            text += (text.empty() ? "" : "; ") + (key == std::string_view("whittle") ? "Whittle " : std::string()) +
                    found->second;
        }
        return text;
    }

    std::string header(const ReproProgram& program) const {
        std::string text = comment(options_.file().filename().string() + " - written by Whittle, `" + options_.command +
                                       "`; " + std::string(kNotVerified),
                                   "") +
                           std::string(kNextParagraph).substr(1);
        text += comment(failure_.signature.heading() + ": " + failure_.message, "  failure    ");
        text += comment(plural(graph_.calls().size(), "op"), "  graph      ");
        text += comment(chomped(print(graph_)), "    ");
        text += comment(suspect_.header, "  suspect    ");
        if (culprit()) text += comment(culprit()->text(), "  culprit    ");
        if (!repro_.releases.empty()) text += comment(repro_.releases, "  releases   ");
        const std::string run = shell_quote({"./" + options_.stem()});  // finds its companions by itself
        text += comment(shell_quote(build_command(program, options_)) + " && " + run, "  build      ");
        text += "//   exit       1: the bug is there, 0: the bug is gone, 2: something else went wrong\n";
        text += comment(run + " control runs the control, which must pass (exit 0): " + control_, "  control    ");
        text += comment(data_text(repro_), "  data       ");
        if (const std::string on = environment(); !on.empty()) text += comment(on, "  on         ");
        return chomped(text);
    }

    const Repro& repro_;
    const Graph& graph_;
    const Failure& failure_;
    const std::vector<Tensor>& expected_;
    const Options& options_;
    const std::vector<std::string> members_;
    DataWriter data_;
    SuspectCode suspect_;
    std::optional<LoopsCode> loops_;
    std::string control_;                        ///< what must pass
    std::map<std::string, std::string> values_;  ///< of the templates, by their keys
};

}  // namespace

ReproProgram emit(const Repro& repro, Emitter& emitter, const Options& options) {
    return ProgramText(repro, options).write(emitter);
}

void claim(ReproProgram& program, const std::string& what) {
    const std::size_t end = program.text.find(kNextParagraph), begin = end - kNotVerified.size();
    WHITTLE_CHECK(end != std::string::npos && program.text.compare(begin, end - begin, kNotVerified) == 0,
                  "a program that claims something already");
    program.text.replace(begin, end - begin, what);
}

}  // namespace whittle::repro
