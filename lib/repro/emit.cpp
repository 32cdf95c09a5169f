#include "repro/emit.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "backends/command/command.h"
#include "backends/halide/build_info.h"
#include "backends/halide/halide_text.h"
#include "backends/halide/plan.h"
#include "base/error.h"
#include "base/files.h"
#include "base/subprocess.h"
#include "expr/loops.h"
#include "graph/json.h"
#include "graph/json_text.h"
#include "graph/text.h"
#include "passes/widen.h"
#include "repro/kernel_text.h"
#include "repro/templates.h"

namespace whittle::repro {
namespace fs = std::filesystem;

namespace {

using halide::Kernel;
using halide::Plan;
using halide::ValueKey;

std::string comment(const std::string& text, const std::string& prefix) {
    std::string out = "// " + prefix;
    for (char c : text) {
        out += c;
        if (c == '\n') out += "//" + std::string(prefix.size() + 1, ' ');
    }
    return out + "\n";
}

/// What both kinds of repro share.
class Emitter {
  public:
    Emitter(const Graph& graph, const std::vector<Tensor>& expected, const Options& options, const Facts& facts)
        : graph_(graph), expected_(expected), options_(options), facts_(facts), data_(options.output.stem().string()) {}

    Emission halide() {
        auto planned = halide::plan(graph_, graph_.failure->options);
        if (const auto* failure = std::get_if<BackendFailure>(&planned)) throw Error(failure->message);
        const Plan& plan = std::get<Plan>(planned);
        const Names names(plan.graph, plan.outputs);
        common(names);
        // Every kernel is compiled when it is called; a loaded machine takes a second or two for one.
        values_["ALARM"] = std::to_string(options_.alarm.count() + 2 * static_cast<std::int64_t>(plan.kernels.size()));
        define_inputs(plan.graph, names);
        const std::vector<const expr::Group*> groups = groups_of(plan);
        values_["SUPPORT"] = expr::support_cpp(groups) + halide::halide_support_cpp(scheduled(plan));
        loops(plan, names);
        const KernelText kernels(plan, names);
        const std::set<std::string> guilty = guilty_directives();
        values_["SUSPECT"] =
            guilty_switch() +
            kernels.functions("halide",
                              [&](const Kernel& kernel, const std::string& name) {
                                  return halide::to_halide_cpp(kernel.group, kernel.schedule, name, {}, guilty);
                              }) +
            kernels.driver("under_test", "halide");
        values_["INCLUDES"] = "#include <Halide.h>";
        const auto& culprit = graph_.failure->culprit;
        const bool known = culprit && culprit->component != "compiler";
        blame("halide", known && culprit->component == "schedule" ? culprit->text() : "Halide or its schedule",
              (known && culprit->component != "schedule" ? "the " + culprit->text() : std::string("the lowering")) +
                  " (the loops are wrong too)");
        control(names);
        emission_.compile_flags = halide::compile_flags();
        header(halide::description());
        return finish();
    }

    Emission plugin() {
        return foreign(&Emitter::suspect_library, "#include <dlfcn.h>", {"-ldl"},
                       "backend " + options_.backend_name + " in " + options_.plugin.filename().string());
    }

    Emission command() {
        return foreign(&Emitter::suspect_command, "#include <sys/prctl.h>\n#include <filesystem>\n#include <fstream>",
                       {}, "command " + graph_.failure->backend.substr(4));
    }

  private:
    /// A backend that is not ours. Loops are the independent opinion here too, where every op lowers.
    Emission foreign(void (Emitter::*write_suspect)(const Names&), const std::string& includes,
                     const std::vector<std::string>& flags, const std::string& suspect) {
        auto planned = halide::plan(graph_);
        const Plan* plan = std::get_if<Plan>(&planned);
        const Graph& graph = plan ? plan->graph : graph_;
        std::vector<ValueKey> outputs;
        for (NodeId id : graph.outputs()) outputs.push_back({id, 0});
        const Names names(graph, plan ? plan->outputs : outputs);
        common(names);
        define_inputs(graph, names);
        values_["SUPPORT"] = plan ? expr::support_cpp(groups_of(*plan)) : half_types(graph);
        if (plan) loops(*plan, names);
        (this->*write_suspect)(names);
        values_["INCLUDES"] = includes;
        blame("backend", "the backend " + backend_label() + " on " + ops(),
              "Whittle's own lowering (the loops are wrong too)");
        control(names);
        emission_.compile_flags = flags;
        header(suspect);
        return finish();
    }

