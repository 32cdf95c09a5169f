#include <algorithm>

#include "base/number_text.h"
#include "base/words.h"
#include "capture/source.h"
#include "graph/text.h"
#include "report/text_parts.h"

namespace whittle::report {

namespace {

constexpr std::size_t kValues = 4, kShapes = 3;  // shown without verbose

/// Without the source line that the stack below shows.
std::string heading(const BreakReason& reason, const Painter& paint) {
    return paint.red(reason.brief.empty() ? reason.reason : reason.brief) + " [" +
           std::string(capture::info(reason.kind).id) + "]";
}

/// The places of a reason, each once: those that differ in columns only look the same. The call stacks of several have
/// titles, or else they would read as one; a place in a model file is a line.
std::vector<std::string> places_of(const BreakReason& reason) {
    std::vector<std::string> places;
    std::vector<std::int64_t> counts;
    bool stacks = false;
    for (const BreakPlace& place : reason.places) {
        std::string shown_as = print(place.user_stack);
        const auto known = std::ranges::find(places, shown_as);
        stacks |= place.node.empty();
        if (known != places.end()) {
            counts[static_cast<std::size_t>(known - places.begin())] += place.count;
            continue;
        }
        places.push_back(std::move(shown_as));
        counts.push_back(place.count);
    }
    if (!stacks || places.size() == 1) return places;
    for (std::size_t i = 0; i < places.size(); ++i)
        places[i] = "   place " + std::to_string(i + 1) + " of " + std::to_string(places.size()) +
                    (counts[i] > 1 ? " (" + plural(counts[i], "time") + ")" : "") + ":\n" + places[i];
    return places;
}

std::string reasons_text(const Report& report, const TextOptions& options, const Painter& paint) {
    if (report.break_reasons.empty()) return {};
    std::string text = paint.bold("Break reasons:") + "\n";
    int number = 0;
    for (const BreakReason& reason : report.break_reasons) {
        const std::string times = reason.count > 1 ? " (" + plural(reason.count, "time") + ")" : "";
        text += reason_text(++number, heading(reason, paint) + times, places_of(reason), reason.hint(), options);
    }
    return text + "\n";
}

/// Sizes as they vary, where they do.
std::string meta_text(const NamedMeta& value) {
    if (value.sizes.empty()) return print(value.meta);
    return std::string(name(value.meta.dtype)) + value.sizes + (value.meta.requires_grad ? " grad" : "");
}

std::string lines_text(const std::string& heading, const std::vector<std::string>& lines, std::size_t most) {
    std::string text;
    const std::size_t shown = whittle::shown_of(lines.size(), most);
    for (std::size_t i = 0; i < shown; ++i) text += "    " + pad_right(i ? "" : heading, 8) + lines[i] + "\n";
    return text + rest_text(12, lines.size(), shown);
}

std::string values_text(const std::string& heading, const std::vector<NamedMeta>& values, std::size_t most) {
    std::vector<std::string> lines;
    for (const NamedMeta& value : values) lines.push_back("%" + value.name + " : " + meta_text(value));
    return lines_text(heading, lines, most);
}

/// "s0 = L['x'].size(0): 5, 6, 7".
std::string symbol_text(const IndexSymbol& symbol) {
    std::string values;
    for (const std::int64_t value : symbol.values) values += (values.empty() ? ": " : ", ") + std::to_string(value);
    return symbol.name + " = " + symbol.place + values;
}

/// " (train, 2 calls): ", " (step, 2 calls (guessed)): ", " (main): ".
std::string frame_text(const GraphSummary& graph) {
    const std::string counted = call_count(graph.calls, graph.calls_guessed);
    return " (" + graph.frame + (counted.empty() ? "" : ", " + counted) + "): ";
}

/// Those that were compiled before this one, which serves their calls as well: "step_0, compiled for %L['x'] : f32[4,
/// 3]".
std::vector<std::string> specializations_text(const Report& report, const GraphSummary& graph) {
    std::vector<std::string> lines;
    for (const GraphSummary& before : report.graphs) {
        if (before.generalized_by != graph.name) continue;
        lines.push_back(before.name);
        for (std::size_t i = 0; i < before.input_values.size() && i < graph.input_values.size(); ++i)
            if (before.input_values[i].meta.sizes != graph.input_values[i].meta.sizes)
                lines.back() += (lines.back() == before.name ? ", compiled for %" : ", %") +
                                before.input_values[i].name + " : " + print(before.input_values[i].meta);
    }
    return lines;
}

std::string graphs_text(const Report& report, const TextOptions& options, const Painter& paint) {
    if (report.graphs.empty()) return {};
    std::string text = paint.bold("Graphs:") + "\n";
    for (const GraphSummary& graph : report.graphs) {
        if (!graph.generalized_by.empty() && !options.verbose) continue;
        const std::string runs = graph.runs > 1 ? ", ran " + plural(graph.runs, "time") : "";
        if (!graph.variant_of.empty() && !options.verbose) {
            text += "  " + graph.name + frame_text(graph) + "as " + graph.variant_of + ", but " + graph.difference +
                    runs + "\n";
            continue;
        }
        text += "  " + graph.name + frame_text(graph) + plural(graph.ops, "op") +
                (graph.nested_graphs
                     ? " and " + std::to_string(graph.nested_ops) + " in " + plural(graph.nested_graphs, "nested graph")
                     : "") +
                ", " + plural(graph.input_values.size(), "input") + ", " +
                plural(graph.output_values.size(), "output") + ", " + plural(graph.parameters, "parameter");
        if (graph.parameters)
            text += " (" + plural(graph.parameter_elements, "element") + ", " + bytes_text(graph.parameter_bytes) + ")";
        text += runs;
        if (graph.compilations > 1)
            text += ", compiled " + plural(graph.compilations, "time") +
                    (graph.symbols.empty() ? "" : ", once for each set of sizes");
        if (options.times && !graph.compile_id.empty()) text += ", compilation [" + graph.compile_id + "]";
        if (options.times && graph.compile_seconds > 0) text += ", compiled in " + seconds_text(graph.compile_seconds);
        const std::size_t most = options.verbose ? static_cast<std::size_t>(-1) : kValues;
        text +=
            '\n' + values_text("inputs", graph.input_values, most) + values_text("outputs", graph.output_values, most);
        if (!graph.capture_fault.empty()) text += "    " + paint.red("CAPTURE FAULT: " + graph.capture_fault) + "\n";
        text += lines_text("writes", graph.updates, most);
        std::vector<std::string> symbols;
        for (const IndexSymbol& symbol : graph.symbols) symbols.push_back(symbol_text(symbol));
        text += lines_text("symbols", symbols, symbols.size());
        const std::vector<std::string> before = specializations_text(report, graph);
        text += lines_text("covers", before, before.size());
        if (!graph.generalized_by.empty()) text += lines_text("covered", {"by " + graph.generalized_by}, 1);
        if (options.guards) text += lines_text("guards", graph.guard_texts(), graph.guards.size());
    }
    const CheckCounts& checks = report.checks;
    if (checks.faults || (checks.checked && checks.checked < checks.graphs)) text += "  " + checks_text(checks) + "\n";
    return text + "\n";
}

std::string recompiles_text(const Report& report, const TextOptions& options, const Painter& paint) {
    if (report.recompiles.empty()) return options.recompiles ? "No recompiles.\n\n" : "";
    if (!options.recompiles)
        return plural(recompile_count(report.recompiles), "recompile") + " (--recompiles shows why)\n\n";
    std::string text = paint.bold("Recompiles:") + "\n";
    int number = 0;
    for (const IndexRecompile& entry : report.recompiles)
        text += reason_text(++number,
                            entry.frame + ": " + paint.red(entry.guard) + " (" + plural(entry.count, "time") + ")",
                            {print(entry.stack)}, entry.advice, options);
    return text + "\n";
}

std::string torch_compilation_text(const TorchCompilation& one, const Painter& paint) {
    std::string text = "  " + one.id + " " + one.function + " (" + one.file + ":" + std::to_string(one.line) +
                       "): " + plural(one.ops, "op") + ", " + plural(one.guards, "guard") + ", " +
                       seconds_text(one.seconds) + "\n";
    for (const std::string& guard : one.failed_guards) text += "      recompiled, failed guard: " + guard + "\n";
    for (const TorchBreak& found : one.breaks) {
        text += "      graph break at " + found.file + ":" + std::to_string(found.line) + ": " +
                paint.red(found.reason) + "\n";
        if (!found.hint.empty()) text += "        hint: " + found.hint + "\n";
    }
    if (!one.error.empty()) text += "      " + paint.red("not compiled: " + one.error) + "\n";
    return text;
}

/// Beside our own graphs, the ones of the program's own torch.compile.
std::string torch_compilations_text(const Report& report, const Painter& paint) {
    if (report.torch_compilations.empty()) return {};
    std::size_t breaks = 0, recompiles = 0;
    for (const TorchCompilation& one : report.torch_compilations)
        breaks += one.breaks.size(), recompiles += !one.failed_guards.empty();
    std::string text = paint.bold("torch.compile compiled " + plural(report.torch_compilations.size(), "graph") +
                                  ", with " + plural(breaks, "graph break") + " and " +
                                  plural(recompiles, "recompile") + ", as PyTorch logs it:") +
                       "\n";
    for (const TorchCompilation& one : report.torch_compilations) text += torch_compilation_text(one, paint);
    return text + "\n";
}

std::string notes_text(const Report& report, const Painter& paint) {
    if (report.notes.empty()) return {};
    std::string text = paint.bold("Notes:") + "\n";
    for (const std::string& note : report.notes) text += "  " + note + "\n";
    return text + "\n";
}

/// "f32[2, 3], f32[4] and 2 more": as many as fit the columns, but one; 0: no limit. Two are both shown.
std::string results_text(const OpUse& use, std::size_t columns, bool verbose) {
    const std::size_t all = use.results.size();
    std::size_t most = verbose ? all : kShapes;
    while (columns && most > 1 && listed(use.results, most).size() > columns) --most;
    return listed(use.results, most);
}

std::string ops_text(const Report& report, const TextOptions& options, const Painter& paint) {
    std::size_t widest = 2;
    for (const OpUse& use : report.ops) widest = std::max(widest, use.op.size());
    std::string text = paint.bold("Ops:") + "\n  count  " + pad_right("op", widest) + "  results\n";
    for (const OpUse& use : report.ops) {
        const std::string start =
            "  " + pad_left(std::to_string(use.count), 5) + "  " + pad_right(use.op, widest) + "  ";
        std::string remark;
        if (!use.known) remark += "  (unknown)";
        if (!use.supported) remark += "  (not supported by " + report.backend + ")";
        const std::size_t taken = start.size() + remark.size();
        const bool narrow = options.columns > taken && !options.verbose;
        text += start + results_text(use, narrow ? options.columns - taken : 0, options.verbose);
        text += (remark.empty() ? "" : paint.red(remark)) + "\n";
    }
    return text + "\n";
}

std::string backend_text(const Report& report, const Painter& paint) {
    const bool asked = !report.graphs.empty() || !report.unsupported.empty() || !report.verdict.empty();
    if (report.backend.empty() || !(asked || report.failing)) return {};
    const std::string backend = "Backend " + report.backend;
    std::string text;
    if (!report.unsupported.empty())
        text += paint.red(backend + " does not support: " + join(report.unsupported)) + "\n";
    if (report.failing && report.unsupported.empty())
        text +=
            paint.red(backend + " fails" + (report.backend_tells ? ", although the backend supports every op." : ".")) +
            "\n";
    text += report.verdict;
    if (text.empty())
        text = backend +
               (report.backend_tells ? " supports every op.\n" : " does not report which ops this backend supports.\n");
    return text;
}

/// What is in the way of --fullgraph=export: inputs that the caller of an exported graph cannot give, a global, a
/// random value; each with its source, the user's stack where it is first read, a hint. Inputs of graphs that were not
/// captured from a program have no source, and are all right.
void add_foreign_inputs(const Frame& frame, std::vector<std::string>& why) {
    const Graph& graph = frame.graph;
    const auto readers = users(graph);
    for (const NodeId id : graph.placeholders()) {
        const std::string& target = graph.node({id}).target;
        const auto source = capture::Source::parse(target);
        if (!source || source->root().kind() == capture::SourceKind::local) continue;
        const bool random = source->root().kind() == capture::SourceKind::random;
        const auto& by = readers.at(static_cast<std::size_t>(id));
        const auto first = std::ranges::find_if(by, [&](NodeId reader) { return !graph.node({reader}).stack.empty(); });
        why.push_back(
            "found input " + target + (random ? ", a random value" : "") + "; expected only parameters of " +
            frame.name + "\n" + (first == by.end() ? "" : print(graph.node({*first}).stack)) +
            (random
                 ? "   hint: draw the random numbers outside of the function, and pass these numbers as an argument\n"
                 : "   hint: pass the tensor as an argument, or register the tensor as a parameter of a module that is "
                   "an argument\n"));
    }
}

}  // namespace

std::string break_page(const capture::BreakInfo& info) {
    const auto line = [](const char* where, std::string_view hint) {
        return hint.empty() ? std::string() : where + std::string(": ") + std::string(hint) + ".\n";
    };
    return "## " + std::string(info.id) + ": " + std::string(info.title) + "\n\n" + std::string(info.explanation) +
           "\n\nTo avoid the break: " + std::string(info.hint) + ".\n" + line("In Python", info.python_hint) +
           line("In a branch that compares the value", info.branch_hint) + line("In an assertion", info.assert_hint) +
           line("With LibTorch, in C++ or Python", info.option_hint) + line("In Whittle's Tensor API", info.api_hint);
}

std::string break_catalogue_page() {
    std::string text =
        "# Graph breaks\n\n"
        "<!-- Generated: explain break all > share/doc/reference/breaks.md -->\n\n"
        "At a graph break, capture ends one graph and begins another. `explain` prints each break with its id, its "
        "reason and\n"
        "its line; `explain break ID` prints one of the entries below.\n";
    for (const capture::BreakInfo& info : capture::break_catalogue()) text += "\n" + break_page(info);
    return text;
}

std::string bytes_text(std::int64_t bytes) {
    const char* const units[] = {"B", "kB", "MB", "GB", "TB"};
    double value = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; value >= 1000 && unit + 1 < std::size(units); ++unit) value /= 1000;
    return fixed(value, unit ? 1 : 0) + ' ' + units[unit];
}

