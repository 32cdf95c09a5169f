#include <set>
#include <vector>

#include "backends/command/script_text.h"
#include "backends/command/short_programs.h"
#include "base/subprocess.h"
#include "graph/backend_options.h"
#include "ops/core/registry.h"
#include "printers/short_program.h"
#include "printers/title.h"
#include "printers/torch_cpp.h"
#include "printers/torch_program.h"
#include "printers/torch_python.h"
#include "text/language.h"

namespace whittle {
namespace {

using language::python;

constexpr const char *kConfig = "config.", *kControl = "if sys.argv[1:] == ['control']:\n    ";
constexpr const char* kDecomposition = "decomposition";

/// A setting of PyTorch's configuration: "functorch.cse", which the options call "config.functorch.cse".
struct Setting {
    std::string name, value;

    std::string module() const {
        for (const char* const other : {"functorch", "dynamo"})
            if (name.starts_with(std::string(other) + ".")) return std::string("torch._") + other + ".config";
        return "torch._inductor.config";
    }
    /// "torch._inductor.config.freezing = True\n".
    std::string statement() const {
        const std::string own = module();
        const std::size_t begin = own == "torch._inductor.config" ? 0 : name.find('.') + 1;
        return own + "." + name.substr(begin) + " = " + literal() + "\n";
    }

  private:
    /// Whatever is no literal of Python's is a text.
    std::string literal() const {
        const bool word = value == "True" || value == "False" || value == "None";
        const bool other = value.find_first_of("0123456789-+.'\"[({") == 0;
        return word || other ? value : python.quoted(value);
    }
};

/// Of the switch "freezing=False" what switches it off.
Setting switched(const std::string& name) {
    const std::size_t equals = name.find('=');
    return {name.substr(0, equals), name.substr(equals + 1) == "True" ? "False" : "True"};
}

class TorchCompileProgram {
  public:
    TorchCompileProgram(const ShortRequest& request, const ShortGraph& graph, const WorkerHello& said)
        : request_(request), failure_(*request.graph.failure), said_(said), short_(graph) {}

    ReproProgram write() const {
        ReproProgram program;
        program.text = printers::torch_program(request_, short_.graph, header("python3 run.py"), kFile, optimized());
        program.summary = report_title(request_, short_.graph, &Registry::instance(), words());
        program.compiler = "PyTorch " + said_.version;
        program.folder = ProgramFolder{.name = kFile, .run = {interpreter(), kFile}};
        if (failure_.signature.kind == "crash") program.ends_by = failure_.signature.detail;
        program.control_argument = control();
        program.tracker = "pytorch_compile";
        return said_.build.empty() || failure_.signature.stage != "run" ? program : deployed(std::move(program));
    }

  private:
    static constexpr const char* kFile = "run.py";
    bool is_ahead_of_time() const { return said_.compiler == "aoti"; }
    std::string interpreter() const { return said_.program.empty() ? "python3" : said_.program; }

    /// A program in C++ that runs the package which the script writes, as the failure was found.
    ReproProgram deployed(ReproProgram script) const {
        const bool controlled = !control().empty();
        ReproProgram program = script;
        program.text = printers::torch_package_program(request_, short_.graph, header("./run"), "sh build.sh && ./run",
                                                       controlled);
        program.folder = ProgramFolder{.name = "run.cpp", .build = {"sh", "build.sh"}, .run = {"./run"}};
        std::string build = shell_quote(script.folder->run) + "  # writes package.pt2\n";
        if (controlled) build += shell_quote(script.folder->run) + " control  # writes control.pt2\n";
        program.files = {{"build.sh", build + shell_quote(said_.build) + "\n"}};
        program.others = {{.name = kFile,
                           .text = script.text,
                           .run = script.folder->run,
                           .probe = {interpreter(), "-c", "import torch; print('PyTorch', torch.__version__)"},
                           .ends_by = script.ends_by}};
        return program;
    }
    const Blame& blame() const { return request_.blame; }
    /// PyTorch's bisector limits passes under the name of the compiler to which they belong.
    bool limits() const {
        return blame().off.empty() && blame().passes_to >= 0 &&
               (blame().level != kDecomposition || said_.compiler == "aot_eager_decomp_partition");
    }

    std::string control() const {
        if (!blame().off.empty()) return blame().off + " switched off";
        if (!limits()) return {};
        return "at most " + std::to_string(blame().passes_to) + " of " + blame().level;
    }

