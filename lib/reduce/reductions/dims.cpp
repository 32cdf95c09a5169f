// dims: dimensions of inputs and constants become 1, then as small as fails: their first elements, or, of a small case,
// their last. What must change together does: an edit is a smallest set of places that hold a size (dimensions of
// leaves, numbers among arguments, elements of constant shapes, in nested graphs too) with which inference still fits.
// A multiple of the size stays that multiple: a target shape of reshape, the 4 h rows of an LSTM's weights.
#include <algorithm>
#include <set>

#include "graph/value_ref.h"
#include "reduce/reductions/reduction.h"

namespace whittle::reduce {
namespace {

/// Where a size stands.
struct Place {
    enum class Kind { dimension, argument, element } kind;
    std::size_t graph = 0;     ///< the case's own or a nested one: its number in the order of for_each_graph()
    NodeId node = -1;          ///< dimension and element: a leaf; argument: a call
    std::size_t position = 0;  ///< the dimension or element; the argument, positional ones first
    std::size_t within = 0;    ///< of a list
    std::int64_t size = 0;
    auto operator<=>(const Place&) const = default;
};
using Places = std::vector<Place>;

constexpr std::int64_t kLargestShape = 16;  // elements of an integer constant that may be sizes
constexpr std::int64_t kFewElements = 64;   // of a case: one whose other ends are looked at, too
constexpr std::size_t kManyPlaces = 200;    // from here on sizes change wherever they stand, without looking closer
constexpr std::size_t kFewPlaces = 32;      // up to here any two others are looked at

Arg& argument(Node& call, std::size_t position) {
    return position < call.args.size() ? call.args[position] : call.kwargs[position - call.args.size()].second;
}

/// The number in a call's argument: one of its list, or itself.
std::int64_t* number_at(Node& call, std::size_t position, std::size_t within) {
    Arg& arg = argument(call, position);
    if (auto* list = std::get_if<ArgList>(&arg.value))
        return within < list->size() ? std::get_if<std::int64_t>(&(*list)[within].value) : nullptr;
    return std::get_if<std::int64_t>(&arg.value);
}

class Sizing {
  public:
    explicit Sizing(const Case& from) : from_(from) {
        for_each_graph(from, [&](const Graph& graph, const DraftOf& at) {
            graphs_.push_back(&graph);
            drafts_.push_back(at);
            find_places();
        });
        std::erase_if(places_, [](const Place& place) { return place.size < 2; });
    }

    std::vector<Edit> edits() const {
        std::vector<Edit> edits;
        std::set<Places> known;
        for (const Place& place : places_) {
            if (place.kind == Place::Kind::argument && place.within == kAlone) continue;  // an axis, a group, …
            Places together = tied(place, 1);
            if (together.empty()) together = tied(place, place.size - 1);  // a window may need several
            // What makes no data smaller is no size.
            const bool shrinks = std::ranges::any_of(
                together, [&](const Place& at) { return at.kind == Place::Kind::dimension && holds_data(at); });
            Places sorted = together;
            std::ranges::sort(sorted);
            if (!shrinks || !known.insert(sorted).second) continue;
            const auto edit = [&, least = smallest(together)](Draft::Keep keep) {
                edits.push_back({"size " + std::to_string(place.size) + " of %" + node(place).name +
                                     (keep == Draft::Keep::last ? ", its end" : ""),
                                 [together, drafts = drafts_, was = place.size, keep](Draft& draft, std::int64_t size) {
                                     for (const Place& at : together)
                                         scale(drafts[at.graph](draft), at, was, size, keep);
                                 },
                                 least, place.size});
            };
            edit(Draft::Keep::first);
            if (size_of(from_).elements <= kFewElements) edit(Draft::Keep::last);  // where the first is no failure
        }
        return edits;
    }

  private:
    static constexpr std::size_t kAlone = static_cast<std::size_t>(-1);  ///< Place::within of what is no list

    const Node& node(const Place& place) const { return graphs_[place.graph]->node({place.node}); }
    bool holds_data(const Place& place) const { return place.graph == 0 || node(place).kind == NodeKind::get_attr; }