std::string first_break_text(const Report& report) {
    if (!report.first_break) return {};
    const BreakPlace& place = report.first_break->places.at(0);
    const std::string hint = report.first_break->hint();
    return "found a graph break at " + (place.node.empty() ? "" : "%" + place.node + ": ") +
           heading(*report.first_break, Painter({})) + "\n" + print(place.user_stack) +
           (hint.empty() ? "" : "   hint: " + hint + "\n");
}

std::vector<std::string> why_not_whole(const Report& report, const std::vector<Frame>& frames, bool exported) {
    if (report.first_break) return {first_break_text(report)};
    if (frames.empty()) return {"nothing was captured\n"};
    std::vector<std::string> why;
    if (!exported) return why;
    for (const std::string& text : report.constraint_violations) why.push_back(text + "\n");
    for (const Frame& frame : frames) add_foreign_inputs(frame, why);
    return why;
}

std::string to_text(const Report& report, const TextOptions& options) {
    const Painter paint(options);
    std::string text =
        paint.bold("Whittle produced " + plural(report.graph_count(), "graph") + ", with " +
                   plural(report.graph_break_count, "graph break") + " and " + plural(report.op_count, "op") + ".") +
        "\n\n";
    text += reasons_text(report, options, paint);
    text += graphs_text(report, options, paint);
    if (options.ops) text += ops_text(report, options, paint);
    text += recompiles_text(report, options, paint);
    text += torch_compilations_text(report, paint);
    text += notes_text(report, paint);
    return text + backend_text(report, paint);
}

}  // namespace whittle::report
