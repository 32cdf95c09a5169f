#include "record/full_code.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "base/error.h"
#include "base/files.h"
#include "base/program_text.h"
#include "base/words.h"
#include "graph/text.h"
#include "printers/api_spelling.h"
#include "printers/cpp_source.h"
#include "record/guard_code.h"
#include "text/language.h"
#include "trace/folder.h"
#include "trace/record.h"

namespace whittle {
namespace fs = std::filesystem;
using language::cpp;
using printers::to_cpp;

namespace {

/// A graph of the frame with one recorded call of it.
struct RecordedGraph {
    const IndexGraph* entry = nullptr;
    const IndexRecord* recorded = nullptr;
    LoadedRecord record;
};

class FrameWriter {
  public:
    FrameWriter(const TraceIndex& index, std::string name, std::vector<RecordedGraph> graphs)
        : index_(index), name_(std::move(name)), graphs_(std::move(graphs)) {
        place_breaks();
    }

    std::string text(const std::string& records_folder) {
        const std::vector<std::size_t> starts = entries();
        std::size_t breaks = 0;
        for (std::size_t i = 0; i <= graphs_.size(); ++i) breaks += before_[i].size();
        for (std::size_t i = 0; i < graphs_.size(); ++i) breaks += ends(i) != nullptr;
        const std::string about =
            "// The code that runs in place of " + name_ + ": " + plural(graphs_.size(), "graph") + ", " +
            plural(breaks, "graph break") +
            (starts.size() > 2 ? ", " + plural(starts.size() - 1, "path") + " through the function" : "") + ".\n" +
            recompiled() + elsewhere() + unsupported();
        std::string code, table;
        for (std::size_t i = 0; i < graphs_.size(); ++i) code += compiled(i);
        for (std::size_t e = 0; e + 1 < starts.size(); ++e) {
            begin_ = starts[e], end_ = starts[e + 1];
            const std::string scope = "entry_" + std::to_string(e);
            code += about_entry(starts, e) + "namespace " + scope + " {\n\n";
            code += locals();  // finds what guards() speaks of
            code += guards();
            for (std::size_t i = end_; i-- > begin_;) code += step(i);
            code += "\n}  // namespace " + scope + "\n\n";
            table += "    {{" + records() + "}, " + scope + "::__set_locals, " + scope + "::__guards, " + scope +
                     "::__run},\n";
        }
        return fill_template("full_code.cpp", {{"ABOUT", about},
                                               {"OPS", printers::unsupported_ops_code()},
                                               {"CODE", code},
                                               {"ENTRIES", table},
                                               {"RECORDS", records_folder}});
    }

  private:
    /// Finds the breaks that end no graph here: with no operation since the break before, they lie before the graph
    /// that the program reached next.
    void place_breaks() {
        const auto same_place = [](const IndexBreak& a, const IndexBreak& b) {
            return a.id == b.id && a.brief == b.brief && place_of(a) == place_of(b);
        };
        std::vector<const IndexBreak*> written;
        for (std::size_t i = 0; i < graphs_.size(); ++i)
            if (const IndexBreak* end = ends(i)) written.push_back(end);
        before_.resize(graphs_.size() + 1);
        for (const IndexBreak& entry : index_.breaks) {
            if (entry.frame != name_ ||
                std::ranges::any_of(written, [&](const IndexBreak* other) { return same_place(*other, entry); }))
                continue;
            written.push_back(&entry);
            const auto next = std::ranges::find_if(
                graphs_, [&](const RecordedGraph& graph) { return graph.entry->order >= entry.order; });
            const bool known = entry.order && (next != graphs_.end() || (graphs_.back().entry->order && ends_last()));
            if (known)
                before_[static_cast<std::size_t>(next - graphs_.begin())].push_back(&entry);
            else
                elsewhere_.push_back(&entry);
        }
    }
    /// A break ends the last graph, so that others may follow in the same call.
    bool ends_last() const { return ends(graphs_.size() - 1) != nullptr; }

