#include "report/page/page.h"

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "base/words.h"
#include "formats/json_text.h"
#include "report/page/parts.h"

namespace whittle::html {

using nlohmann::json;

namespace {

std::string element(const std::string& tag, std::string_view text) {
    return text.empty() ? std::string() : "<" + tag + ">" + html_escaped(text) + "</" + tag + ">\n";
}

/// Of a finding: "caption.cpp:27 in step", of its place [file, line, function]; else what it says instead.
std::string where_text(const json& data, const json& finding) {
    const json& place = finding["place"];
    if (place.is_null()) return finding.value("where", "");
    const auto path = data["files"][place[0].get<std::size_t>()]["path"].get<std::string>();
    const auto function = place[2].get<std::string>();
    return path.substr(path.rfind('/') + 1) + ":" + place[1].dump() + (function.empty() ? "" : " in " + function);
}

/// The line of the source at a place; empty where the page has no sources.
std::string source_line(const json& data, const json& place) {
    if (place.is_null()) return {};
    const json& lines = data["files"][place[0].get<std::size_t>()]["lines"];
    const auto line = place[1].get<std::size_t>();
    return line > 0 && line <= lines.size() ? trimmed(lines[line - 1].get<std::string>()) : "";
}

/// "layer_norm computes wrong results under halide at transformer.cpp:24"; empty where nothing failed.
std::string failure_line(const json& data) {
    const json& headline = data["headline"];
    if (headline.is_null()) return {};
    const std::string place = where_text(data, headline);
    return headline["text"].get<std::string>() + (place.empty() ? "" : " at " + place) +
           (headline["more"] > 0 ? ", and " + plural(headline["more"].get<int>(), "more failure") : "");
}

std::string counts(const json& data) {
    const auto count = [&](const char* what, const char* noun) {
        return plural(data["totals"][what].get<std::size_t>(), noun);
    };
    return data["model"].get<std::string>() + ": " + count("graphs", "graph") + ", " + count("ops", "operation") +
           ", " + count("breaks", "graph break") + ", " + count("recompiles", "recompile");
}

std::string findings_table(const json& data) {
    if (data["findings"].empty()) return {};
    std::string text =
        "<h2>What happened</h2><table><thead><tr><th></th><th>What</th><th>Where</th><th>Next</th></tr></thead><tbody>";
    for (const json& finding : data["findings"]) {
        const json& command = finding["command"];
        text += "<tr>";
        for (const std::string& cell :
             {finding["level"].get<std::string>(),
              finding["title"].get<std::string>() + ": " + finding["detail"].get<std::string>(),
              where_text(data, finding), command.is_null() ? "" : command.get<std::string>()})
            text += "<td>" + html_escaped(cell) + "</td>";
        text += "</tr>";
    }
    return text + "</tbody></table>\n";
}

/// What the programs print: explain diff and divergence, its report with --times; and the repros.
std::string printed(const PageFacts& facts, const json& data) {
    const report::TextOptions options{.ops = true, .guards = true, .times = true, .recompiles = true};
    std::string text;
    if (facts.diff) text += element("pre", to_text(*facts.diff, options));
    if (!facts.schedule_text.empty()) text += element("pre", facts.schedule_text);
    text += element("pre", to_text(facts.report, options)) + element("pre", to_text(facts.subject.profile, options));
    for (const auto& [graph, compared] : facts.accuracy)
        text += element("h2", graph) + element("pre", to_text(compared.divergence, compared.backend, options));
    for (const json& result : data.value("minify", json::array()))
        if (const auto repro = result.find("repro"); repro != result.end()) {
            text += element("h2", "The repro");
            if (repro->value("form", "") == "short")
                text += element("p", "This program differs from the model, but has the same failure.");
            text += element("pre", (*repro)["text"].get<std::string>());
        }
    return text;
}

/// The main facts, for readers without JavaScript and for text browsers.
std::string plain_facts(const PageFacts& facts, const json& data) {
    std::string text;
    if (const std::string failure = failure_line(data); !failure.empty()) {
        const std::string line = source_line(data, data["headline"]["place"]);
        text += element("h1", failure) + (line.empty() ? "" : "<p>" + element("code", line) + "</p>\n") +
                element("p", counts(data));
    } else {
        text += element("h1", counts(data));
    }
    text += "<p>" + element("code", data["command"].get<std::string>()) + "</p>\n" + findings_table(data) +
            printed(facts, data) + element("h2", "Environment");
    for (const auto& [key, value] : facts.environment) text += element("p", key + ": " + value);
    return text;
}

/// JSON without a '<', so that no tag in its texts begins or ends anything.
std::string embedded(const json& data) {
    std::string safe;
    for (const char c : data.dump(-1, ' ', false, json::error_handler_t::replace)) {
        if (c == '<')
            safe += "\\u003c";
        else
            safe += c;
    }
    return safe;
}

/// Of the browser's tab: what failed, and of which model.
std::string title(const json& data) {
    const std::string failure = failure_line(data);
    return (failure.empty() ? "" : failure + " · ") + data["model"].get<std::string>();
}

}  // namespace

std::string page(PageFacts facts) {
    hide_source(facts);
    const json data = page_data(facts);
    // The template's parts are between marks, each alone on its line.
    struct Part {
        std::string_view mark;
        std::string text;
    };
    const std::vector<Part> parts = {{"{{TITLE}}", html_escaped(title(data))},
                                     {"{{STYLE}}", asset_style()},
                                     {"{{FACTS}}", plain_facts(facts, data)},
                                     {"{{DATA}}", embedded(data)},
                                     {"{{SCRIPT}}", asset_script()}};
    const std::string model = asset_page();
    std::string_view rest = model;
    std::string text;
    for (const Part& part : parts) {
        const std::size_t at = rest.find(part.mark);
        text.append(rest.substr(0, at)) += part.text;
        rest.remove_prefix(at + part.mark.size());
    }
    return text.append(rest);
}

}  // namespace whittle::html
