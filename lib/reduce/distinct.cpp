#include "reduce/distinct.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/words.h"
#include "formats/json_text.h"
#include "reduce/reductions/case.h"

namespace whittle::reduce {
namespace {

/// Writes a graph without what does not count.
class Skeleton {
  public:
    explicit Skeleton(const Graph& graph) : graph_(graph) {}

    std::string text() {
        std::string text;
        for (const NodeId id : graph_.calls()) {
            const Node& node = graph_.node({id});
            std::string line = node.target + list(node.args, '(', ')');
            for (const auto& [key, value] : node.kwargs) line += ' ' + key + '=' + argument(value);
            for (const ValueMeta& result : node.results) line += ' ' + type(result);
            text += named({id}) + " = " + line + '\n';
        }
        std::string results;
        for (const NodeId id : graph_.outputs()) results += ' ' + named({id});
        return text + "return" + results + '\n';
    }

  private:
    /// Without sizes: "f32/2" has two dimensions.
    static std::string type(const ValueMeta& meta) {
        return std::string(name(meta.dtype)) + '/' + std::to_string(meta.sizes.size());
    }

    /// By the order in which nodes are named first. Inputs and attributes are the same.
    std::string named(NodeRef ref) {
        const auto [entry, added] = numbers_.try_emplace(ref.id, numbers_.size());
        const Node& node = graph_.node(ref);
        std::string text = '%' + std::to_string(entry->second);
        return added && is_leaf(node) ? text + ':' + type(node.meta()) : text;
    }

    std::string list(const ArgList& items, char open, char close) {
        return open + join(items, [&](const Arg& item) { return argument(item); }) + close;
    }

    std::string argument(const Arg& arg) {
        if (const NodeRef* const ref = arg.node()) return named(*ref);
        if (const ArgList* const items = arg.list()) return list(*items, '[', ']');
        if (const auto* const truth = std::get_if<bool>(&arg.value)) return *truth ? "true" : "false";
        if (const auto* const word = std::get_if<std::string>(&arg.value)) return '"' + *word + '"';
        if (const auto* const dtype = std::get_if<DType>(&arg.value)) return std::string(name(*dtype));
        if (const auto* const nested = std::get_if<GraphRef>(&arg.value)) {
            const auto found = graph_.subgraphs.find(nested->name);
            return found == graph_.subgraphs.end() ? "{}" : "{\n" + skeleton(*found->second) + "}";
        }
        return arg.is_none() ? "none" : "#";
    }

