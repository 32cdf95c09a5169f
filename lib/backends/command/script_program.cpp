#include <algorithm>

#include "backends/command/repro_code.h"
#include "backends/command/script_text.h"
#include "backends/command/short_onnx.h"
#include "backends/command/short_programs.h"
#include "base/files.h"
#include "base/program_text.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "ops/core/registry.h"
#include "printers/short_program.h"
#include "printers/title.h"
#include "text/language.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

constexpr std::uintmax_t kLargestCompanion = 1 << 20;  // bytes; a larger one is a program that is installed

class Script {
  public:
    Script(const ShortRequest& request, const Scripted& scripted)
        : request_(request), failure_(*request.graph.failure), scripted_(scripted), compared_(compared(request)) {
        for (std::string& word : words_) {
            std::error_code error;
            if (!is_companion(word) || fs::file_size(word, error) > kLargestCompanion) continue;
            const fs::path path = fs::absolute(word).lexically_normal();
            companions_.push_back(path);
            std::ranges::move(files_named_by(path), std::back_inserter(companions_));
            word = "./" + path.filename().string();
        }
        if (scripted.question.empty() &&
            std::ranges::none_of(words_, [](const std::string& word) { return word.find("{}") != word.npos; }))
            words_.emplace_back("{}");
    }

    ReproProgram write() {
        const bool asks = !scripted_.question.empty(), rows = !scripted_.question_without.empty();
        ReproProgram program;
        const std::string run = this->run(), verdict = this->verdict();
        program.text = fill_template("repro_script.py", {{"HEADER", header()},
                                                         {"IMPORTS", imports(run + verdict)},
                                                         {"PARAMETER", asks ? "question" : ""},
                                                         {"FILES", names()},
                                                         {"RUN", run},
                                                         {"VERDICT", verdict}});
        program.summary = report_title(request_, short_.graph, &Registry::instance(), words_of_title());
        program.compiler = scripted_.name + (scripted_.version.empty() ? "" : ", version " + scripted_.version);
        program.files = scripted_.files;
        if (request_.graph.dialect == "onnx") data_set(program.files);
        program.companions = companions_;
        if (asks) program.files.push_back({"question.json", scripted_.question});
        if (rows) program.files.push_back({"question_without.json", scripted_.question_without});
        program.folder = ProgramFolder{.name = "run.py", .run = {"python3", "run.py"}};
        if (rows) program.control = scripted_.off + " switched off";
        return program;
    }

  private:
    bool is(const char* kind) const { return failure_.signature.kind == kind; }
    bool rows() const { return !scripted_.question_without.empty(); }
    std::string header() const {
        const std::string what = whole_statement(request_, short_.graph, &Registry::instance(), words_of_title());
        return plain_python.comment(
            scripted_.name + ": " +
            (rows() ? what + ", because of " + scripted_.off + "; without " + scripted_.off + ", the result is right."
                    : as_sentence(what)));
    }

    TitleWords words_of_title() const { return {.how = gradient_words(request_, short_)}; }

    std::string names() const {
        const auto quoted = [](const ReproProgram::File& file) { return plain_python.quoted(file.name); };
        return join(scripted_.files, quoted) + (scripted_.files.size() == 1 ? "," : "");
    }

    /// The words of the command; "{}" in them is the folder.
    std::string words() const {
        return "[" +
               join(words_,
                    [](const std::string& word) {
                        const bool place = word.find("{}") != std::string::npos;
                        const std::string quoted = plain_python.quoted(word);
                        return word == "{}" ? "folder" : place ? quoted + ".replace(\"{}\", folder)" : quoted;
                    }) +
               "]";
    }

    std::string call() const {
        std::string options;
        if (!scripted_.question.empty()) options += ", input=open(question).read().replace(\"{}\", folder)";
        if (!scripted_.question.empty() || is("exception")) options += ", capture_output=True, text=True";
        if (is("timeout")) options += ", timeout=" + std::to_string(request_.alarm);
        return "subprocess.run(" + words() + options + ")";
    }

    /// The rest of a function that gives the values, or what became of the command.
    std::string run() const {
        if (is("timeout"))
            return "    try:\n        " + call() +
                   "\n    except subprocess.TimeoutExpired:\n        return \"no result after " +
                   std::to_string(request_.alarm) + " s\"\n    return \"ended\"\n";
        if (is("crash")) return "    return " + call() + ".returncode\n";
        if (is("exception") && scripted_.question.empty())
            return "    done = " + call() +
                   "\n    return (done.stderr or \"it ended with \" + str(done.returncode)) if done.returncode else "
                   "\"\"\n";
        if (is("exception"))
            return "    done = " + call() +
                   "\n    return json.loads(done.stdout.splitlines()[-1]).get(\"error\", \"\")\n";
        const DType dtype = request_.expected[compared_.output].dtype();
        const std::string offset = std::to_string(compared_.element * static_cast<std::int64_t>(size_of(dtype)));
        return (scripted_.question.empty() ? "    if " + call() + ".returncode:\n        sys.exit(2)"
                                           : "    " + call()) +
               "\n    data = open(folder + \"/outputs.safetensors\", \"rb\").read()\n"
               "    size = int.from_bytes(data[:8], \"little\")\n"
               "    begin = 8 + size + json.loads(data[8 : 8 + size])[\"" +
               std::to_string(compared_.output) + "\"][\"data_offsets\"][0]" +
               (compared_.element ? " + " + offset : "") + "\n    return list(struct.unpack_from(\"<" +
               std::to_string(compared_.tensor.numel()) + plain_python.type(dtype) + "\", data, begin))\n";
    }

