#include "backends/libtorch/short_program.h"

#include <torch/csrc/api/include/torch/version.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <set>

#include "backends/libtorch/memory.h"
#include "backends/libtorch/script_text.h"
#include "backends/libtorch/short_python.h"
#include "base/error.h"
#include "base/files.h"
#include "base/program_text.h"
#include "base/subprocess.h"
#include "expr/cpp_text.h"
#include "graph/short_program.h"
#include "graph/title.h"
#include "graph/value_ref.h"
#include "ops/aten/earlier.h"
#include "ops/core/memory.h"
#include "ops/core/registry.h"
#include "tensor/alike.h"
#include "tensor/expanded.h"
#include "tensor/reach.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kMostInPlace = 16;  // elements that a reader takes in
constexpr std::int64_t kMostCalls = 12;

/// What LibTorch declares no function of is a method, as its headers have it.
bool is_method(const std::string& name) {
    const std::string stem = name.ends_with('_') ? name.substr(0, name.size() - 1) : name;
    const fs::path header = fs::path(WHITTLE_TORCH_HEADERS) / "ATen" / "ops" / (stem + ".h");
    std::error_code ignored;
    if (!fs::exists(header, ignored)) return name.ends_with('_');
    return read_file(header).find(" " + name + "(const") == std::string::npos &&
           read_file(header).find(" " + name + "(at::") == std::string::npos;
}

/// Empty where this LibTorch, or the program, has no such elements.
std::string dtype_name(DType dtype) {
    return aten::has(dtype) && !is_complex(dtype) ? "torch::k" + std::string(info_of(dtype).torch) : "";
}

std::string list_of(const std::vector<std::int64_t>& sizes) {
    std::string text;
    for (const std::int64_t size : sizes) text += (text.empty() ? "" : ", ") + std::to_string(size);
    return "{" + text + "}";
}

/// A double that reads back as the same value of the dtype.
std::string number(DType dtype, double value) {
    const bool plain = value == std::trunc(value) && std::fabs(value) < 1e6 && !(value == 0 && std::signbit(value));
    if (plain) return std::to_string(static_cast<long>(value)) + ".0";
    // As a double, f32's shortest text of its largest value is beyond it: LibTorch refuses that.
    const bool largest = std::fabs(value) == std::numeric_limits<float>::max();
    std::string text = expr::float_literal(dtype == DType::f64 || largest ? DType::f64 : DType::f32, value).text;
    if (std::isfinite(value) && text.ends_with('f')) text.pop_back();
    return text;
}