    /// As it is called wherever its library lies.
    std::string backend_label() const {
        const std::string& spec = graph_.failure->backend;
        return options_.plugin.empty() || spec.find('/') == std::string::npos
                   ? spec
                   : options_.plugin.filename().string() + ":" + options_.backend_name;
    }

    /// The folder that the command reads, its words, and what it must write.
    void suspect_command(const Names& names) {
        const TempDir folder("whittle-repro");
        write_command_folder(graph_, graph_.failure->options, graph_.failure->inputs, folder.path());
        std::map<std::string, std::string> slots;
        std::size_t number = 0;
        for (const fs::directory_entry& entry : sorted_entries(folder.path())) {
            const std::string bytes = read_file(entry.path()), name = "file_" + std::to_string(number++);
            slots["FILE_DATA"] += file_data(name, bytes);
            slots["FILES"] += "    {" + string_literal(entry.path().filename().string()) + ", " + name + ", " +
                              std::to_string(bytes.size()) + "},\n";
        }
        bool placed = false;
        for (const std::string& word : shell_split(std::string_view(graph_.failure->backend).substr(4))) {
            placed = placed || word.find("{}") != std::string::npos;
            slots["WORDS"] += "    " + word_text(word) + ",\n";
        }
        if (!placed) slots["WORDS"] += "    {\"{}\", nullptr},\n";
        for (std::size_t i = 0; i < expected_.size(); i++)
            slots["SLOTS"] +=
                "    {" + (expected_[i].numel() ? "out." + names.member(i) : std::string("nullptr")) + ", \"" +
                safetensors_name(expected_[i].dtype()) + "\", {" + list(expected_[i].sizes()) + "}, " +
                std::to_string(expected_[i].numel() * static_cast<std::int64_t>(size_of(expected_[i].dtype()))) +
                "},\n";
        for (const char* slot : {"FILE_DATA", "FILES", "WORDS", "SLOTS"}) trim(slots[slot]);
        values_["SUSPECT"] = expand("repro_command.cpp", slots);
    }

    /// A file as what it is: a graph's JSON is there to be read.
    std::string file_data(const std::string& name, const std::string& bytes) {
        constexpr std::size_t kLongestText = 1 << 16;
        if (bytes.size() <= kLongestText && is_utf8(bytes) && bytes.find('\0') == std::string::npos)
            return "static const char " + name + "[] =\n    " + string_literal(bytes) + ";\n";
        Tensor tensor(DType::u8, {static_cast<std::int64_t>(bytes.size())});
        std::memcpy(tensor.mutable_raw(), bytes.data(), bytes.size());
        return data_.define(name, tensor);
    }

    /// A word of the command; a file that is no program of the system is looked for beside the repro first.
    std::string word_text(const std::string& word) {
        std::error_code ignored;
        const bool system = word.starts_with("/usr/") || word.starts_with("/bin/");
        const bool file = !system && (word.find('/') != std::string::npos || fs::path(word).has_extension());
        if (!file || !fs::is_regular_file(word, ignored)) return "{" + string_literal(word) + ", nullptr}";
        const fs::path path = fs::absolute(word).lexically_normal();
        emission_.companions.push_back(path);
        return "{" + string_literal(path.string()) + ", " + string_literal(path.filename().string()) + "}";
    }

    static std::vector<fs::directory_entry> sorted_entries(const fs::path& folder) {
        std::vector<fs::directory_entry> entries(fs::directory_iterator(folder), {});
        std::sort(entries.begin(), entries.end());
        return entries;
    }

