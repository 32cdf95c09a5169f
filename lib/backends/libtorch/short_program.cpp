#include "backends/libtorch/short_program.h"

#include <torch/csrc/api/include/torch/version.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "backends/libtorch/memory.h"
#include "backends/libtorch/repro_code.h"
#include "backends/libtorch/script_text.h"
#include "base/error.h"
#include "base/files.h"
#include "base/program_text.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "graph/value_ref.h"
#include "ops/aten/earlier.h"
#include "ops/core/memory.h"
#include "ops/core/registry.h"
#include "printers/near_text.h"
#include "printers/short_program.h"
#include "printers/title.h"
#include "printers/torch_cpp.h"
#include "printers/torch_program.h"
#include "text/language.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

using language::torch_cpp;

/// What LibTorch declares no function of is a method, as its headers have it.
bool is_method(const std::string& name) {
    const std::string stem = name.ends_with('_') ? name.substr(0, name.size() - 1) : name;
    const fs::path header = fs::path(WHITTLE_TORCH_HEADERS) / "ATen" / "ops" / (stem + ".h");
    std::error_code ignored;
    if (!fs::exists(header, ignored)) return name.ends_with('_');
    std::istringstream lines(read_file(header));
    for (std::string line; std::getline(lines, line);) {
        const bool of_name = line.find(" " + name + "(const") != std::string::npos ||
                             line.find(" " + name + "(at::") != std::string::npos;
        if (of_name && line.starts_with("inline ")) return false;  // templates are in a namespace for sizes
    }
    return true;
}

/// Empty where this LibTorch, or the program, has no such elements.
std::string dtype_name(DType dtype) { return aten::has(dtype) && !is_complex(dtype) ? torch_cpp.type(dtype) : ""; }

/// Who runs the calls.
enum class Runs { op_by_op, as_torchscript };

class LibTorchProgram {
  public:
    LibTorchProgram(const ShortRequest& request, Runs runs, int times = 1)
        : request_(request),
          failure_(*request.graph.failure),
          scripted_(runs == Runs::as_torchscript),
          times_(times),
          graph_(without_defaults(
              with_short_names(request.graph, OutputNames::y, runs == Runs::op_by_op ? &Registry::instance() : nullptr),
              Registry::instance())) {}

    ReproProgram write() {
        std::map<std::string, std::string> values = {{"HEADER", header()},
                                                     {"BUILD", build_line(request_.file, flags())},
                                                     {"BEFORE", ends_by_failure(failure_.signature, request_.alarm)}};
        values["CALLS"] = scripted_ ? script_calls() : calls();
        values["INPUTS"] = inputs();
        if (scripted_) script_slots(values);
        const bool exception = failure_.signature.kind == "exception";
        values["TRY"] = exception ? " try" : "";
        values["CATCH"] =
            exception
                ? " catch (const c10::Error &e) {\n    printf(\"%s\\n\", e.what_without_backtrace());\n    return 1;\n}"
                : "";
        values["COMPARE"] = failure_.signature.kind == "mismatch" ? compare() : "";
        std::string code;
        for (const auto& [key, value] : values)
            if (key != "HEADER") code += value;
        values["INCLUDES"] = standard_includes(code);
        ReproProgram program;
        program.text = fill_template(scripted_ ? "repro_torchscript_short.cpp" : "repro_libtorch_short.cpp", values);
        program.summary = report_title(request_, graph_, &Registry::instance(), title_words());
        program.compiler = "LibTorch " + version();
        program.compile_flags = flags();
        program.tracker = "pytorch";
        if (request_.near && !scripted_) program.near = near_text(graph_, *request_.near);
        if (failure_.signature.kind != "timeout") program.others = {in_python()};
        if (scripted_) program.control_argument = unprepared() + "TorchScript's optimizer switched off";
        return program;
    }