    /// Calls run() and says what came of it.
    std::string verdict() const {
        const std::string one = scripted_.question.empty() ? "run()" : "run(\"question.json\")";
        const std::string both = "{name: run(name + \".json\") for name in (\"question_without\", \"question\")}";
        const auto status = [&](auto wrong) {
            if (!rows()) return "sys.exit(int(" + wrong(std::string("y")) + "))\n";
            return "sys.exit(2 if " + wrong(std::string("y[\"question_without\"]")) + " else int(" +
                   wrong(std::string("y[\"question\"]")) + "))\n";
        };
        const std::string ran = "y = " + (request_.given_expected ? given() : rows() ? both : one) + "\n";
        if (is("mismatch"))
            return ran + "expected = [" + plain_python.elements(compared_.tensor) +
                   "]\nprint(\"y:\", y, \"expected:\", expected)\n" + status([&](const std::string& got) {
                       return "any(" + wrong_text(plain_python, compared_, "a", "e") + " for a, e in zip(" + got +
                              ", expected))";
                   });
        if (is("crash"))
            return ran + "print(\"ended with\", y)\n" +
                   status([&](const std::string& got) { return got + " == -signal." + failure_.signature.detail; });
        if (is("timeout"))
            return ran + "print(y)\n" + status([](const std::string& got) { return got + " != \"ended\""; });
        return ran + "print(y)\n" + status([](const std::string& got) { return got + " != \"\""; });
    }

    /// What is expected, as it is read of a command's file.
    std::string given() const {
        const std::string format =
            "\"<" + std::to_string(compared_.tensor.numel()) + plain_python.type(compared_.tensor.dtype()) + "\"";
        const std::string elements = plain_python.elements(compared_.tensor);
        const std::string values = "list(struct.unpack(" + format + ", struct.pack(" + format + ", " + elements + ")))";
        return rows() ? "{name: " + values + " for name in (\"question_without\", \"question\")}" : values;
    }

    void data_set(std::vector<ReproProgram::File>& files) const {
        const std::vector<ReproProgram::File> model = short_model(request_).files;
        for (const ReproProgram::File& file : model)
            if (file.name.starts_with("test_data_set_0/")) files.push_back(file);
    }

    static std::string imports(const std::string& body) {
        std::string text;
        for (const char* module : {"json", "shutil", "signal", "struct", "subprocess", "sys", "tempfile"})
            if (body.find(std::string(module) + ".") != std::string::npos || module == std::string_view("shutil") ||
                module == std::string_view("tempfile"))
                text += "import " + std::string(module) + "\n";
        return text;
    }

    const ShortRequest& request_;
    const Failure& failure_;
    const Scripted& scripted_;
    const Compared compared_;
    const ShortGraph short_ = short_graph(request_, OutputNames::y);
    std::vector<std::string> words_ = scripted_.words;
    std::vector<fs::path> companions_ = scripted_.companions;
};

}  // namespace

std::vector<ReproProgram::File> files_of(const fs::path& folder) {
    std::vector<ReproProgram::File> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
        files.push_back({entry.path().filename().string(), read_file(entry.path())});
    std::ranges::sort(files, {}, &ReproProgram::File::name);
    return files;
}

std::optional<ReproProgram> script_program(const ShortRequest& request, const Scripted& scripted,
                                           std::string& why_not) {
    why_not = not_shown_shortly(*request.graph.failure);
    if (request.graph.failure->signature.detail == "sizes")
        why_not = "a short program compares only values, but the results differ in sizes";
    if (!request.graph.subgraphs.empty()) why_not = "a short program cannot have nested graphs";
    for (const Tensor& expected : request.expected)
        if (expected.numel() == 0 || plain_python.type(expected.dtype()).empty())
            why_not = "Python's standard library cannot read all of the results";
    if (request.expected.empty()) why_not = "the expected results are unknown";
    if (!why_not.empty()) return std::nullopt;
    return Script(request, scripted).write();
}

const KnownApi* known_api(std::string_view name) {
    static constexpr KnownApi kKnown[] = {
        {"onnxruntime", "ONNX Runtime", "https://github.com/microsoft/onnxruntime/issues", onnxruntime_program},
        {"opencv", "OpenCV", "https://github.com/opencv/opencv/issues", opencv_program},
        {"torch", "PyTorch", "https://github.com/pytorch/pytorch/issues", torch_compile_program}};
    const auto found = std::ranges::find(kKnown, name, &KnownApi::name);
    return found == std::end(kKnown) ? nullptr : &*found;
}

}  // namespace whittle