    static std::string safetensors_name(DType dtype) {
        std::string text(name(dtype));
        std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
        return text;
    }

    /// The graph's JSON and the C structs that carry its tensors.
    void suspect_library(const Names& names) {
        Graph graph = graph_;
        graph.failure.reset();
        std::map<std::string, Tensor> sidecar;
        std::map<std::string, std::string> slots = {
            {"JSON", string_literal(graph_to_json(graph, sidecar))},
            {"NESTED", ""},
            {"LIBRARY", string_literal(options_.plugin.string())},
            {"LIBRARY_NAME", string_literal(options_.plugin.filename().string())},
            {"BACKEND", string_literal(options_.backend_name)}};
        std::string dims, inputs, attributes, options, outputs;
        for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); id++) {
            const Node& node = graph.nodes[static_cast<std::size_t>(id)];
            const std::string place = "in_" + node.name;
            if (node.kind == NodeKind::placeholder)
                inputs += tensor_struct(place, graph_.failure->inputs.at(inputs_seen_++), node.name, {}, dims);
            if (node.kind != NodeKind::get_attr) continue;
            const Tensor& value = graph.attributes.at(node.target);
            attributes += tensor_struct(place, value, node.target, hash_of(value, sidecar), dims);
        }
        for (const auto& [key, nested] : graph.subgraphs)
            attributes += nested_attributes(*nested, key + "/", sidecar, dims, slots["NESTED"]);
        for (const auto& [key, value] : graph_.failure->options)
            options += "        {" + string_literal(key) + ", " + string_literal(value) + "},\n";
        for (std::size_t i = 0; i < expected_.size(); i++) {
            const Tensor& expected = expected_[i];
            outputs += "    call.slots.push_back({" +
                       (expected.numel() ? "out." + names.member(i) : std::string("nullptr")) + ", " +
                       std::to_string(static_cast<int>(expected.dtype())) + ", " +
                       std::to_string(size_of(expected.dtype())) + ", {" + list(expected.sizes()) + "}, false});\n";
        }
        trim(outputs);
        slots["TENSORS"] = dims + "    const std::vector<whittle_tensor> inputs = {\n" + inputs + "    };\n" +
                           "    const std::vector<whittle_tensor> attributes = {\n" + attributes + "    };\n" +
                           "    const std::vector<whittle_option> options = {\n" + options + "    };";
        slots["SLOTS"] = outputs;
        emission_.companions.push_back(options_.plugin);
        values_["SUSPECT"] = expand("repro_plugin.cpp", slots);
    }

    /// By which the JSON refers to a tensor; empty where it holds the values.
    static std::string hash_of(const Tensor& value, const std::map<std::string, Tensor>& sidecar) {
        const std::string hash = content_hash(value);
        return sidecar.contains(hash) ? hash : "";
    }

    /// Parameters of a nested graph and of those inside it, as OfferedGraph names them; their data go to `data`.
    std::string nested_attributes(const Graph& graph, const std::string& prefix,
                                  const std::map<std::string, Tensor>& sidecar, std::string& dims, std::string& data) {
        std::string structs;
        for (const auto& [key, value] : graph.attributes) {
            const std::string place = "nested_" + std::to_string(nested_seen_++);
            data += data_.define(place, value);
            structs += tensor_struct(place, value, prefix + key, hash_of(value, sidecar), dims);
        }
        for (const auto& [key, nested] : graph.subgraphs)
            structs += nested_attributes(*nested, prefix + key + "/", sidecar, dims, data);
        return structs;
    }

    /// The 16-bit types that inputs and outputs need, where no loops bring them.
    std::string half_types(const Graph& graph) const {
        std::string text;
        for (DType dtype : {DType::f16, DType::bf16}) {
            bool used = false;
            for (const Node& node : graph.nodes)
                for (const ValueMeta& meta : node.results) used |= meta.dtype == dtype;
            if (used) text += expr::half_support_cpp(dtype);
        }
        return text;
    }

