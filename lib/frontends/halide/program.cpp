#include "frontends/halide/program.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

#include "base/pattern.h"
#include "frontends/halide/capture/neutral.h"
#include "symbolize/symbolizer.h"
#include "symbolize/text.h"

namespace whittle::halide_program {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// Code of Halide, of the C library or of C++'s: not the program's.
bool is_library(const std::string& module) {
    const std::string file = fs::path(module).filename().string();
    return file.starts_with("libHalide") || file.starts_with("libc.so") || file.starts_with("libstdc++");
}
bool is_header(const std::string& file) {
    return file.ends_with("/Halide.h") || file.ends_with("/HalideBuffer.h") || file.find("/include/c++/") != file.npos;
}

/// Sets file and line, unless the interpreter has said them.
void find_line(Place& place, LineSymbolizer& symbolizer) {
    for (const std::string& address : place.stack) {
        const std::size_t plus = address.rfind('+');
        const std::string module = address.substr(0, plus);
        if (is_library(module)) continue;
        for (const LineInfo& info :
             symbolizer.look_up(fs::absolute(module).string(), std::stoull(address.substr(plus + 1), nullptr, 16))) {
            if (info.file.empty() || info.line == 0 || is_header(info.file)) continue;
            place.file = info.file;
            place.line = info.line;
            place.column = info.column;
            return;
        }
    }
}

/// As the program writes it: "r.x" for the variable "r$x" of a domain, "reorder(x, y)" for the list that it makes.
std::string as_written(std::string text) {
    for (std::size_t at = 0; (at = text.find('$', at)) != text.npos; ++at) {
        const bool named =
            at + 1 < text.size() && std::string_view("xyzw").find(text[at + 1]) != std::string_view::npos;
        if (named && (at + 2 == text.size() || !std::isalnum(static_cast<unsigned char>(text[at + 2])))) text[at] = '.';
    }
    for (const std::string_view list : {"reorder({", "reorder_storage({"})
        if (text.starts_with(list) && text.ends_with("})") && text.find('{') == text.rfind('{')) {
            text.erase(text.size() - 2, 1);
            text.erase(list.size() - 1, 1);
        }
    return text;
}

std::string without_prefix(std::string text, std::string_view prefix) {
    return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

/// "root" of ".__root", "inlined" of an empty level, "g.x".
std::string level_text(const std::string& level) {
    return level.find("__root") != level.npos                                      ? "root"
           : level.empty() || level == "." || level.find("__inline") != level.npos ? "inlined"
                                                                                   : level;
}

std::vector<std::string> as_written(std::vector<std::string> texts) {
    for (std::string& text : texts) text = as_written(std::move(text));
    return texts;
}

std::vector<std::string> strings(const json& line, const char* key) {
    return line.contains(key) ? line[key].get<std::vector<std::string>>() : std::vector<std::string>();
}

Pipeline pipeline_of(const json& line) {
    Pipeline pipeline{.entry = without_prefix(line["pipeline"], "Halide::"), .loop_nest = line.value("loop_nest", "")};
    for (const json& entry : line["funcs"]) {
        Func func{.name = entry["name"],
                  .external = entry.value("extern", ""),
                  .compute = level_text(entry.value("compute", "")),
                  .store = level_text(entry.value("store", ""))};
        for (const json& made : entry.value("definitions", json::array()))
            func.definitions.push_back({as_written(made["text"].get<std::string>()), as_written(strings(made, "loops")),
                                        as_written(strings(made, "domains"))});
        pipeline.funcs.push_back(std::move(func));
    }
    return pipeline;
}

/// One process of the program: its numbers begin behind those of the processes before it.
class Reader {
  public:
    explicit Reader(Program& program) : program_(program) {}

    void read(const std::string& text) {
        before_ = static_cast<int>(program_.directives.size());
        runs_before_ = program_.runs.size();
        made_.clear();
        makers_.clear();
        std::istringstream in(text);
        for (std::string line; std::getline(in, line);) {
            const json parsed = json::parse(line, nullptr, false);
            if (!parsed.is_discarded()) add(parsed);  // the process may have been killed while it wrote
        }
    }

  private:
    void add(const json& line) {
        if (line.contains("directive"))
            add_directive(line);
        else if (line.contains("pipeline"))
            program_.pipelines.push_back(pipeline_of(line));
        else if (line.contains("event"))
            add_event(line);
        else if (line.contains("captured"))
            add_captured(line);
        else if (line.contains("results"))
            add_results(line);
        else if (line.contains("returned"))
            add_returned(before_ + line["returned"].get<int>(), line["func"]);
        for (const auto& [key, kind] : {std::pair("lowered", Step::Kind::lowered),
                                        std::pair("compiled", Step::Kind::compiled), std::pair("ran", Step::Kind::ran)})
            if (line.contains(key))
                program_.steps.push_back({kind, without_prefix(line[key], "Halide::"), line["seconds"]});
    }

    void add_directive(const json& line) {
        Directive directive{
            .number = before_ + line["directive"].get<int>(),
            .key = line["key"],
            .owner = line["owner"],
            .name = line["name"],
            .call = as_written(line["text"].get<std::string>()),
            .place = {.file = line.value("file", ""), .line = line.value("line", 0), .stack = strings(line, "pc")}};
        const auto maker = [&](const std::string& stage, const std::string& loop) {
            const auto found = made_.find(stage + " " + loop);
            return found == made_.end() ? 0 : found->second;
        };
        if (const auto by = makers_.find(directive.func()); by != makers_.end()) directive.needs.push_back(by->second);
        for (const std::string& loop : strings(line, "uses"))
            if (const int number = maker(directive.owner, loop);
                number && std::ranges::find(directive.needs, number) == directive.needs.end())
                directive.needs.push_back(number);
        if (line.contains("at_loop")) directive.at = maker(line["at"], line["at_loop"]);
        for (const std::string& loop : strings(line, "makes")) made_[directive.owner + " " + loop] = directive.number;
        if (line.contains("arguments")) {
            directive.captured = line.get<CapturedCall>();
            if (int& specialized = directive.captured.specialization) specialized += before_;
        }
        program_.directives.push_back(std::move(directive));
    }

    void add_returned(int number, const std::string& func) {
        program_.directives.at(static_cast<std::size_t>(number - 1)).captured.returned = func;
        makers_[func] = number;
    }

    /// After a repair the same pipeline comes again.
    void add_captured(const json& line) {
        CapturedPipeline pipeline = line["captured"];
        if (line.contains("run")) {
            program_.runs.push_back({.number = line["run"],
                                     .first_directive = before_ + 1,
                                     .directive = before_ + line["directives"].get<int>(),
                                     .pipeline = std::move(pipeline),
                                     .serialized = line.value("serialized", "")});
            return;
        }
        const auto same = [&](const CapturedPipeline& one) { return one.outputs == pipeline.outputs; };
        std::erase_if(program_.captured, same);
        program_.captured.push_back(std::move(pipeline));
    }

    void add_results(const json& line) {
        for (std::size_t i = runs_before_; i < program_.runs.size(); ++i)
            if (program_.runs[i].number == line["run"]) line["results"].get_to(program_.runs[i].results);
    }

    void add_event(const json& line) {
        const std::string what = line["event"], text = line.value("text", "");
        const auto number = [&](const char* key) {
            const int inside = line.value(key, 0);
            return inside ? before_ + inside : 0;
        };
        if (what == "other-halide")
            program_.notes.push_back("the program uses another Halide than Whittle was built with (" + text +
                                     "), so the directives of the program were not recorded");
        else if (what == "not-loaded")
            program_.notes.push_back("the library that records directives could not be loaded: " + text);
        else if (what == "not-described")
            program_.notes.push_back("a pipeline could not be described: " + text);
        else if (what == "not-captured")
            program_.notes.push_back("a pipeline could not be captured: " + text);
        else if (what == "no-external")
            program_.notes.push_back("the values of external functions could not be recorded: " + text);
        else if (what == "not-recorded")
            program_.notes.push_back("runs of a pipeline were not recorded: " + text);
        else if (what == "no-result")
            program_.notes.push_back("a result was not compared: " + text);
        else
            program_.events.push_back({what, number("of"), number("needs"), text});
    }

    Program& program_;
    int before_ = 0;
    std::size_t runs_before_ = 0;
    std::map<std::string, int> made_;    ///< "stage loop": the directive that made it last
    std::map<std::string, int> makers_;  ///< Funcs that directives made, by these
};

}  // namespace

std::string Place::text() const {
    if (file.empty()) {
        const auto own = std::ranges::find_if_not(stack, is_library);
        return own == stack.end() ? "?" : fs::path(*own).filename().string();
    }
    const fs::path near = fs::path(file).lexically_proximate(fs::current_path());
    return (near.string().starts_with("..") ? file : near.string()) + ":" + std::to_string(line);
}

std::string Directive::func() const { return func_of(owner); }

bool Directive::is_candidate() const { return !halide_capture::is_neutral(name); }

bool Directive::places_func() const { return halide_program::places_func(name); }

bool Directive::states_size() const {
    return halide_capture::is_neutral(name) && name != "compute_root" && !name.starts_with("set_estimate");
}

bool Event::is_error() const { return what.ends_with("error"); }

std::string Event::message() const {
    static const Pattern before(R"(^Error( at \S+)?:\s+)"), shifted(R"((\.\$n)+)");
    const std::string message = shifted.replaced(before.replaced(text, ""), "");
    return message.substr(0, message.find('\n'));
}

const Event* Program::first_error() const {
    const auto found = std::ranges::find_if(events, &Event::is_error);
    return found == events.end() ? nullptr : &*found;
}

std::string Program::error() const {
    const Event* const found = first_error();
    return found ? found->what + ": " + found->text.substr(0, found->text.find_last_not_of('\n') + 1) : "";
}

Program read_lines(const std::vector<std::string>& files) {
    Program program;
    Reader reader(program);
    for (const std::string& file : files) reader.read(file);
    return program;
}

void find_lines(Program& program) {
    const std::unique_ptr<LineSymbolizer> symbolizer = make_symbolizer();
    SourceTexts sources;
    for (Directive& directive : program.directives) {
        Place& place = directive.place;
        if (place.file.empty()) find_line(place, *symbolizer);
        if (place.line) place.source = sources.line(place.file, place.line);
    }
}

}  // namespace whittle::halide_program