    /// Breaks of other calls, or of a trace that does not say when they came.
    std::string elsewhere() const {
        std::vector<std::string> lines;
        for (const IndexBreak* entry : elsewhere_)
            lines.push_back("//   " + Language::remark(place_of(*entry) + ": " + entry->reason));
        if (lines.empty()) return {};
        return "// On other paths, the program also stopped at " + plural(lines.size(), "place") + ":\n" +
               first_of(lines);
    }

    static std::string first_of(const std::vector<std::string>& lines) {
        constexpr std::size_t kShown = 8;
        const std::size_t shown = shown_of(lines.size(), kShown);
        std::string text;
        for (std::size_t i = 0; i < shown; ++i) text += lines[i] + '\n';
        if (shown < lines.size()) text += "//   and " + std::to_string(lines.size() - shown) + " more\n";
        return text;
    }

    /// The graphs of later calls, which are not here: each reads as the one that it differs from.
    std::string recompiled() const {
        std::vector<std::string> lines;
        for (const IndexGraph& graph : index_.graphs)
            if (graph.frame == name_ && !graph.variant_of.empty())
                lines.push_back("//   " + Language::remark(graph.name + ": like " + graph.variant_of + ", but " +
                                                           graph.difference));
        if (lines.empty()) return {};
        return "// " + plural(lines.size(), "recompiled graph") +
               " of later calls, each equal to a graph below except for one difference:\n" + first_of(lines);
    }

    /// What has to be written before the code runs to its end.
    std::string unsupported() const {
        std::vector<std::string> all;
        for (const RecordedGraph& recorded : graphs_)
            for (const std::string& op : printers::ops_without_code(recorded.record.graph)) add_once(all, op);
        if (all.empty()) return {};
        return "// Whittle's API has no function for " + join(all) +
               ". Replace each __unsupported(…) by a call of the\n"
               "// program's own function, on the operands that the source line beside the call names.\n";
    }

    /// Where each path through the function begins, and the end: after its last graph, the function returns.
    std::vector<std::size_t> entries() const {
        std::vector<std::size_t> starts = {0};
        for (std::size_t i = 1; i < graphs_.size(); ++i)
            if (!graphs_[i - 1].entry->ended_by_break) starts.push_back(i);
        starts.push_back(graphs_.size());
        return starts;
    }

    bool continues(std::size_t first) const {
        for (const NodeId id : graph(first).placeholders())
            if (const auto source = capture::Source::parse(graph(first).node({id}).target);
                source && source->root().kind() == capture::SourceKind::live)
                return true;
        return false;
    }
    std::string about_entry(const std::vector<std::size_t>& starts, std::size_t e) const {
        if (continues(starts[e]))
            return "/// Another path after a graph break above, with the values that were live at the break. Each "
                   "graph is called once,\n/// even if a loop ran the graph more often.\n";
        return "/// One path through the function. Each graph is called once, even if a loop ran the graph more "
               "often.\n";
    }

    const Graph& graph(std::size_t i) const { return graphs_[i].record.graph; }
    /// Graph i's recorded call, in the generated code.
    std::string recorded(std::size_t i) const { return "frame.recorded[" + std::to_string(i - begin_) + ']'; }

    std::string compiled(std::size_t i) {
        const Graph& g = graph(i);
        const IndexGraph& entry = *graphs_[i].entry;
        const std::string ran = entry.runs > 1 ? ", which the program ran " + plural(entry.runs, "time") : "";
        return "/// " + g.name + ": " + plural(entry.ops, "operation") + ran + ".\n" +
               to_cpp(g, "__compiled_fn_" + std::to_string(i)) + '\n';
    }

    std::string records() const {
        const std::span here = std::span(graphs_).subspan(begin_, end_ - begin_);
        return join(here, [](const RecordedGraph& g) { return cpp.quoted(g.recorded->file.generic_string()); });
    }