    static std::string list(const std::vector<std::int64_t>& values) {
        std::string text = to_string(values);
        return text.substr(1, text.size() - 2);
    }

    /// One initializer of a whittle_tensor; its sizes and strides are defined in `dims`.
    static std::string tensor_struct(const std::string& place, const Tensor& tensor, const std::string& name,
                                     const std::string& hash, std::string& dims) {
        const auto define = [&](const char* what, const std::vector<std::int64_t>& values) {
            // The last element is not used: it keeps the arrays of a 0-d tensor from being empty.
            dims += "    static const int64_t " + place + what + "[] = {" + list(values) +
                    (values.empty() ? "0" : ", 0") + "};\n";
        };
        define("_sizes", tensor.sizes());
        define("_strides", tensor.strides());
        return "        {" + std::to_string(static_cast<int>(tensor.dtype())) + ", " + std::to_string(tensor.rank()) +
               ", " + place + "_sizes, " + place + "_strides, " + place + ", " + string_literal(name) + ", " +
               (hash.empty() ? "nullptr" : string_literal(hash)) + "},\n";
    }

    static std::vector<halide::ScheduledGroup> scheduled(const Plan& plan) {
        std::vector<halide::ScheduledGroup> groups;
        for (const Kernel& kernel : plan.kernels) groups.push_back({&kernel.group, &kernel.schedule});
        return groups;
    }

    static std::vector<const expr::Group*> groups_of(const Plan& plan) {
        std::vector<const expr::Group*> groups;
        for (const Kernel& kernel : plan.kernels) groups.push_back(&kernel.group);
        return groups;
    }

    /// Expected outputs, their comparison, and everything that does not depend on the suspect.
    void common(const Names& names) {
        std::string members, definitions, compare;
        std::int64_t total = 0;
        std::vector<Tensor> exact;
        if (graph_.failure->accuracy.mode == Accuracy::Mode::fp64)
            exact = evaluate_exactly(graph_, graph_.failure->inputs).value_or(exact);
        values_["FP64"] = exact.empty() ? "" : expand("repro_fp64.cpp", {});
        for (std::size_t i = 0; i < expected_.size(); i++) {
            const Tensor expected = expected_[i].contiguous();
            if (expected.numel() == 0) continue;  // nothing to compare, and C++ has no empty arrays
            const std::string &member = names.member(i), count = std::to_string(expected.numel());
            const Tolerance tolerance = graph_.failure->accuracy.tolerance(expected.dtype());
            members += "    " + expr::cpp_type(expected.dtype()) + " " + member + "[" + count + "];  // " +
                       std::string(name(expected.dtype())) + to_string(expected.sizes()) + "\n";
            definitions += data_.define("expected_" + member, expected);
            const bool fp64 = i < exact.size() && is_floating(expected.dtype());
            if (fp64) definitions += data_.define("exact_" + member, exact[i].contiguous());
            compare += "    wrong += differing(who, \"" + member.substr(4) + "\", got." + member + ", expected_" +
                       member + (fp64 ? ", exact_" + member : "") + ", " + count + ", " + number(tolerance.rtol) +
                       ", " + number(tolerance.atol) + ", " + number(tolerance.ulp) +
                       (fp64 ? ", " + number(graph_.failure->accuracy.multiplier) : "") + ");\n";
            total += expected.numel();
        }
        trim(members), trim(compare);
        values_["MEMBERS"] = members;
        values_["EXPECTED"] = definitions;
        values_["COMPARE"] = compare;
        values_["VALUES"] = std::to_string(total);
        values_["ALARM"] = std::to_string(options_.alarm.count());
        values_["MEMORY"] = std::to_string(options_.limits.memory >> 20);
        values_["STRICT"] = strict() ? "true" : "false";
        values_["FAILURE_KIND"] = graph_.failure->signature.text();
    }

    /// The directives that the culprit's toggle switches.
    std::set<std::string> guilty_directives() const {
        const auto& culprit = graph_.failure->culprit;
        if (!culprit || culprit->directive.empty()) return {};
        return {culprit->directive};
    }

