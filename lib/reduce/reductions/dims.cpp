// dims: dimensions of inputs and constants become 1, then as small as fails. What must stay equal changes together: an
// edit is a smallest set of places that hold a size (dimensions of leaves, numbers among arguments, elements of
// constant shapes) with which inference still fits.
#include <algorithm>
#include <set>

#include "reduce/reductions/reduction.h"

namespace whittle::reduce {
namespace {

/// Where a size stands.
struct Place {
    enum class Kind { dimension, argument, element } kind;
    NodeId node;               ///< dimension and element: a leaf; argument: a call
    std::size_t position = 0;  ///< the dimension or element; the argument, positional ones first
    std::size_t within = 0;    ///< of a list
    std::int64_t size = 0;
    auto operator<=>(const Place&) const = default;
};

constexpr std::int64_t kLargestShape = 16;  // elements of an integer constant that may be sizes
constexpr std::size_t kManyPlaces = 200;    // from here on sizes change wherever they stand, without looking closer

bool is_leaf(const Node& node) { return node.kind == NodeKind::placeholder || node.kind == NodeKind::get_attr; }

Arg& argument(Node& call, std::size_t position) {
    return position < call.args.size() ? call.args[position] : call.kwargs[position - call.args.size()].second;
}

std::vector<Place> places_of(const Case& from) {
    std::vector<Place> places;
    const Draft draft(from);
    for (std::size_t i = 0; i < from.graph.nodes.size(); ++i) {
        Node node = from.graph.nodes[i];
        const auto id = static_cast<NodeId>(i);
        if (is_leaf(node)) {
            for (std::size_t d = 0; d < node.meta().sizes.size(); ++d)
                places.push_back({Place::Kind::dimension, id, d, 0, node.meta().sizes[d]});
            if (node.meta().dtype != DType::i64 || node.meta().numel() > kLargestShape) continue;
            const std::vector<std::int64_t> values = draft.data(id).values<std::int64_t>();
            for (std::size_t k = 0; k < values.size(); ++k)
                places.push_back({Place::Kind::element, id, k, 0, values[k]});
        }
        if (node.kind != NodeKind::call || node.target == kGetItem) continue;
        for (std::size_t k = 0; k < node.args.size() + node.kwargs.size(); ++k)
            if (const ArgList* list = argument(node, k).list())
                for (std::size_t e = 0; e < list->size(); ++e)
                    if (const auto* number = std::get_if<std::int64_t>(&(*list)[e].value))
                        places.push_back({Place::Kind::argument, id, k, e, *number});
    }
    std::erase_if(places, [](const Place& place) { return place.size < 2; });
    return places;
}

void set_size(Draft& draft, const Place& place, std::int64_t size) {
    if (place.kind == Place::Kind::argument) {
        std::get<ArgList>(argument(draft.node(place.node), place.position).value)[place.within] = Arg(size);
        return;
    }
    const Tensor old = draft.data(place.node);
    if (place.kind == Place::Kind::dimension) {
        Sizes sizes = old.sizes();
        sizes[place.position] = size;
        draft.set_data(place.node, old.as_strided(sizes, old.strides(), old.offset()).clone());
    } else {
        std::vector<std::int64_t> values = old.values<std::int64_t>();
        if (place.position >= values.size()) return;
        values[place.position] = size;
        draft.set_data(place.node, Tensor::of(values, old.sizes()));
    }
}

using Places = std::vector<Place>;

bool fits(const Case& from, const Places& places, std::int64_t size) {
    Draft draft(from);
    for (const Place& place : places) set_size(draft, place, size);
    return draft.infers();
}

/// A set of places with the size of `wanted`, and it among them, that fits with `size` and none of which can be left
/// out.
Places tied(const Case& from, const Place& wanted, const Places& all, std::int64_t size) {
    Places equal, dimensions;
    for (const Place& place : all) {
        if (place.size != wanted.size || place == wanted) continue;
        equal.push_back(place);
        if (place.kind == Place::Kind::dimension) dimensions.push_back(place);
    }
    for (Places others : {Places{}, dimensions, equal}) {
        const auto with_wanted = [&](Places places) {
            places.insert(places.begin(), wanted);
            return places;
        };
        if (!fits(from, with_wanted(others), size)) continue;
        for (std::size_t i = others.size(); i-- > 0 && all.size() < kManyPlaces;) {
            Places fewer = others;
            fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
            if (fits(from, with_wanted(fewer), size)) others = fewer;
        }
        return with_wanted(others);
    }
    return {};
}

/// The smallest size with which it fits; the size before it does.
std::int64_t smallest(const Case& from, const Places& together) {
    std::int64_t fitting = together.front().size - 1, unfit = 0;
    while (fitting - unfit > 1) {
        const std::int64_t middle = unfit == 0 ? 1 : unfit + (fitting - unfit) / 2;  // mostly 1
        (fits(from, together, middle) ? fitting : unfit) = middle;
    }
    return fitting;
}

}  // namespace

std::vector<Edit> dimension_edits(const Case& from) {
    std::vector<Edit> edits;
    const Places all = places_of(from);
    std::set<Places> known;
    for (const Place& place : all) {
        if (place.kind != Place::Kind::dimension) continue;
        Places together = tied(from, place, all, 1);
        if (together.empty()) together = tied(from, place, all, place.size - 1);  // a window may need several
        std::sort(together.begin(), together.end());
        if (together.empty() || !known.insert(together).second) continue;
        edits.push_back({"size " + std::to_string(place.size) + " of %" + from.graph.node({place.node}).name,
                         [together](Draft& draft, std::int64_t size) {
                             for (const Place& at : together) set_size(draft, at, size);
                         },
                         smallest(from, together), place.size});
    }
    return edits;
}

}  // namespace whittle::reduce