  private:
    OtherProgram in_python() const {
        std::optional<printers::OptimizedGraph> optimized;
        if (scripted_)
            optimized = {.by = "TorchScript",
                         .name = "scripted",
                         .made = frozen() ? "torch.jit.optimize_for_inference(torch.jit.script(graph))"
                                          : "torch.jit.script(graph)",
                         .after = fused() ? "torch._C._jit_override_can_fuse_on_cpu(True)\n"
                                            "torch._C._jit_set_te_must_use_llvm_cpu(False)\n"
                                          : "",
                         .module = frozen(),
                         .times = times_};
        const std::string file = request_.file.stem().string() + ".py";
        const std::string about = language::python.comment("PyTorch " + version() + ", CPU: " + sentence());
        return {.name = file,
                .text = printers::torch_program(request_, graph_, about, file, optimized),
                .run = {"python3", file},
                .probe = {"python3", "-c", "import torch; print('PyTorch', torch.__version__)"},
                .ends_by = failure_.signature.kind == "crash" ? failure_.signature.detail : ""};
    }

    TitleWords title_words() const {
        if (!scripted_) return {};
        return {.how = std::string(" in TorchScript") + (fused() ? " with the fuser NNC" : "") +
                       (frozen() ? ", optimized for inference," : "")};
    }
    bool is_set(const char* option, const char* value) const {
        const auto found = failure_.options.find(option);
        return found != failure_.options.end() && found->second == value;
    }
    bool fused() const { return is_set("fuser", "nnc"); }
    bool frozen() const { return is_set("optimize_for_inference", "on"); }
    std::string version() const { return failure_.version.empty() ? TORCH_VERSION : failure_.version; }
    std::vector<std::string> flags() const {
        std::vector<std::string> flags = {"-I" WHITTLE_TORCH_API_HEADERS, "-ltorch_cpu", "-lc10"};
        if (scripted_) flags.insert(flags.begin(), "-DNDEBUG");  // as LibTorch was built: its headers differ by it
        if (WHITTLE_TORCH_HEADERS != std::string_view("/usr/include"))
            flags.insert(flags.begin(), "-I" WHITTLE_TORCH_HEADERS);
        return aten::with_standard(std::move(flags));
    }

    std::string sentence() const {
        return as_sentence(whole_statement(request_, graph_, &Registry::instance(), title_words()));
    }
    std::string header() const {
        const std::string text = language::cpp.comment("LibTorch " + version() + ", CPU: " + sentence());
        const std::string run = shell_quote({"./" + request_.file.stem().string()});
        if (!scripted_) return text;
        return text + language::cpp.comment("The result is right " + unprepared() +
                                            "with TorchScript's optimizer switched off (" + run + " control).");
    }
    /// Of the control of TorchScript.
    std::string unprepared() const { return frozen() ? "without optimize_for_inference(), and " : ""; }

    // ---- data -------------------------------------------------------------------------------------------------------

    std::string inputs() const {
        std::string text;
        std::size_t next = 0;
        for (const Node& node : graph_.nodes) {
            if (node.kind == NodeKind::placeholder)
                text += printers::torch_definition(node.name, failure_.inputs.at(next++));
            if (node.kind == NodeKind::get_attr)
                text += printers::torch_definition(node.name, graph_.attributes.at(node.target));
        }
        return text;
    }

    // ---- calls ------------------------------------------------------------------------------------------------------