    TitleWords words() const {
        const std::string by = is_ahead_of_time() ? "AOTInductor" : "torch.compile(backend='" + said_.compiler + "')";
        TitleWords words{.how = " under " + by + gradient_words(request_, short_), .pass = blame().off};
        if (blame().off.empty() && blame().passes_to >= 0)
            words.when = ", from application " + std::to_string(blame().fails_at) + " of " + blame().level + " on";
        return words;
    }

    std::string header(const std::string& command) const {
        const std::string what = whole_statement(request_, short_.graph, &Registry::instance(), words());
        const std::string right = control();
        const Language& language = command == "./run" ? language::cpp : python;
        return language.comment("PyTorch " + first_word(said_.version) + ", CPU: " + as_sentence(what)) +
               (right.empty() ? ""
                              : language.comment("The result is right with " + right + ": " + command + " control"));
    }

    printers::OptimizedGraph compiled() const {
        printers::OptimizedGraph graph{.by = said_.compiler,
                                       .name = "compiled",
                                       .made = "torch.compile(graph, backend=" + python.quoted(said_.compiler),
                                       .gradients = short_.gradients};
        for (const auto& [key, value] : failure_.options) {
            if (key == "mode" && value != "default") graph.made += ", mode=" + python.quoted(value);
            if (key == "dynamic" && value != "auto")
                graph.made += std::string(", dynamic=") + python.boolean(value == "on");
        }
        graph.made += ")";
        return graph;
    }

    /// A package of AOTInductor. With a control, the script's argument is its name.
    printers::OptimizedGraph packaged() const {
        std::vector<std::string> inputs;
        for (const NodeId id : short_.graph.placeholders())
            inputs.push_back(printers::python_variable(short_.graph.node({id}).name));
        const std::string path = control().empty() ? "'package.pt2'" : "(sys.argv[1:] or ['package'])[0] + '.pt2'";
        return {.by = "AOTInductor",
                .name = "compiled",
                .made = "torch._inductor.aoti_load_package(package)",
                .steps = {"exported = torch.export.export(graph, " + Language::tuple(inputs) + ", strict=False)",
                          "package = torch._inductor.aoti_compile_and_package(exported, package_path=" + path + ")"},
                .module = true};
    }

    printers::OptimizedGraph optimized() const {
        printers::OptimizedGraph graph = is_ahead_of_time() ? packaged() : compiled();
        std::vector<Setting> settings;
        for (const auto& [key, value] : failure_.options)
            if (key.starts_with(kConfig)) settings.push_back({key.substr(std::string_view(kConfig).size()), value});
        for (const std::string& off : option_parts(failure_.options, "disable")) settings.push_back(switched(off));
        std::string statements;
        for (const Setting& setting : settings) statements += setting.statement();
        if (!blame().off.empty()) {
            settings.push_back(switched(blame().off));
            statements += kControl + settings.back().statement();
        }
        std::set<std::string> modules;
        for (const Setting& setting : settings) modules.insert(setting.module());
        for (const std::string& module : modules) graph.after += "import " + module + "\n";
        if (!statements.empty()) graph.after += "\n" + statements;
        if (limits())
            graph.before = std::string(kControl) + "os.environ.update(TORCH_BISECT_BACKEND=" +
                           python.quoted(is_ahead_of_time() ? "inductor" : said_.compiler) +
                           ", TORCH_BISECT_SUBSYSTEM=" + python.quoted(blame().level) + ", TORCH_BISECT_MAX='" +
                           std::to_string(blame().passes_to - 1) + "')\n";  // the last one's
        return graph;
    }

    const ShortRequest& request_;
    const Failure& failure_;
    const WorkerHello& said_;
    const ShortGraph& short_;
};

}  // namespace

std::optional<ReproProgram> torch_compile_program(const ShortRequest& request, const WorkerHello& said,
                                                  std::string& why_not) {
    const Failure& failure = *request.graph.failure;
    ShortGraph graph = short_graph(request, OutputNames::y);
    graph.graph = without_defaults(std::move(graph.graph), Registry::instance());
    why_not = printers::not_in_torch_program(request, graph.graph, is_computed);
    if (request.gradients && request.gradients->tangents.size() > 1 &&
        request.gradients->tangents.size() != request.gradients->outputs)
        why_not = "a short program needs the gradients of one output or of all outputs";
    if (failure.signature.kind == "timeout") why_not = "Python cannot stop a run that hangs";
    if (failure.options.contains("pass-limit")) why_not = "a short program cannot set the backend option pass-limit";
    if (!why_not.empty()) return std::nullopt;
    return TorchCompileProgram(request, graph, said).write();
}

}  // namespace whittle