/// A node's name, where it is none of C++'s words.
std::string cpp_variable(const std::string& name) {
    constexpr std::string_view kTaken[] = {"and", "or",  "not",     "xor",   "bitand", "bitor", "compl", "expected",
                                           "new", "int", "default", "float", "double", "bool",  "this",  "main"};
    return std::ranges::find(kTaken, name) == std::end(kTaken) ? name : name + "_";
}

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
        std::map<std::string, std::string> values = {
            {"HEADER", header()}, {"BUILD", build()}, {"BEFORE", ends_by_failure(request_)}};
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
        values["INCLUDES"] = includes(values);
        ReproProgram program;
        program.text = fill_template(scripted_ ? "repro_torchscript_short.cpp" : "repro_libtorch_short.cpp", values);
        program.summary = report_title(request_, graph_, &Registry::instance(), title_words());
        program.compiler = "LibTorch " + version();
        program.compile_flags = flags();
        program.tracker = "pytorch";
        if (request_.near && !scripted_) program.near = near_text(graph_, *request_.near);
        std::optional<ScriptMode> scripted;
        if (scripted_) scripted = {.fused = fused(), .frozen = frozen(), .times = times_};
        const std::string about = "PyTorch " + version() + ", CPU: " + sentence();
        if (auto python = torch_in_python(request_, graph_, about, scripted)) program.others = {std::move(*python)};
        if (scripted_) program.control_argument = unprepared() + "TorchScript's optimizer switched off";
        return program;
    }

  private:
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
        return flags;
    }

    std::string sentence() const {
        return as_sentence(whole_statement(request_, graph_, &Registry::instance(), title_words()));
    }
    std::string header() const {
        const std::string text = comment_lines("//", "LibTorch " + version() + ", CPU: " + sentence());
        const std::string run = shell_quote({"./" + request_.file.stem().string()});
        if (!scripted_) return text;
        return text + comment_lines("//", "Right " + unprepared() + "with TorchScript's optimizer switched off (" +
                                              run + " control).");
    }
    /// Of the control of TorchScript.
    std::string unprepared() const { return frozen() ? "without optimize_for_inference(), and " : ""; }

    std::string build() const {
        const std::string program = request_.file.stem().string();
        std::vector<std::string> argv = {"g++", "-std=c++17", "-O1", request_.file.filename().string(), "-o", program};
        for (const std::string& flag : flags()) argv.push_back(flag);
        return shell_quote(argv) + " && " + shell_quote({"./" + program});
    }

    // ---- data -------------------------------------------------------------------------------------------------------

    /// Statements that define a tensor of this name.
    static std::string defined(const std::string& name, const Tensor& tensor) {
        if (const Tensor once = unexpanded(tensor); once.sizes() != tensor.sizes())
            return defined(name, once) + "    " + name + " = " + name + ".expand(" + list_of(tensor.sizes()) + ");\n";
        const std::string dtype = tensor.dtype() == DType::f32 ? "" : ", " + dtype_name(tensor.dtype());
        const Tensor contiguous = tensor.contiguous();
        std::string made;
        if (tensor.numel() > 1 && all_alike(contiguous)) {
            made = "torch::full(" + list_of(tensor.sizes()) + ", " + element(contiguous, 0) + dtype + ")";
        } else {
            for (std::int64_t i = 0; i < tensor.numel(); i++) made += (i ? ", " : "") + element(contiguous, i);
            made = "torch::tensor({" + made + "}" + dtype + ")";
            if (tensor.sizes() != Sizes{tensor.numel()}) made += ".reshape(" + list_of(tensor.sizes()) + ")";
        }
        if (tensor.strides() == contiguous_strides(tensor.sizes()))
            return "    torch::Tensor " + name + " = " + made + ";\n";
        const std::int64_t extent = tensor.numel() ? reach(tensor.sizes(), tensor.strides())->count() : 0;
        if (extent != tensor.numel())  // between its elements there is no memory that nobody wrote
            return "    torch::Tensor " + name + " = torch::zeros({" + std::to_string(extent) + "}" + dtype +
                   ").as_strided(" + list_of(tensor.sizes()) + ", " + list_of(tensor.strides()) + ");\n    " + name +
                   ".copy_(" + made + ");\n";
        return "    torch::Tensor " + name + " = torch::empty_strided(" + list_of(tensor.sizes()) + ", " +
               list_of(tensor.strides()) + dtype + ");\n    " + name + ".copy_(" + made + ");\n";
    }

    static std::string element(const Tensor& contiguous, std::int64_t i) {
        const Tensor one = contiguous.as_strided({}, {}, contiguous.offset() + i);
        if (is_floating(contiguous.dtype())) return number(contiguous.dtype(), one.to(DType::f64).item().to_double());
        if (contiguous.dtype() == DType::boolean) return one.item().to_bool() ? "true" : "false";
        return one.item().integer_text();
    }

    std::string inputs() const {
        std::string text;
        std::size_t next = 0;
        for (const Node& node : graph_.nodes) {
            if (node.kind == NodeKind::placeholder) text += defined(node.name, failure_.inputs.at(next++));
            if (node.kind == NodeKind::get_attr) text += defined(node.name, graph_.attributes.at(node.target));
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
                const std::string of = cpp_variable(graph_.node({read->node}).name);
                const bool list = lists_.contains(read->node);
                values_[id] = list ? of + "[" + std::to_string(read->index) + "]"
                                   : "std::get<" + std::to_string(read->index) + ">(" + of + ")";
                continue;
            }
            values_[id] = cpp_variable(node.name);
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
        std::string arguments;
        for (std::size_t i = method ? 1 : 0; i < std::min(given, bound.size()); i++)
            arguments += (arguments.empty() ? "" : ", ") + argument(schema->params[i], bound[i]);
        if (!method) return "torch::" + function + "(" + arguments + ")";
        return argument(schema->params.at(0), bound.at(0)) + "." + function + "(" + arguments + ")";
    }

    std::string argument(const Param& param, const Arg& arg) const {
        if (arg.is_none())
            return param.type == ParamType::tensor && !param.optional ? "torch::Tensor()" : "c10::nullopt";
        if (const NodeRef* ref = arg.node()) return values_.at(ref->id);
        if (const ArgList* list = arg.list()) {
            std::string text;
            for (const Arg& one : *list) text += (text.empty() ? "" : ", ") + argument(param, one);
            if (param.type == ParamType::tensor_list)
                return (param.optional ? "c10::List<c10::optional<torch::Tensor>>({" : "std::vector<torch::Tensor>{") +
                       text + (param.optional ? "})" : "}");
            if (param.type == ParamType::float_list) return "std::vector<double>{" + text + "}";
            return (param.optional ? "at::IntArrayRef({" : "{") + text + (param.optional ? "})" : "}");
        }
        if (const auto* value = std::get_if<bool>(&arg.value)) return *value ? "true" : "false";
        if (const auto* value = std::get_if<DType>(&arg.value)) return dtype_name(*value);
        if (const auto* value = std::get_if<std::int64_t>(&arg.value))
            return param.type == ParamType::tensor
                       ? "torch::scalar_tensor(" + std::to_string(*value) + ", torch::kInt64)"
                       : std::to_string(*value);
        if (const auto* value = std::get_if<double>(&arg.value))
            return param.type == ParamType::tensor ? "torch::scalar_tensor(" + number(DType::f64, *value) + ")"
                                                   : number(DType::f64, *value);
        if (const auto* value = std::get_if<std::string>(&arg.value)) return text_argument(param, *value);
        throw Error("a call takes a nested graph");
    }

    static std::string text_argument(const Param& param, const std::string& text) {
        if (param.name == "memory_format")
            return text == "channels_last"      ? "torch::MemoryFormat::ChannelsLast"
                   : text == "channels_last_3d" ? "torch::MemoryFormat::ChannelsLast3d"
                   : text == "preserve_format"  ? "torch::MemoryFormat::Preserve"
                                                : "torch::MemoryFormat::Contiguous";
        if (param.name == "layout") return "torch::kStrided";
        if (param.name == "device") return "torch::kCPU";
        return string_literal(text);
    }

    // ---- TorchScript ------------------------------------------------------------------------------------------------

    std::string script_calls() {
        std::string inputs;
        for (const NodeId id : graph_.placeholders()) inputs += (inputs.empty() ? "" : ", ") + graph_.node({id}).name;
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

    std::string compare_sizes(std::size_t output) const {
        const std::string expected = list_of(request_.expected[output].sizes());
        const std::string value = request_.given_expected ? "torch::zeros(" + expected + ")" : value_of(output);
        return "    if (" + value + ".sizes() != at::IntArrayRef(" + expected +
               ")) {\n        printf(\"sizes %s, expected " + to_string(request_.expected[output].sizes()) +
               "\\n\", c10::str(" + value + ".sizes()).c_str());\n        return 1;\n    }\n";
    }

    std::string compare_dtype(std::size_t output) const {
        const std::string expected = dtype_name(request_.expected[output].dtype());
        const std::string value = request_.given_expected ? "torch::zeros(1, " + expected + ")" : value_of(output);
        return "    if (" + value + ".scalar_type() != " + expected +
               ") {\n        printf(\"%s, expected %s\\n\", toString(" + value + ".scalar_type()), toString(" +
               expected + "));\n        return 1;\n    }\n";
    }

    std::string compare() const {
        if (const auto wrong = wrong_sizes(request_)) return compare_sizes(*wrong);
        if (const auto wrong = wrong_dtype(request_)) return compare_dtype(*wrong);
        std::string text;
        const std::vector<NodeId> outputs = graph_.outputs();
        const auto wrong = first_wrong(request_);
        for (std::size_t i = 0; i < outputs.size(); i++) {
            const Tensor& expected = request_.expected[i];
            const std::string right = outputs.size() == 1 ? "expected" : "expected" + std::to_string(i);
            const Tolerance tolerance = failure_.accuracy.tolerance(expected.dtype());
            const std::string value = request_.given_expected ? right : value_of(i);
            const std::string element = std::to_string(wrong && wrong->output == i ? wrong->element : 0);
            const DType dtype = expected.dtype();
            const std::string type = is_floating(dtype) ? "double" : dtype == DType::boolean ? "bool" : "int64_t";
            const DType read = is_floating(dtype) ? DType::f64 : dtype == DType::boolean ? dtype : DType::i64;
            const auto at = [&](const std::string& name) {
                return printed_element(read, name + ".flatten()[" + element + "].item<" + type + ">()");
            };
            const PrintedElement seen = at(value), wanted = at(right);
            text += defined(right, expected.contiguous());
            text += "    if (!torch::allclose(" + value + ", " + right + ", " + short_number(tolerance.rtol) + ", " +
                    short_number(tolerance.atol) + ", /*equal_nan=*/true)) {\n        printf(\"element " + element +
                    ": " + seen.format + ", expected " + wanted.format + "\\n\", " + seen.argument +
                    ",\n               " + wanted.argument + ");\n        return 1;\n    }\n";
        }
        return text;
    }

    static std::string includes(const std::map<std::string, std::string>& values) {
        std::string body;
        for (const auto& [key, value] : values) body += value;
        const auto has = [&](const char* word) { return body.find(word) != std::string::npos; };
        std::string text;
        if (has("INFINITY") || has("NAN")) text += "#include <cmath>\n";
        if (has("signal(")) text += "#include <csignal>\n";
        text += "#include <cstdio>";
        if (has("_exit(")) text += "\n#include <unistd.h>";
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
    const Failure& failure = *request.graph.failure;
    if (std::string why = not_shown_shortly(failure, true); !why.empty()) return why;
    if (request.graph.dialect != "aten") return "the graph is not in the aten dialect";
    if (op_count(request.graph) > kMostCalls || !request.graph.subgraphs.empty())
        return "the graph is too long for a short program";
    std::vector<Tensor> all = failure.inputs;
    all.insert(all.end(), request.expected.begin(), request.expected.end());
    for (const auto& [key, value] : request.graph.attributes) all.push_back(value);
    for (const Tensor& tensor : all)
        if (dtype_name(tensor.dtype()).empty())
            return "a short program cannot write " + std::string(name(tensor.dtype()));
    const auto large = [](const Tensor& tensor) {
        return (tensor.numel() > kMostInPlace && !all_alike(tensor)) || tensor.numel() == 0;
    };
    if (std::ranges::any_of(failure.inputs, large) || std::ranges::any_of(request.expected, large))
        return "the inputs and outputs are too long for a short program";
    for (const auto& [key, value] : request.graph.attributes)
        if (large(value)) return "the parameters are too long for a short program";
    return {};
}

}  // namespace

std::optional<ReproProgram> libtorch_program(const ShortRequest& request, std::string& why_not) {
    why_not = too_much(request);
    if (why_not.empty() && !request.graph.failure->options.empty())
        why_not = "the model needs a library of ops (--op-library)";
    if (!why_not.empty()) return std::nullopt;
    return LibTorchProgram(request, Runs::op_by_op).write();
}

std::optional<ReproProgram> torchscript_program(const ShortRequest& request, std::string& why_not) {
    why_not = too_much(request);
    for (const auto& [name, value] : request.graph.failure->options)
        if (value == "onednn") why_not = "the model runs with " + name + "=" + value;
    if (has_writes(request.graph)) why_not = "the graph has in-place writes";
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