    std::string guilty_switch() const {
        if (guilty_directives().empty()) return "";
        return "// The guilty directive, " + graph_.failure->culprit->directive + ": false, or ./" +
               options_.output.stem().string() + " control, switches it off.\nstatic bool guilty = true;\n\n";
    }

    /// What runs in the suspect's place and must pass.
    void control(const Names& names) {
        const auto& culprit = graph_.failure->culprit;
        values_["PROGRAM"] = options_.output.stem().string();
        if (!guilty_directives().empty()) {
            values_["CONTROL_WHAT"] = culprit->directive + " switched off";
            values_["CONTROL"] = "    guilty = false;\n    under_test(out);";
        } else if (has_loops_ && !strict() &&
                   !(culprit && (culprit->component == "lowering" || culprit->component == "pass"))) {
            values_["CONTROL_WHAT"] = "the loops alone";
            values_["CONTROL"] = "    run_loops(out);";
        } else {
            values_["CONTROL_WHAT"] = "the recorded outputs alone";
            std::string copies;
            for (std::size_t i = 0; i < expected_.size(); i++)
                if (expected_[i].numel())
                    copies += "    std::memcpy(out." + names.member(i) + ", expected_" + names.member(i) +
                              ", sizeof out." + names.member(i) + ");\n";
            values_["CONTROL"] = copies;
            trim(values_["CONTROL"]);
        }
        emission_.control = values_["CONTROL_WHAT"];
    }

    /// Results must have the reference's bits, which loops in another order of rounding have not.
    bool strict() const { return graph_.failure->accuracy.mode == Accuracy::Mode::strict; }

    static void trim(std::string& text) {
        if (!text.empty() && text.back() == '\n') text.pop_back();
    }

    static std::string number(double value) {
        char text[32];
        std::snprintf(text, sizeof text, "%g", value);
        return text;
    }

