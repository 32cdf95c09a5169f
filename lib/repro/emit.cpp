#include "repro/emit.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "backends/halide/build_info.h"
#include "backends/halide/halide_text.h"
#include "backends/halide/plan.h"
#include "base/error.h"
#include "expr/canonical.h"
#include "expr/loops.h"
#include "graph/json.h"
#include "graph/text.h"
#include "repro/templates.h"

namespace whittle::repro {
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

/// Names of everything in the generated file. Node names are prefixed, so none can be a keyword or a library's name.
class Names {
  public:
    Names(const Graph& graph, const std::vector<ValueKey>& outputs) : graph_(graph) {
        for (std::size_t i = 0; i < outputs.size(); i++) {
            const std::string member = "out_" + text(outputs[i]);
            members_.push_back(used_.insert(member).second ? member : member + "_output" + std::to_string(i));
        }
    }

    std::string text(const ValueKey& key) const {
        const std::string& name = graph_.nodes[static_cast<std::size_t>(key.node)].name;
        return key.result ? name + "_r" + std::to_string(key.result) : name;
    }
    const std::string& member(std::size_t output) const { return members_[output]; }

  private:
    const Graph& graph_;
    std::set<std::string> used_;
    std::vector<std::string> members_;
};

/// The part that the kernels give: loops, the suspect's functions, and the functions that call them in turn.
class KernelText {
  public:
    KernelText(const Plan& plan, const Names& names) : plan_(plan), names_(names) {
        std::map<std::string, std::size_t> first;  // kernels that differ in names only share a function
        for (std::size_t k = 0; k < plan.kernels.size(); k++)
            same_as_.push_back(
                first.emplace(expr::key(plan.kernels[k].group, plan.kernels[k].schedule), k).first->second);
    }

    std::string functions(const std::string& suffix,
                          const std::function<std::string(const Kernel&, const std::string&)>& emit) const {
        std::string text;
        for (std::size_t k = 0; k < plan_.kernels.size(); k++)
            if (same_as_[k] == k) text += emit(plan_.kernels[k], function(k, suffix)) + "\n";
        return text;
    }

    /// "static void NAME(Outputs& out)": calls every kernel's function, with memory for what lies between.
    std::string driver(const std::string& name, const std::string& suffix) const {
        std::string text = "static void " + name + "(Outputs& out) {\n";
        for (std::size_t k = 0; k < plan_.kernels.size(); k++) {
            const Kernel& kernel = plan_.kernels[k];
            std::string arguments;
            const auto add = [&](const std::string& argument) {
                arguments += (arguments.empty() ? "" : ", ") + argument;
            };
            for (const ValueKey& key : kernel.inputs) add(place(key));
            for (std::size_t i = 0; i < kernel.outputs.size(); i++) {
                const ValueKey& key = kernel.outputs[i];
                if (!output_of(key)) {
                    const expr::Stage& stage = *kernel.group.stage(kernel.group.outputs[i]);
                    const std::string type = expr::cpp_type(stage.dtype);
                    text += "    std::unique_ptr<" + type + "[]> mid_" + names_.text(key) + "(new " + type + "[" +
                            std::to_string(element_count(stage.sizes())) + "]);\n";
                }
                add(place(key));
            }
            text += "    " + function(k, suffix) + "(" + arguments + ");\n";
        }
        return text + copies() + "}\n";
    }

  private:
    /// A kernel's function: "loops", or "loops_2" where there are several kernels.
    std::string function(std::size_t k, const std::string& suffix) const {
        return plan_.kernels.size() == 1 ? suffix : suffix + "_" + std::to_string(same_as_[k]);
    }

    /// The first output of the graph that is this kernel result.
    std::optional<std::size_t> output_of(const ValueKey& key) const {
        const auto found = std::find(plan_.outputs.begin(), plan_.outputs.end(), key);
        if (found == plan_.outputs.end()) return std::nullopt;
        return static_cast<std::size_t>(found - plan_.outputs.begin());
    }

    std::string place(const ValueKey& key) const {
        if (plan_.graph.nodes[static_cast<std::size_t>(key.node)].kind != NodeKind::call)
            return "in_" + names_.text(key);
        if (const auto output = output_of(key)) return "out." + names_.member(*output);
        return "mid_" + names_.text(key) + ".get()";
    }

