#include <set>
#include <vector>

#include "backends/command/script_text.h"
#include "backends/command/short_programs.h"
#include "graph/backend_options.h"
#include "ops/core/registry.h"
#include "printers/short_program.h"
#include "printers/title.h"
#include "printers/torch_program.h"
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
        program.text = printers::torch_program(request_, short_.graph, header(), kFile, optimized());
        program.summary = report_title(request_, short_.graph, &Registry::instance(), words());
        program.compiler = "PyTorch " + said_.version;
        program.folder =
            ProgramFolder{.name = kFile, .run = {said_.program.empty() ? "python3" : said_.program, kFile}};
        if (failure_.signature.kind == "crash") program.ends_by = failure_.signature.detail;
        program.control_argument = control();
        program.tracker = "pytorch";
        return program;
    }

  private:
    static constexpr const char* kFile = "run.py";
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
        TitleWords words{
            .how = " under torch.compile(backend='" + said_.compiler + "')" + gradient_words(request_, short_),
            .pass = blame().off};
        if (blame().off.empty() && blame().passes_to >= 0)
            words.when = ", from application " + std::to_string(blame().fails_at) + " of " + blame().level + " on";
        return words;
    }

    std::string header() const {
        const std::string what = whole_statement(request_, short_.graph, &Registry::instance(), words());
        const std::string right = control();
        return python.comment("PyTorch " + first_word(said_.version) + ", CPU: " + as_sentence(what)) +
               (right.empty() ? "" : python.comment("The result is right with " + right + ": python3 run.py control"));
    }

    printers::OptimizedGraph optimized() const {
        printers::OptimizedGraph graph{.by = said_.compiler,
                                       .name = "compiled",
                                       .made = "torch.compile(graph, backend=" + python.quoted(said_.compiler),
                                       .gradients = short_.gradients};
        std::vector<Setting> settings;
        for (const auto& [key, value] : failure_.options) {
            if (key == "mode" && value != "default") graph.made += ", mode=" + python.quoted(value);
            if (key == "dynamic" && value != "auto")
                graph.made += std::string(", dynamic=") + python.boolean(value == "on");
            if (key.starts_with(kConfig)) settings.push_back({key.substr(std::string_view(kConfig).size()), value});
        }
        graph.made += ")";
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
            graph.before = std::string(kControl) +
                           "os.environ.update(TORCH_BISECT_BACKEND=" + python.quoted(said_.compiler) +
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
        why_not = "only some of several outputs have gradients";
    if (failure.signature.kind == "timeout") why_not = "Python cannot stop a run that hangs";
    if (failure.options.contains("pass-limit")) why_not = "the model runs with the backend option pass-limit";
    if (!why_not.empty()) return std::nullopt;
    return TorchCompileProgram(request, graph, said).write();
}

}  // namespace whittle
