#include "graph/title.h"

#include <algorithm>

#include "graph/formula.h"
#include "graph/short_program.h"

namespace whittle {
namespace {

/// GitHub allows 256 characters, and shows fewer.
constexpr std::size_t kMost = 200;
/// Of a formula, and of ops with attributes; without an exception's words.
constexpr std::size_t kMostOfFormula = 130, kMostOfAttributes = 140;

/// What it says of the graph: of a bare formula it says no types and values.
enum class Says { formula, bare, attributes, ops };

/// Whole words of the text, and "...".
std::string cut(const std::string& text, std::size_t most) {
    constexpr std::string_view kCut = "...";
    if (text.size() <= most) return text;
    std::size_t end = most < kCut.size() ? std::string::npos : text.rfind(' ', most - kCut.size());
    if (end == std::string::npos) end = 0;
    while (end > 0 && std::string_view(" ,;:.").find(text[end - 1]) != std::string_view::npos) end--;
    return text.substr(0, end) + std::string(kCut);
}

class Title {
  public:
    Title(const ShortRequest& request, const Graph& graph, const SchemaSource* schemas, const TitleWords& words)
        : request_(request), graph_(graph), schemas_(schemas), words_(words) {}

    std::string write(Says says, const std::string& message) const {
        const bool short_form = says != Says::formula, values = is("mismatch") && !short_form;
        const std::string who = says == Says::formula ? formula_of(graph_, schemas_) + types_of(graph_, values)
                                : says == Says::bare
                                    ? formula_of(graph_, schemas_)
                                    : ops_of_formula(graph_, says == Says::attributes) + types_without_names(graph_);
        const std::string said = what_is_wrong(request_, who + words_.how, message) +
                                 where_of(graph_, request_.graph.failure->inputs, values) + words_.when;
        if (words_.pass.empty()) return said;
        return short_form ? words_.pass + ": " + said : said + ", by " + words_.pass;
    }

    std::string write() const {
        const std::string stub = is("exception") ? "-" : "";  // its words are cut where they are long
        const auto fits = [&](Says says, std::size_t most) { return write(says, stub).size() <= most; };
        const Says says = fits(Says::formula, kMostOfFormula)         ? Says::formula
                          : fits(Says::bare, kMostOfAttributes)       ? Says::bare
                          : fits(Says::attributes, kMostOfAttributes) ? Says::attributes
                                                                      : Says::ops;
        const std::size_t frame = write(says, stub).size() - stub.size();
        std::string message = message_of_failure();
        if (is("exception") && frame < kMost) message = cut(message, kMost - frame);
        return cut(write(says, message), kMost);
    }

  private:
    bool is(const char* kind) const { return request_.graph.failure->signature.kind == kind; }

    std::string message_of_failure() const {
        std::string text = words_.message.empty() ? request_.graph.failure->message : words_.message;
        std::ranges::replace(text, '\n', ' ');
        return text;
    }

    const ShortRequest& request_;
    const Graph& graph_;
    const SchemaSource* schemas_;
    const TitleWords& words_;
};

}  // namespace

std::string whole_statement(const ShortRequest& request, const Graph& graph, const SchemaSource* schemas,
                            const TitleWords& words) {
    return Title(request, graph, schemas, words).write(Says::formula, words.message);
}

std::string report_title(const ShortRequest& request, const Graph& graph, const SchemaSource* schemas,
                         const TitleWords& words) {
    return Title(request, graph, schemas, words).write();
}

std::string as_sentence(const std::string& text) { return text.ends_with("...") ? text : text + "."; }

}  // namespace whittle