    void define_inputs(const Graph& graph, const Names& names) {
        std::string text;
        std::size_t next = 0;
        for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); id++) {
            const Node& node = graph.nodes[static_cast<std::size_t>(id)];
            if (node.kind != NodeKind::placeholder && node.kind != NodeKind::get_attr) continue;
            const bool input = node.kind == NodeKind::placeholder;
            const Tensor& value = input ? graph_.failure->inputs.at(next++) : graph.attributes.at(node.target);
            const std::string what = "in_" + names.text({id, 0});
            const auto seed = input ? facts_.seeds.find(next - 1) : facts_.seeds.end();
            text +=
                seed == facts_.seeds.end() ? data_.define(what, value) : data_.define_random(what, value, seed->second);
        }
        values_["INPUTS"] = text;
    }

    void loops(const Plan& plan, const Names& names) {
        const KernelText kernels(plan, names);
        values_["LOOPS"] =
            "// ---- the same computation as plain loops " + std::string(80, '-') + "\n" +
            kernels.functions("loops", [](const Kernel& kernel,
                                          const std::string& name) { return expr::to_loops_cpp(kernel.group, name); }) +
            kernels.driver("run_loops", "loops");
        has_loops_ = true;
    }

    /// The minimized graph's ops, as the culprit of a backend that we know nothing of.
    std::string ops() const {
        std::string text;
        std::set<std::string> seen;
        for (const NodeId id : graph_.calls()) {
            const std::string& target = graph_.nodes[static_cast<std::size_t>(id)].target;
            if (target == kGetItem || !seen.insert(target).second) continue;
            if (seen.size() > 3) return text + ", ...";
            text += (text.empty() ? "" : ", ") + target;
        }
        return text.empty() ? "a graph without ops" : text;
    }

    void blame(const std::string& name, const std::string& suspect, const std::string& lowering) {
        values_["SUSPECT_NAME"] = name;
        values_["SUSPECT_LONG"] = suspect;
        values_["BLAME_SUSPECT"] = "BUG in " + suspect;
        values_["BLAME_LOWERING"] =
            strict() ? "neither has the bits of the reference (--accuracy=strict)" : "BUG in " + lowering;
        const std::string& kind = graph_.failure->signature.kind;
        const std::string& detail = graph_.failure->signature.detail;
        values_["OF_SHAPE"] = detail == "value" || detail == "nan_or_inf" ? "false" : "true";
        if (kind == "mismatch") {
            values_["VERDICT"] =
                expand(has_loops_ ? "repro_verdict_mismatch.cpp" : "repro_verdict_mismatch_without_loops.cpp", values_);
        } else {
            values_["MESSAGE"] = kind == "exception" ? string_literal(graph_.failure->message) : "\"\"";
            values_["ENDING"] = kind == "timeout"         ? "ending == Ending::hang"
                                : kind == "exception"     ? "ending == Ending::exception"
                                : kind == "out_of_memory" ? "(ending == Ending::exception || ending == Ending::crash)"
                                                          : "ending == Ending::crash";
            values_["VERDICT"] = expand("repro_verdict_ending.cpp", values_);
        }
        trim(values_["VERDICT"]);
    }

    void header(const std::string& suspect) {
        const Failure& failure = *graph_.failure;
        std::string text = comment(options_.output.filename().string() + " - written by `" + options_.command + "`; " +
                                       facts_.verified,
                                   "") +
                           "//\n";
        text += comment(failure.signature.text() + ": " + failure.message, "  failure    ");
        text += comment(std::to_string(graph_.calls().size()) + (graph_.calls().size() == 1 ? " op" : " ops"),
                        "  graph      ");
        std::string printed = print(graph_);
        trim(printed);
        text += comment(printed, "    ");
        text += comment(suspect, "  suspect    ");
        if (failure.culprit) text += comment(failure.culprit->text(), "  guilty     ");
        std::vector<std::string> build = {
            "g++", "-std=c++17", "-O1", options_.output.filename().string(), "-o", options_.output.stem().string()};
        build.insert(build.end(), emission_.compile_flags.begin(), emission_.compile_flags.end());
        const std::string program = shell_quote({"./" + options_.output.stem().string()});
        text += comment(shell_quote(build) + " && " + program, "  build      ");
        text += "//   exit       1 the bug shows, 0 it is gone, 2 something else went wrong\n";
        text += comment(program + " control: " + emission_.control + " must pass (exit 0)", "  control    ");
        text += comment(facts_.data, "  data       ");
        for (const auto& [key, value] : options_.environment) text += comment(key + ": " + value, "  on         ");
        trim(text);
        values_["HEADER"] = text;
    }

    Emission finish() {
        values_["VALUES_MADE_UP"] = data_.made_up() ? expand("repro_values.cpp", {}) : "";
        values_["SIDECAR"] = data_.sidecars().empty() ? "" : expand("repro_sidecar.cpp", {});
        if (!has_loops_) values_["LOOPS"] = "";
        emission_.text = expand("repro_common.cpp", values_);
        emission_.sidecars = data_.sidecars();
        return std::move(emission_);
    }

    const Graph& graph_;
    const std::vector<Tensor>& expected_;
    const Options& options_;
    const Facts& facts_;
    DataWriter data_;
    std::map<std::string, std::string> values_;
    Emission emission_;
    std::size_t inputs_seen_ = 0, nested_seen_ = 0;
    bool has_loops_ = false;
};

}  // namespace

Emission emit_halide(const Graph& graph, const std::vector<Tensor>& expected, const Options& options,
                     const Facts& facts) {
    return Emitter(graph, expected, options, facts).halide();
}

Emission emit_command(const Graph& graph, const std::vector<Tensor>& expected, const Options& options,
                      const Facts& facts) {
    return Emitter(graph, expected, options, facts).command();
}

Emission emit_plugin(const Graph& graph, const std::vector<Tensor>& expected, const Options& options,
                     const Facts& facts) {
    return Emitter(graph, expected, options, facts).plugin();
}

}  // namespace whittle::repro