    const Graph& graph_;
    std::map<NodeId, std::size_t> numbers_;
};

/// Those that a paragraph or a row shows.
constexpr std::size_t kShown = 5;

std::vector<std::string> others_of(const Bug& bug) {
    std::vector<std::string> others;
    for (const std::filesystem::path& model : bug.models)
        if (model != bug.model) others.push_back(model.string());
    return others;
}

std::string heading(const ManyModels& all) {
    return plural(all.models, "model") + ": " + std::to_string(all.failing) + " failed, " + std::to_string(all.right) +
           " right" + (all.not_judged.empty() ? "" : ", " + std::to_string(all.not_judged.size()) + " not judged") +
           (all.errors.empty() ? "" : ", " + plural(all.errors.size(), "error")) +
           (all.open ? ", " + std::to_string(all.open) + " not reached" : "") + "; " +
           plural(all.bugs.size(), "distinct bug");
}

std::string cell(const std::string& text) { return "<td>" + html_escaped(text) + "</td>"; }

std::string reasons_html(const char* title, const std::map<std::string, std::string>& reasons) {
    if (reasons.empty()) return {};
    std::string text = std::string("<h2>") + title + "</h2>\n<table>\n";
    for (const auto& [model, why] : reasons) text += "<tr>" + cell(model) + cell(why) + "</tr>\n";
    return text + "</table>\n";
}

}  // namespace

std::string skeleton(const Graph& graph) { return Skeleton(graph).text(); }

bool ManyModels::good() const {
    return !bugs.empty() && open == 0 &&
           std::ranges::all_of(bugs, [](const Bug& bug) { return bug.smallest.minimized; });
}

ManyModels distinct(std::span<const OneModel> models, std::size_t open) {
    ManyModels all{.models = open, .open = open};
    std::map<std::string, std::size_t> known;  // position in `bugs`
    std::set<std::filesystem::path> failing;
    for (const OneModel& one : models)
        for (const OneFailure& failure : one.failures) {
            const std::filesystem::path& model = failure.of.empty() ? one.model : failure.of;
            failing.insert(model);
            const auto [entry, added] = known.try_emplace(failure.signature + '\n' + failure.skeleton, all.bugs.size());
            if (added) all.bugs.push_back({failure, model});
            Bug& bug = all.bugs[entry->second];
            if (std::ranges::find(bug.models, model) == bug.models.end()) bug.models.push_back(model);
            const bool simpler =
                std::pair(!failure.minimized, failure.ops) < std::pair(!bug.smallest.minimized, bug.smallest.ops);
            if (simpler) bug.smallest = failure, bug.model = model;
        }
    all.failing = failing.size();
    for (const OneModel& one : models) {
        if (!one.of_others) ++all.models;
        const std::string name = one.model.string();
        if (!one.error.empty())
            all.errors[name] = one.error;
        else if (failing.contains(one.model))
            continue;
        else if (!one.not_judged.empty())
            all.not_judged[name] = one.not_judged;
        else if (!one.of_others)
            ++all.right;
    }
    std::ranges::stable_sort(all.bugs, [](const Bug& a, const Bug& b) { return a.models.size() > b.models.size(); });
    return all;
}

std::string to_text(const ManyModels& all) {
    std::string text = heading(all) + "\n";
    for (std::size_t i = 0; i < all.bugs.size(); ++i) {
        const Bug& bug = all.bugs[i];
        const OneFailure& failure = bug.smallest;
        text += "\nbug " + std::to_string(i + 1) + ": " + failure.signature + ", in " +
                plural(bug.models.size(), "model") + "\n";
        if (!failure.message.empty()) text += "  message:  " + failure.message + "\n";
        if (!failure.culprit.empty()) text += "  culprit:  " + failure.culprit + "\n";
        text += "  smallest: " +
                (failure.output.empty() ? "not minimized"
                                        : plural(failure.ops, "op") + (failure.minimized ? "" : ", unfinished") + ": " +
                                              failure.output.string()) +
                " (" + bug.model.string() + ")\n";
        if (const auto others = others_of(bug); !others.empty()) text += "  also in:  " + listed(others, kShown) + "\n";
    }
    if (!all.not_judged.empty() || !all.errors.empty()) text += '\n';
    for (const auto& [model, why] : all.not_judged) text += model + ": not judged: " + why + "\n";
    for (const auto& [model, why] : all.errors) text += model + ": error: " + why + "\n";
    return text;
}

std::string to_html(const ManyModels& all, const std::string& title) {
    std::string text =
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>" + html_escaped(title) +
        "</title>\n<style>body { font-family: sans-serif } table { border-collapse: collapse } "
        "td, th { border: 1px solid #ccc; padding: 4px 8px; text-align: left; vertical-align: top }</style>\n"
        "</head>\n<body>\n<h1>" +
        html_escaped(title) + "</h1>\n<p>" + html_escaped(heading(all)) + "</p>\n";
    if (!all.bugs.empty()) {
        text +=
            "<table>\n<tr><th>models</th><th>failure</th><th>culprit</th><th>ops</th><th>minimized graph</th>"
            "<th>found in</th></tr>\n";
        for (const Bug& bug : all.bugs) {
            const OneFailure& failure = bug.smallest;
            std::string models;
            for (const std::filesystem::path& model : bug.models) models += html_escaped(model.string()) + "<br>";
            text += "<tr>" + cell(std::to_string(bug.models.size())) + "<td>" + html_escaped(failure.signature) +
                    "<br>" + html_escaped(failure.message) + "</td>" + cell(failure.culprit) +
                    cell(std::to_string(failure.ops)) + cell(failure.output.string()) + "<td>" + models +
                    "</td></tr>\n";
        }
        text += "</table>\n";
    }
    return text + reasons_html("Not judged", all.not_judged) + reasons_html("Errors", all.errors) +
           "</body>\n</html>\n";
}

}  // namespace whittle::reduce
