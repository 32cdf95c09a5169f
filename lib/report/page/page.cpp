#include "report/page/page.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "base/number_text.h"
#include "base/words.h"
#include "report/page/assets.h"

namespace whittle::html {

using nlohmann::json;

namespace {

std::string escaped(std::string_view text) {
    std::string result;
    for (const char c : text) switch (c) {
            case '&':
                result += "&amp;";
                break;
            case '<':
                result += "&lt;";
                break;
            case '>':
                result += "&gt;";
                break;
            case '"':
                result += "&quot;";
                break;
            default:
                result += c;
        }
    return result;
}

/// "caption.cpp:27", of [file, line, function]: the file's folder is told once, under Source files.
std::string place_text(const json& data, const json& place) {
    if (!place.is_array() || place.empty()) return {};
    const auto path = data["files"][place[0].get<std::size_t>()]["path"].get<std::string>();
    return path.substr(path.rfind('/') + 1) + ":" + place[1].dump();
}

/// Of a finding: its place and function, else what it says instead.
std::string where_text(const json& data, const json& finding) {
    const json& place = finding["place"];
    const std::string line = place_text(data, place);
    if (line.empty()) return finding.value("where", "");
    const std::string function = place.size() > 2 ? place[2].get<std::string>() : "";
    return line + (function.empty() ? "" : " in " + function);
}

/// The line of the source at a place; empty where the page has no sources.
std::string source_line(const json& data, const json& place) {
    if (!place.is_array() || place.size() < 2) return {};
    const json& lines = data["files"][place[0].get<std::size_t>()]["lines"];
    const std::size_t line = place[1].get<std::size_t>();
    return line > 0 && line <= lines.size() ? trimmed(lines[line - 1].get<std::string>()) : "";
}

std::string text_of(const json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

using Row = std::vector<std::string>;
std::string table(const std::string& title, const Row& head, const std::vector<Row>& rows) {
    if (rows.empty()) return {};
    const auto cells = [](const char* tag, const Row& row) {
        std::string text = "<tr>";
        for (const std::string& cell : row)
            text.append("<").append(tag).append(">") += escaped(cell) + "</" + tag + ">";
        return text + "</tr>";
    };
    std::string text = "<h2>" + escaped(title) + "</h2><table><thead>" + cells("th", head) + "</thead><tbody>";
    for (const Row& row : rows) text += cells("td", row);
    return text + "</tbody></table>\n";
}

/// `row` of each entry.
template <class F>
std::vector<Row> rows(const json& entries, F&& row) {
    std::vector<Row> all;
    for (const json& entry : entries) all.push_back(row(entry));
    return all;
}

/// "layer_norm computes wrong results under halide at transformer.cpp:24"; empty where nothing failed.
std::string failure_line(const json& data) {
    const json& headline = data["headline"];
    if (headline.is_null()) return {};
    const std::string place = where_text(data, headline);
    return text_of(headline["text"]) + (place.empty() ? "" : " at " + place) +
           (headline["more"] > 0 ? ", and " + headline["more"].dump() + " more failures" : "");
}

std::string counts(const json& data) {
    const auto count = [&](const char* what, const char* noun) {
        return plural(data["totals"][what].get<std::size_t>(), noun);
    };
    return data["model"].get<std::string>() + ": " + count("graphs", "graph") + ", " + count("ops", "operation") +
           ", " + count("breaks", "graph break") + ", " + count("recompiles", "recompile");
}

/// What minify found.
std::string minified_facts(const json& data) {
    std::string text;
    const auto minified = data.find("minify");
    if (minified == data.end()) return text;
    for (const json& result : *minified) {
        text += table("Minimized", {"Verdict", "Operations", "Queries", "Fails with", "Is right"},
                      {{result["result"], result["calls_before"].dump() + " to " + result["calls_after"].dump(),
                        result["queries"].dump(), result.value("minimized_message", result.value("message", "")),
                        result.value("without", "")}});
        const auto repro = result.find("repro");
        if (repro == result.end()) continue;
        text += "<h2>The repro</h2>\n";
        if (repro->value("form", "") == "short")
            text += "<p>Another program than the model, with the same failure.</p>\n";
        text += "<pre>" + escaped((*repro)["text"].get<std::string>()) + "</pre>\n";
    }
    return text;
}

/// Times of the slowest kernels and memory, where they were measured.
std::string measured_facts(const json& data) {
    constexpr std::size_t kMost = 15;
    std::string text;
    if (const auto profile = data.find("profile"); profile != data.end()) {
        text += table("Times", {"Graph", "Compiled in, s", "Runs in, ms", ""},
                      rows((*profile)["graphs"], [](const json& g) {
                          return Row{g["graph"], fixed(g["compile_seconds"], 3),
                                     fixed(1e3 * g["seconds"].get<double>(), 3), g.value("failure", "")};
                      }));
        std::vector<json> kernels;
        for (const json& kernel : (*profile)["kernels"])
            if (kernel.contains("runs")) kernels.push_back(kernel);
        std::ranges::stable_sort(kernels, [](const json& a, const json& b) { return a["seconds"] > b["seconds"]; });
        if (kernels.size() > kMost) kernels.resize(kMost);
        text +=
            table("Slowest kernels", {"Kernel", "Computes", "us", "FLOP", "Bytes"}, rows(kernels, [](const json& k) {
                      std::string nodes;
                      for (const json& node : k["nodes"]) nodes += (nodes.empty() ? "%" : ", %") + text_of(node);
                      return Row{k["graph"].get<std::string>() + "." + k["name"].get<std::string>(), nodes,
                                 fixed(1e6 * k["seconds"].get<double>(), 1), k["flops"].dump(), k["bytes"].dump()};
                  }));
        text += table("Memory", {"Graph", "Peak, bytes", "At", "How"}, rows((*profile)["memory"], [](const json& m) {
                          return Row{m["graph"], m["peak"].dump(), m["peak_at"], m["how"]};
                      }));
    }
    return text;
}

/// What an earlier capture had otherwise.
std::string difference_facts(const json& data) {
    const auto diff = data.find("diff");
    if (diff == data.end()) return {};
    const auto count = [](const json& c) {
        return Row{c["what"], c.value("place", ""), c["before"].dump(), c["after"].dump()};
    };
    std::vector<Row> graphs;
    for (const json& g : (*diff)["gone"]) graphs.push_back({"gone", g["name"], g["ops"].dump()});
    for (const json& g : (*diff)["added"]) graphs.push_back({"new", g["name"], g["ops"].dump()});
    for (const json& g : (*diff)["changed"])
        graphs.push_back({"changed", g["after"]["name"], std::to_string(g["nodes"].size()) + " nodes"});
    return std::string("<h1>") + ((*diff)["same"].get<bool>() ? "Nothing differs" : "There are differences") +
           "</h1>\n" +
           table("Graph breaks that differ", {"Break", "Where", "Before", "After"}, rows((*diff)["breaks"], count)) +
           table("Recompiles that differ", {"Guard", "Where", "Before", "After"}, rows((*diff)["recompiles"], count)) +
           table("Graphs that differ", {"", "Graph", "Operations"}, graphs) +
           table("Values that differ", {"Graph", "Value", "Difference"}, rows((*diff)["values"], [](const json& v) {
                     return Row{v["graph"], v["value"], v["difference"]};
                 }));
}

/// Where the first wrong value of a graph is computed.
std::string place_of_first(const json& accuracy) {
    for (const json& value : accuracy["values"])
        if (value["node"] == accuracy["first"]) {
            const std::string line = value.value("line", "");
            return line.substr(line.rfind('/') + 1);
        }
    return {};
}

std::string in_code(const std::string& text) {
    return text.empty() ? text : "<p><code>" + escaped(text) + "</code></p>\n";
}

/// The main facts, for readers without JavaScript and for text browsers.
std::string plain_facts(const json& data) {
    std::string text = difference_facts(data);
    if (const std::string failure = failure_line(data); !failure.empty())
        text += "<h1>" + escaped(failure) + "</h1>\n" + in_code(source_line(data, data["headline"]["place"])) + "<p>" +
                escaped(counts(data)) + "</p>\n";
    else
        text += "<h1>" + escaped(counts(data)) + "</h1>\n";
    text += in_code(data["command"].get<std::string>());
    text += table("What happened", {"", "What", "Where", "Next"}, rows(data["findings"], [&](const json& f) {
                      return Row{f["level"], text_of(f["title"]) + ": " + text_of(f["detail"]), where_text(data, f),
                                 f["command"].is_null() ? "" : f["command"].get<std::string>()};
                  }));
    text += minified_facts(data);
    text += table("Functions", {"Function", "Status", "Graphs", "Operations", "Breaks", "Recompiles"},
                  rows(data["frames"], [](const json& f) {
                      std::string status;
                      for (const json& one : f["status"]) status += (status.empty() ? "" : ", ") + text_of(one);
                      return Row{f["name"],
                                 status,
                                 std::to_string(f["graphs"].size()),
                                 f["ops"].dump(),
                                 f["breaks"].dump(),
                                 f["recompiles"].dump()};
                  }));
    text +=
        table("Graph breaks", {"Id", "Reason", "Function", "Where", "Times", "Instead"},
              rows(data["breaks"], [&](const json& b) {
                  const json place = b["at"].empty() ? json() : b["at"][0];
                  return Row{b["id"], b["reason"], b["frame"], place_text(data, place), b["count"].dump(), b["hint"]};
              }));
    text += table("Recompiles", {"Function", "Guard", "Times", "Instead"}, rows(data["recompiles"], [](const json& r) {
                      return Row{r["frame"], r["guard"], r["count"].dump(), r["advice"]};
                  }));
    std::vector<Row> accuracy, environment;
    for (const auto& [graph, a] : data["accuracy"].items())
        accuracy.push_back(
            {graph, a["first"].is_null() ? "" : "%" + text_of(a["first"]), place_of_first(a), a["message"]});
    for (const json& graph : data["graphs"])
        if (const json failure = graph.value("failure", json()); failure.contains("not_compared"))
            accuracy.push_back({graph["name"], "", "", text_of(failure["not_compared"])});
    text += table("Accuracy", {"Graph", "First wrong value", "Where", "What the graph returns"}, accuracy);
    text += measured_facts(data);
    std::vector<Row> files;
    for (const json& file : data["files"]) files.push_back({file["path"], std::to_string(file["lines"].size())});
    text += table("Source files", {"File", "Lines"}, files);
    for (const auto& [key, value] : data["environment"].items()) environment.push_back({key, text_of(value)});
    return text + table("Environment", {"", ""}, environment);
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

std::string page(const json& data) {
    // The template's parts are between marks, each alone on its line.
    struct Part {
        std::string_view mark;
        std::string text;
    };
    const std::vector<Part> parts = {{"{{TITLE}}", escaped(title(data))},
                                     {"{{STYLE}}", asset_style()},
                                     {"{{FACTS}}", plain_facts(data)},
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