    void find_places() {
        const Graph& graph = *graphs_.back();
        const std::size_t number = graphs_.size() - 1;
        for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
            Node node = graph.nodes[i];
            const auto id = static_cast<NodeId>(i);
            if (is_leaf(node)) {
                for (std::size_t d = 0; d < node.meta().sizes.size(); ++d)
                    places_.push_back({Place::Kind::dimension, number, id, d, 0, node.meta().sizes[d]});
                const bool known = number == 0 || node.kind == NodeKind::get_attr;
                if (!known || node.meta().dtype != DType::i64 || node.meta().numel() > kLargestShape) continue;
                Draft draft(from_);
                const std::vector<std::int64_t> values = drafts_.back()(draft).data(id).values<std::int64_t>();
                for (std::size_t k = 0; k < values.size(); ++k)
                    places_.push_back({Place::Kind::element, number, id, k, 0, values[k]});
            }
            if (!is_op_call(node)) continue;
            for (std::size_t k = 0; k < node.args.size() + node.kwargs.size(); ++k) {
                const ArgList* list = argument(node, k).list();
                for (std::size_t e = 0; list && e < list->size(); ++e)
                    if (const std::int64_t* size = number_at(node, k, e))
                        places_.push_back({Place::Kind::argument, number, id, k, e, *size});
                if (const std::int64_t* size = list ? nullptr : number_at(node, k, kAlone))
                    places_.push_back({Place::Kind::argument, number, id, k, kAlone, *size});
            }
        }
    }

    /// What is `was` at the place becomes `size`, and what is a multiple of it the same multiple. What another edit has
    /// already changed into something else stays.
    static void scale(Draft& draft, const Place& place, std::int64_t was, std::int64_t size,
                      Draft::Keep keep = Draft::Keep::first) {
        const auto scaled = [&](std::int64_t now) { return now % was == 0 ? now / was * size : now; };
        if (place.kind == Place::Kind::argument) {
            if (std::int64_t* number = number_at(draft.node(place.node), place.position, place.within))
                *number = scaled(*number);
        } else if (place.kind == Place::Kind::dimension) {
            Sizes sizes = draft.node(place.node).meta().sizes;
            sizes[place.position] = scaled(sizes[place.position]);
            draft.cut(place.node, sizes, keep);
        } else {
            const Tensor old = draft.data(place.node);
            std::vector<std::int64_t> values = old.values<std::int64_t>();
            if (place.position >= values.size()) return;
            values[place.position] = scaled(values[place.position]);
            draft.set_data(place.node, Tensor::of(values, old.sizes()));
        }
    }

    /// Whether inference accepts it that the first place has `size`, and the others follow.
    bool fits(const Places& together, std::int64_t size) const {
        Draft draft(from_);
        for (const Place& place : together) scale(drafts_[place.graph](draft), place, together.front().size, size);
        return draft.infers();
    }

    /// A set of places, `wanted` the first, that fits with `size` and none of which can be left out; empty when there
    /// is none among the sets that are looked at.
    Places tied(const Place& wanted, std::int64_t size) const {
        Places equal, dimensions, multiples;
        for (const Place& place : places_) {
            if (place == wanted || place.size % wanted.size != 0) continue;
            const bool number = place.kind == Place::Kind::argument && place.within == kAlone;
            multiples.push_back(place);
            if (place.size == wanted.size && !number) equal.push_back(place);
            if (place.size == wanted.size && place.kind == Place::Kind::dimension) dimensions.push_back(place);
        }
        const auto with_wanted = [&](Places others) {
            others.insert(others.begin(), wanted);
            return others;
        };
        for (const Places& others : {Places{}, dimensions, equal})
            if (fits(with_wanted(others), size)) return with_wanted(needed(wanted, others, size));
        if (places_.size() <= kFewPlaces) {
            for (const Place& one : multiples)
                if (fits({wanted, one}, size)) return {wanted, one};
            for (std::size_t i = 0; i < multiples.size() && size == 1; ++i)
                for (std::size_t j = 0; j < i; ++j)
                    if (Places three = {wanted, multiples[j], multiples[i]}; fits(three, size)) return three;
        }
        if (fits(with_wanted(multiples), size)) return with_wanted(needed(wanted, multiples, size));
        return {};
    }

    /// Those of `others` without which `wanted` does not fit.
    Places needed(const Place& wanted, Places others, std::int64_t size) const {
        for (std::size_t i = others.size(); i-- > 0 && places_.size() < kManyPlaces;) {
            Places fewer = others;
            fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
            Places all = fewer;
            all.insert(all.begin(), wanted);
            if (fits(all, size)) others = fewer;
        }
        return others;
    }

    /// The smallest size with which it fits; the size before it does.
    std::int64_t smallest(const Places& together) const {
        std::int64_t fitting = together.front().size - 1, unfit = 0;
        while (fitting - unfit > 1) {
            const std::int64_t middle = unfit == 0 ? 1 : unfit + (fitting - unfit) / 2;  // mostly 1
            (fits(together, middle) ? fitting : unfit) = middle;
        }
        return fitting;
    }

    const Case& from_;
    std::vector<const Graph*> graphs_;
    std::vector<DraftOf> drafts_;
    Places places_;
};

}  // namespace

std::vector<Edit> dimension_edits(const Case& from) { return Sizing(from).edits(); }

}  // namespace whittle::reduce