    /// Outputs that no kernel writes: inputs passed through, and results listed twice.
    std::string copies() const {
        std::string text;
        for (std::size_t i = 0; i < plan_.outputs.size(); i++) {
            const ValueKey& key = plan_.outputs[i];
            const Node& node = plan_.graph.nodes[static_cast<std::size_t>(key.node)];
            if (node.kind == NodeKind::call && output_of(key) == i) continue;
            text += "    std::memcpy(out." + names_.member(i) + ", " + place(key) + ", sizeof out." + names_.member(i) +
                    ");\n";
        }
        return text;
    }

    const Plan& plan_;
    const Names& names_;
    std::vector<std::size_t> same_as_;  ///< of each kernel: the first that computes the same
};

/// What both kinds of repro share.
class Emitter {
  public:
    Emitter(const Graph& graph, const std::vector<Tensor>& expected, const Options& options, std::string verified)
        : graph_(graph),
          expected_(expected),
          options_(options),
          verified_(std::move(verified)),
          data_(options.output.stem().string()) {}

    Emission halide() {
        auto planned = halide::plan(graph_, planted());
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
        values_["SUSPECT"] = kernels.functions("halide", [](const Kernel& kernel, const std::string& name) {
            return halide::to_halide_cpp(kernel.group, kernel.schedule, name);
        }) + kernels.driver("under_test", "halide");
        values_["INCLUDES"] = "#include <Halide.h>";
        blame("halide", "Halide or its schedule", "the lowering (the loops are wrong too)");
        emission_.compile_flags = halide::compile_flags();
        header(halide::description());
        return finish();
    }

    /// Loops are the independent opinion here too, where every op lowers.
    Emission plugin() {
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
        suspect_library(names);
        values_["INCLUDES"] = "#include <dlfcn.h>";
        blame("backend", "the backend " + graph_.failure->backend, "Whittle's own lowering (the loops are wrong too)");
        emission_.compile_flags = {"-ldl"};
        header("backend " + graph_.failure->backend + " in " + options_.plugin.filename().string());
        return finish();
    }

  private:
    /// The graph's JSON and the C structs that carry its tensors.
    void suspect_library(const Names& names) {
        Graph graph = graph_;
        graph.failure.reset();
        if (!graph.subgraphs.empty())
            throw Error("a repro for a plug-in backend cannot hold nested graphs (If, Loop) yet");
        std::map<std::string, Tensor> sidecar;
        std::map<std::string, std::string> slots = {{"JSON", string_literal(graph_to_json(graph, sidecar))},
                                                    {"LIBRARY", string_literal(options_.plugin.string())},
                                                    {"BACKEND", string_literal(options_.backend_name)}};
        std::string dims, inputs, attributes, options, outputs;
        for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); id++) {
            const Node& node = graph.nodes[static_cast<std::size_t>(id)];
            const std::string place = "in_" + node.name;
            if (node.kind == NodeKind::placeholder)
                inputs += tensor_struct(place, graph_.failure->inputs.at(inputs_seen_++), node.name, {}, dims);
            if (node.kind != NodeKind::get_attr) continue;
            const Tensor& value = graph.attributes.at(node.target);
            std::string hash = content_hash(value);
            if (!sidecar.contains(hash)) hash.clear();  // small: its values are in the JSON
            attributes += tensor_struct(place, value, node.target, hash, dims);
        }
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
        values_["SUSPECT"] = expand("repro_plugin.cpp", slots);
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

