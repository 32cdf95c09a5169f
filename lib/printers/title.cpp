#include "printers/title.h"

#include <algorithm>
#include <functional>

#include "base/words.h"
#include "graph/value_ref.h"
#include "printers/formula.h"
#include "printers/near_text.h"
#include "printers/short_program.h"
#include "tensor/scalars.h"

namespace whittle {
namespace {

/// Of all that is said; of a short form, and of one that says no level; of what has to do where there is none. Without
/// an exception's words.
constexpr std::size_t kMostOfFormula = 130, kMostOfShort = 120, kMostOfBrief = 128, kMostAtAll = 140;
constexpr std::size_t kMostWithWords = 144, kLeastOfWords = 30;

/// What it says of the graph: of a bare formula it says no types and values, of a brief one
/// only what matters, of an outline the ops and inputs.
enum class Says { bare, near, brief, outline, attributes, ops };
struct TitleForm {
    Says says;
    bool when;  ///< it says from which level on, where a pass is named, too
    std::size_t most;
};
constexpr TitleForm kForms[] = {
    {Says::bare, true, kMostOfShort},     {Says::near, false, kMostOfBrief},  {Says::bare, false, kMostOfShort},
    {Says::brief, true, kMostOfShort},    {Says::brief, false, kMostOfBrief}, {Says::outline, true, kMostOfShort},
    {Says::outline, false, kMostOfBrief}, {Says::bare, true, kMostAtAll},     {Says::attributes, true, kMostAtAll}};

class Title {
  public:
    Title(const ShortRequest& request, const Graph& graph, const SchemaSource* schemas, const TitleWords& words)
        : request_(request), graph_(graph), schemas_(schemas), words_(words) {}

    /// All that there is to say.
    std::string whole(const std::string& message) const {
        const std::string who = formula_of(graph_, schemas_) + types_of(graph_, is("mismatch"));
        return what_is_wrong(request_, who + words_.how, message) + where_of(graph_, inputs(), is_of_values()) +
               words_.when + (words_.pass.empty() ? "" : ", by " + words_.pass);
    }

    std::string write() const {
        const std::string stub = is("exception") ? "-" : "";  // its words are cut where they are long
        if (columns_of(whole(stub)) <= kMostOfFormula)
            return with_words([&](const std::string& message) { return whole(message); });
        const auto* const form = std::ranges::find_if(kForms, [&](const TitleForm& one) {
            return has(one.says) && columns_of(write(one.says, one.when, stub)) <= one.most;
        });
        const TitleForm chosen = form == std::end(kForms) ? TitleForm{Says::ops, true, kMostOfTitle} : *form;
        const auto written = [&](const std::string& message) { return write(chosen.says, chosen.when, message); };
        return first_words(with_words(written), kMostOfTitle);
    }

  private:
    bool is(const char* kind) const { return request_.graph.failure->signature.kind == kind; }
    /// Those of the inputs matter.
    bool is_of_values() const {
        const std::string& detail = request_.graph.failure->signature.detail;
        return is("mismatch") && detail != "sizes" && detail != "dtype";
    }
    const std::vector<Tensor>& inputs() const { return request_.graph.failure->inputs; }

    /// Of what is another value in each run: without what is expected of the first element, where that is not expected
    /// of all, as what was found there is not said either.
    std::string as_it_varies(const std::string& said) const {
        const auto wrong = request_.varies ? first_wrong(request_) : std::nullopt;
        const bool of_all = wrong && all_alike(request_.expected[wrong->output]);
        return !request_.varies || of_all ? said : said.substr(0, said.find(", expected "));
    }

    static bool has_formula(Says says) { return says == Says::bare || says == Says::brief || says == Says::outline; }
    bool has(Says says) const {
        const bool formula = op_count(graph_) <= kMostCallsOfFormula;
        if (has_formula(says)) return formula;
        const bool swapped = request_.near && request_.near->change == NearCase::Change::swapped;
        return says != Says::near || (swapped && is("mismatch"));
    }

    std::string formula(Says says) const {
        ShortFormula how{.elided = says != Says::bare, .outlined = says == Says::outline, .inputs = inputs()};
        if (request_.near && request_.near->change == NearCase::Change::without_attribute)
            how.node = request_.near->node, how.attribute = request_.near->attribute;
        return short_formula_of(graph_, schemas_, how);
    }

    std::string write(Says says, bool when, const std::string& message) const {
        if (says == Says::near) {
            return as_it_varies(of_operands()) + (words_.pass.empty() ? words_.when : "");
        }
        const std::string who = has_formula(says)
                                    ? formula(says)
                                    : ops_of_formula(graph_, says == Says::attributes) + types_without_names(graph_);
        std::string said = as_it_varies(what_is_wrong(request_, who + words_.how, message));
        said += has_formula(says) ? not_contiguous(graph_, inputs()) : where_of(graph_, inputs(), false);
        if (when || words_.pass.empty()) said += words_.when;
        return words_.pass.empty() ? said : words_.pass + ": " + said;
    }

    /// "PASS takes Sub(mean, x) for Sub(x, mean) and gives -1, expected 1".
    std::string of_operands() const {
        const Node& call = graph_.node({request_.near->node});
        const std::string wrong = call_in_title(graph_, call), right = call_in_title(graph_, call, true);
        const std::string& pass = words_.pass;
        if (!request_.near->same_result)
            return what_is_wrong(request_, (pass.empty() ? "" : pass + " with ") + wrong) + ", but right with " + right;
        const std::string takes = pass.empty() ? wrong + " is mistaken for " : pass + " mistakes " + wrong + " for ";
        return what_is_wrong(request_, takes + right + " and");
    }

    /// `write` with an exception's words, as far as there is room for them.
    std::string with_words(const std::function<std::string(const std::string&)>& write) const {
        if (!is("exception")) return write("");
        std::string message = words_.message.empty() ? request_.graph.failure->message : words_.message;
        std::ranges::replace(message, '\n', ' ');
        const std::string frame = write("-");
        const std::size_t room = kMostWithWords - std::min(kMostWithWords, frame.size() - 1);
        if (room >= std::min(kLeastOfWords, message.size())) return write(first_words(message, room));
        const std::size_t at = frame.find(": -");
        return frame.substr(0, at) + frame.substr(at + 3);
    }

    const ShortRequest& request_;
    const Graph& graph_;
    const SchemaSource* schemas_;
    const TitleWords& words_;
};

}  // namespace

std::string whole_statement(const ShortRequest& request, const Graph& graph, const SchemaSource* schemas,
                            const TitleWords& words) {
    return Title(request, graph, schemas, words).whole(words.message);
}

std::string report_title(const ShortRequest& request, const Graph& graph, const SchemaSource* schemas,
                         const TitleWords& words) {
    return Title(request, graph, schemas, words).write();
}

std::string as_sentence(const std::string& text) { return text.ends_with("...") ? text : text + "."; }

}  // namespace whittle