    std::string calls() {
        std::string text;
        for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); id++) {
            const Node& node = graph_.node({id});
            if (node.kind == NodeKind::placeholder || node.kind == NodeKind::get_attr) values_[id] = node.name;
            if (node.kind != NodeKind::call) continue;
            if (const auto read = item_read(node)) {
                const std::string of = torch_cpp.variable(graph_.node({read->node}).name, "expected");
                const bool list = lists_.contains(read->node);
                values_[id] = list ? of + "[" + std::to_string(read->index) + "]"
                                   : "std::get<" + std::to_string(read->index) + ">(" + of + ")";
                continue;
            }
            values_[id] = torch_cpp.variable(node.name, "expected");
            text += "    auto " + values_[id] + " = " + call(id, node) + ";\n";
        }
        return text;
    }

    std::string call(NodeId id, const Node& original) {
        const Node node = with_earlier_target(original);
        const Schema* schema = Registry::instance().find(node.target);
        if (!schema || !node.target.starts_with("aten."))
            throw Error("the graph calls " + node.target + ", which is not an ATen op");
        if (schema->returns.size() == 1 && schema->returns[0].list) lists_.insert(id);
        const ArgList bound = bind_arguments(*schema, node);
        std::size_t given = node.args.size();
        for (const auto& [name, arg] : node.kwargs)
            for (std::size_t i = 0; i < schema->params.size(); i++)
                if (schema->params[i].name == name) given = std::max(given, i + 1);
        std::string function = node.target.substr(5);
        function = function.substr(0, function.find('.'));
        const bool method =
            !schema->params.empty() && schema->params[0].type == ParamType::tensor && is_method(function);
        std::vector<std::string> words;
        for (std::size_t i = method ? 1 : 0; i < std::min(given, bound.size()); i++)
            words.push_back(argument(schema->params[i], bound[i]));
        const std::string arguments = join(words);
        if (!method) return "torch::" + function + "(" + arguments + ")";
        return argument(schema->params.at(0), bound.at(0)) + "." + function + "(" + arguments + ")";
    }

    std::string argument(const Param& param, const Arg& arg) const {
        if (arg.is_none())
            return param.type == ParamType::tensor && !param.optional ? "torch::Tensor()" : "c10::nullopt";
        if (const NodeRef* ref = arg.node()) return values_.at(ref->id);
        if (const ArgList* list = arg.list()) {
            const std::string text = join(*list, [&](const Arg& one) { return argument(param, one); });
            if (param.type == ParamType::tensor_list)
                return (param.optional ? "c10::List<c10::optional<torch::Tensor>>({" : "std::vector<torch::Tensor>{") +
                       text + (param.optional ? "})" : "}");
            if (param.type == ParamType::float_list) return "std::vector<double>{" + text + "}";
            return (param.optional ? "at::IntArrayRef({" : "{") + text + (param.optional ? "})" : "}");
        }
        if (const auto* value = std::get_if<bool>(&arg.value)) return torch_cpp.boolean(*value);
        if (const auto* value = std::get_if<DType>(&arg.value)) return dtype_name(*value);
        if (const auto* value = std::get_if<std::int64_t>(&arg.value))
            return param.type == ParamType::tensor
                       ? "torch::scalar_tensor(" + torch_cpp.integer(*value) + ", torch::kInt64)"
                       : torch_cpp.integer(*value);
        if (const auto* value = std::get_if<double>(&arg.value))
            return param.type == ParamType::tensor ? "torch::scalar_tensor(" + torch_cpp.number(*value) + ")"
                                                   : torch_cpp.number(*value);
        if (const auto* value = std::get_if<std::string>(&arg.value)) return text_argument(param, *value);
        throw Error("found a call with a nested graph, expected only calls without nested graphs");
    }

    static std::string text_argument(const Param& param, const std::string& text) {
        if (param.name == "memory_format")
            return text == "channels_last"      ? "torch::MemoryFormat::ChannelsLast"
                   : text == "channels_last_3d" ? "torch::MemoryFormat::ChannelsLast3d"
                   : text == "preserve_format"  ? "torch::MemoryFormat::Preserve"
                                                : "torch::MemoryFormat::Contiguous";
        if (param.name == "layout") return "torch::kStrided";
        if (param.name == "device") return "torch::kCPU";
        return language::cpp.quoted_lines(text);
    }

    // ---- TorchScript ------------------------------------------------------------------------------------------------

    std::string script_calls() {
        const std::string inputs = join(graph_.placeholders(), [&](NodeId id) { return graph_.node({id}).name; });
        const std::string call = " = module.forward({" + inputs + "})";
        const std::string repeated = "    for (int run = 0; run < " + std::to_string(times_) + "; run++) ";
        const std::size_t count = graph_.outputs().size();
        for (std::size_t i = 0; i < count; i++) results_.push_back(count == 1 ? "y" : "y" + std::to_string(i));
        if (count == 1 && times_ == 1) return "    torch::Tensor y" + call + ".toTensor();\n";
        if (count == 1) return "    torch::Tensor y;\n" + repeated + "y" + call + ".toTensor();\n";
        std::string text = times_ == 1 ? "    c10::IValue results" + call + ";\n"
                                       : "    c10::IValue results;\n" + repeated + "results" + call + ";\n";
        for (std::size_t i = 0; i < count; i++)
            text += "    torch::Tensor " + results_[i] + " = results.toTupleRef().elements()[" + std::to_string(i) +
                    "].toTensor();\n";
        return text;
    }

    void script_slots(std::map<std::string, std::string>& values) const {
        values["SCRIPT"] = script_text(graph_);
        for (const Node& node : graph_.nodes)
            if (node.kind == NodeKind::get_attr)
                values["MEMBERS"] += "    module.register_buffer(\"" + node.target + "\", " + node.name + ");\n";
        if (frozen())
            values["MEMBERS"] += "    module.register_attribute(\"training\", c10::BoolType::get(), false);\n";
        values["FREEZE"] = frozen() ? "    if (optimized) module = torch::jit::optimize_for_inference(module);\n" : "";
        values["OPTIMIZER"] = "    torch::jit::setGraphExecutorOptimize(optimized);\n";
        for (const char* slot : {"FUSER_INCLUDES", "FUSER_DECLARATION", "FUSER", "MEMBERS"}) values.emplace(slot, "");
        if (!fused()) return;
        values["FUSER_INCLUDES"] = "#include <torch/csrc/jit/tensorexpr/kernel.h>\n";
        values["FUSER_DECLARATION"] =
            "\nnamespace torch::jit {\nvoid overrideCanFuseOnCPU(bool);  // exported, but in no installed header\n}\n";
        values["FUSER"] =
            "    torch::jit::overrideCanFuseOnCPU(true);\n"
            "    torch::jit::tensorexpr::getTEMustUseLLVMOnCPU() = false;\n";
    }

    // ---- the verdict ------------------------------------------------------------------------------------------------

    std::string value_of(std::size_t output) const {
        return scripted_ ? results_.at(output) : values_.at(graph_.outputs()[output]);
    }

    std::string compare() const {
        const auto compared = [&](std::size_t output, const std::string& right) {
            return printers::torch_comparison(request_, output, value_of(output), right);
        };
        if (const auto wrong = wrong_sizes(request_)) return compared(*wrong, "expected");
        if (const auto wrong = wrong_dtype(request_)) return compared(*wrong, "expected");
        std::string text;
        const std::size_t count = graph_.outputs().size();
        for (std::size_t i = 0; i < count; i++)
            text += compared(i, count == 1 ? "expected" : "expected" + std::to_string(i));
        return text;
    }

    const ShortRequest& request_;
    const Failure& failure_;
    const bool scripted_;
    const int times_;  ///< a TorchScript is run
    const Graph graph_;
    std::map<NodeId, std::string> values_;
    std::vector<std::string> results_;  ///< of TorchScript, one for each output
    std::set<NodeId> lists_;            ///< calls that give lists of tensors
};