    halide::Planted planted() const { return halide::planted_from(graph_.failure->options); }

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
        for (std::size_t i = 0; i < expected_.size(); i++) {
            const Tensor expected = expected_[i].contiguous();
            if (expected.numel() == 0) continue;  // nothing to compare, and C++ has no empty arrays
            const std::string &member = names.member(i), count = std::to_string(expected.numel());
            const Tolerance tolerance = graph_.failure->tolerance.value_or(default_tolerance(expected.dtype()));
            members += "    " + expr::cpp_type(expected.dtype()) + " " + member + "[" + count + "];  // " +
                       std::string(name(expected.dtype())) + to_string(expected.sizes()) + "\n";
            definitions += data_.define("expected_" + member, expected);
            compare += "    wrong += differing(who, \"" + member.substr(4) + "\", got." + member + ", expected_" +
                       member + ", " + count + ", " + number(tolerance.rtol) + ", " + number(tolerance.atol) + ");\n";
            total += expected.numel();
        }
        trim(members), trim(compare);
        values_["MEMBERS"] = members;
        values_["EXPECTED"] = definitions;
        values_["COMPARE"] = compare;
        values_["VALUES"] = std::to_string(total);
        values_["ALARM"] = std::to_string(options_.alarm.count());
        values_["FAILURE_KIND"] = graph_.failure->signature.text();
    }

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
            if (node.kind == NodeKind::placeholder)
                text += data_.define("in_" + names.text({id, 0}), graph_.failure->inputs.at(next++));
            if (node.kind == NodeKind::get_attr)
                text += data_.define("in_" + names.text({id, 0}), graph.attributes.at(node.target));
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

    void blame(const std::string& name, const std::string& suspect, const std::string& lowering) {
        values_["SUSPECT_NAME"] = name;
        values_["SUSPECT_LONG"] = suspect;
        values_["BLAME_SUSPECT"] = "BUG in " + suspect;
        values_["BLAME_LOWERING"] = "BUG in " + lowering;
        const std::string& kind = graph_.failure->signature.kind;
        if (kind == "mismatch") {
            values_["VERDICT"] =
                expand(has_loops_ ? "repro_verdict_mismatch.cpp" : "repro_verdict_mismatch_without_loops.cpp", values_);
        } else {
            values_["MESSAGE"] = kind == "exception" ? string_literal(graph_.failure->message) : "\"\"";
            values_["ENDING"] = kind == "timeout" ? "hang" : kind == "exception" ? "exception" : "crash";
            values_["VERDICT"] = expand("repro_verdict_ending.cpp", values_);
        }
        trim(values_["VERDICT"]);
    }

    void header(const std::string& suspect) {
        const Failure& failure = *graph_.failure;
        std::string text =
            comment(options_.output.filename().string() + " - written by `" + options_.command + "`; " + verified_,
                    "") +
            "//\n";
        text += comment(failure.signature.text() + ": " + failure.message, "  failure    ");
        text += comment(std::to_string(graph_.calls().size()) + (graph_.calls().size() == 1 ? " op" : " ops"),
                        "  graph      ");
        std::string printed = print(graph_);
        trim(printed);
        text += comment(printed, "    ");
        text += comment(suspect, "  suspect    ");
        std::string command =
            "g++ -std=c++17 -O1 " + options_.output.filename().string() + " -o " + options_.output.stem().string();
        for (const std::string& flag : emission_.compile_flags) command += " " + flag;
        text += comment(command + " && ./" + options_.output.stem().string(), "  build      ");
        text += "//   exit       1 the bug shows, 0 it is gone, 2 something else went wrong\n";
        text += comment(options_.data == Data::real     ? "the recorded values"
                        : options_.data == Data::random ? "random values"
                                                        : "zeros",
                        "  data       ");
        for (const auto& [key, value] : options_.environment) text += comment(key + ": " + value, "  on         ");
        trim(text);
        values_["HEADER"] = text;
    }

    Emission finish() {
        values_["SIDECAR"] = data_.sidecars().empty() ? "" : expand("repro_sidecar.cpp", {});
        if (!has_loops_) values_["LOOPS"] = "";
        emission_.text = expand("repro_common.cpp", values_);
        emission_.sidecars = data_.sidecars();
        return std::move(emission_);
    }

    const Graph& graph_;
    const std::vector<Tensor>& expected_;
    const Options& options_;
    std::string verified_;
    DataWriter data_;
    std::map<std::string, std::string> values_;
    Emission emission_;
    std::size_t inputs_seen_ = 0;
    bool has_loops_ = false;
};

}  // namespace

Emission emit_halide(const Graph& graph, const std::vector<Tensor>& expected, const Options& options,
                     const std::string& verified) {
    return Emitter(graph, expected, options, verified).halide();
}

Emission emit_plugin(const Graph& graph, const std::vector<Tensor>& expected, const Options& options,
                     const std::string& verified) {
    return Emitter(graph, expected, options, verified).plugin();
}

}  // namespace whittle::repro