    std::string locals() {
        first_value_.clear();
        std::string text =
            "/// Sets the function's arguments to the recorded values.\n"
            "void __set_locals([[maybe_unused]] Frame& frame) {\n";
        for (std::size_t i = begin_; i < end_; ++i) {
            const std::vector<NodeId> placeholders = graph(i).placeholders();
            for (std::size_t k = 0; k < placeholders.size(); ++k) {
                const auto name = input_name(graph(i).node({placeholders[k]}));
                if (!name || !first_value_.emplace(*name, &graphs_[i].record.record.inputs[k]).second) continue;
                text +=
                    "    frame.L[" + cpp.quoted(*name) + "] = " + recorded(i) + ".inputs[" + std::to_string(k) + "];\n";
            }
        }
        std::set<std::string> told;
        for (const IndexGuard& guard : graphs_[begin_].entry->guards)
            if (const auto scalar = code_of(guard).scalar; scalar && told.insert(scalar->first).second)
                text += "    frame.S[" + cpp.quoted(scalar->first) + "] = " + scalar->second + ";\n";
        return text + "}\n\n";
    }

    std::string guards() const {
        std::string text =
            "/// Returns whether the graphs are valid for a call. If not, the next specialization is tried; if there "
            "is none, the\n/// function is captured again.\n"
            "bool __guards([[maybe_unused]] Frame& frame) {\n";
        std::set<std::string> symbols;
        for (const IndexGuard& entry : graphs_[begin_].entry->guards)
            for (const capture::SizeSymbol& symbol :
                 entry.guard ? symbols_of(*entry.guard) : std::vector<capture::SizeSymbol>())
                if (const std::string code = symbol_code(symbol, first_value_);
                    !code.empty() && symbols.insert(symbol.name).second)
                    text += "    " + code + '\n';
        for (const IndexGuard& guard : graphs_[begin_].entry->guards) {
            const GuardCode code = code_of(guard);
            if (code.condition.empty())
                text += "    // " + Language::remark(guard.text()) + "  (not checked: " + code.why_not + ")\n";
            else
                text += "    if (!(" + code.condition + ")) return false;  // " + Language::remark(guard.text()) + '\n';
        }
        return text + "    return true;\n}\n\n";
    }

    GuardCode code_of(const IndexGuard& entry) const {
        if (!entry.guard) return {.why_not = "an older version of Whittle wrote this guard only as text"};
        return guard_code(*entry.guard, first_value_);
    }

    /// Of a placeholder that stands for a local or a global.
    static std::optional<std::string> input_name(const Node& placeholder) {
        const auto source = capture::Source::parse(placeholder.target);
        return source ? local_name(*source) : std::nullopt;
    }

    std::string argument(std::size_t i, std::size_t k) const {
        const Node& placeholder = graph(i).node({graph(i).placeholders()[k]});
        const Tensor& value = graphs_[i].record.record.inputs[k];
        const std::string own = recorded(i) + ".inputs[" + std::to_string(k) + ']';
        if (const auto name = input_name(placeholder)) {
            const Tensor& first = *first_value_.at(*name);
            return same_bits(first, value) ? "frame.L[" + cpp.quoted(*name) + ']'
                                           : own + " /* " + *name + ", changed since */";
        }
        for (std::size_t earlier = i; earlier-- > begin_;) {
            const std::vector<Tensor>& left = graphs_[earlier].record.record.expected;
            for (std::size_t output = 0; output < left.size(); ++output)
                if (same_bits(left[output], value))
                    return "frame.left[" + std::to_string(earlier - begin_) + "][" + std::to_string(output) + ']';
        }
        return own + " /* " + placeholder.target + ", computed outside of the graphs */";
    }

    std::string call(std::size_t i) const {
        std::vector<std::string> arguments;
        for (std::size_t k = 0; k < graph(i).placeholders().size(); ++k) arguments.push_back(argument(i, k));
        if (!graph(i).attributes.empty()) arguments.push_back(recorded(i) + ".parameters");
        return "    frame.left.push_back(__compiled_fn_" + std::to_string(i) + '(' + join(arguments) + "));\n";
    }

    const IndexBreak* ends(std::size_t i) const {
        const auto position = graphs_[i].entry->ended_by_break;
        return position ? &index_.breaks.at(*position) : nullptr;
    }

    static int line_of(const IndexBreak& entry) { return entry.stack.empty() ? 0 : entry.stack.front().line; }