/// Why a reader would not take it in.
std::string too_much(const ShortRequest& request) {
    return printers::not_in_torch_program(request, request.graph,
                                          [](DType dtype) { return !dtype_name(dtype).empty(); });
}

}  // namespace

std::optional<ReproProgram> libtorch_program(const ShortRequest& request, std::string& why_not) {
    why_not = too_much(request);
    if (why_not.empty() && !request.graph.failure->options.empty())
        why_not = "a short program cannot load a library of ops (--op-library)";
    if (!why_not.empty()) return std::nullopt;
    return LibTorchProgram(request, Runs::op_by_op).write();
}

std::optional<ReproProgram> torchscript_program(const ShortRequest& request, std::string& why_not) {
    why_not = too_much(request);
    for (const auto& [name, value] : request.graph.failure->options)
        if (value == "onednn") why_not = "a short program cannot set the backend option " + name + "=" + value;
    if (has_writes(request.graph)) why_not = "a short program cannot have in-place writes";
    if (!why_not.empty()) return std::nullopt;
    // What the first run sees may decide how the second one is optimized; a fuser waits for it.
    constexpr int kUntilOptimized = 2;
    ReproProgram optimized = LibTorchProgram(request, Runs::as_torchscript, kUntilOptimized).write();
    if (request.graph.failure->options.contains("fuser")) return optimized;
    ReproProgram once = LibTorchProgram(request, Runs::as_torchscript).write();
    once.otherwise = std::make_shared<ReproProgram>(std::move(optimized));
    return once;
}

}  // namespace whittle