    /// The function that runs graph i: the whole, or where it resumes after the break before.
    std::string step_name(std::size_t i) const {
        if (i == begin_) return "__run";
        const IndexBreak* before = ends(i - 1);
        return "__resume_at_" + std::to_string(before ? line_of(*before) : 0) + '_' + std::to_string(i);
    }

    static std::string place_of(const IndexBreak& entry) {
        if (entry.stack.empty() || entry.stack.front().file.empty()) return "?";
        const StackFrame& top = entry.stack.front();
        return fs::path(top.file).filename().string() + ':' + std::to_string(top.line);
    }

    static std::string stop(const IndexBreak& entry) {
        const std::string times = entry.count > 1 ? " (" + plural(entry.count, "time") + ")" : "";
        return "    // " + Language::remark(entry.reason + times) + "\n    __break(" + cpp.quoted(entry.id) + ", " +
               cpp.quoted(place_of(entry)) + ", " +
               cpp.quoted(entry.stack.empty() ? std::string() : entry.stack.front().text) + ");\n";
    }

    std::string step(std::size_t i) const {
        std::string text = "void " + step_name(i) + "(Frame& frame) {\n";
        for (const IndexBreak* entry : before_[i]) text += stop(*entry);
        text += call(i);
        if (const IndexBreak* end = ends(i)) text += stop(*end);
        if (i + 1 == graphs_.size())
            for (const IndexBreak* entry : before_.back()) text += stop(*entry);
        if (i + 1 < end_) text += "    " + step_name(i + 1) + "(frame);\n";
        return text + "}\n" + (i > begin_ ? "\n" : "");
    }

    const TraceIndex& index_;
    const std::string name_;
    std::vector<RecordedGraph> graphs_;
    std::vector<std::vector<const IndexBreak*>> before_ = {};  ///< breaks before each graph, and behind the last one
    std::vector<const IndexBreak*> elsewhere_ = {};            ///< that have no place among the graphs
    std::size_t begin_ = 0, end_ = 0;                          ///< the specialization being written
    LocalTensors first_value_;                                 ///< of each local
};

/// The frame's graphs that have a record, in order.
std::vector<RecordedGraph> graphs_of(const TraceIndex& index, const fs::path& folder, const std::string& frame) {
    std::vector<RecordedGraph> graphs;
    for (const IndexGraph& graph : index.graphs) {
        if (graph.frame != frame || !graph.variant_of.empty()) continue;  // it reads as the graph that it varies
        const auto record =
            std::ranges::find_if(index.records, [&](const IndexRecord& r) { return r.graph == graph.name; });
        if (record == index.records.end()) continue;
        RecordedGraph recorded{&graph, &*record, load_record(folder / record->file)};
        if (recorded.record.graph.dialect == "aten") graphs.push_back(std::move(recorded));
    }
    return graphs;
}

}  // namespace

FullCode full_code(const fs::path& folder, const std::string& records) {
    const TraceIndex index = load_index(folder);
    FullCode made;
    for (const std::string& frame : index.frames) {
        std::int64_t ops = 0;
        for (const IndexGraph& graph : index.graphs)
            if (graph.frame == frame && graph.variant_of.empty()) ops += graph.ops;
        if (ops > kMostOpsInCode) {
            made.notes.push_back("no full_code.cpp for " + frame + ": found " + std::to_string(ops) +
                                 " operations, expected at most " + std::to_string(kMostOpsInCode));
            continue;
        }
        std::vector<RecordedGraph> graphs = graphs_of(index, folder, frame);
        if (!graphs.empty())
            made.functions.push_back({frame, FrameWriter(index, frame, std::move(graphs)).text(records)});
    }
    return made;
}

FullCode write_full_code(const fs::path& folder) {
    FullCode code = full_code(folder, "std::filesystem::path(__FILE__).parent_path().parent_path().parent_path()");
    TraceWriter writer = TraceWriter::continued(folder);
    for (FullCode::Function& function : code.functions) {
        function.file = folder / "code" / identifier(function.frame) / "full_code.cpp";
        write_file(function.file, function.text);
        writer.add_file(function.file.lexically_relative(folder));
    }
    writer.save();
    return code;
}

}  // namespace whittle
