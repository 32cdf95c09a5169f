// Sizes and numbers that depend on data, in the importer: what running the part of the graph that is read so far makes
// them.
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "frontends/pt2/codes.h"
#include "frontends/pt2/importer.h"
#include "ops/aten/masks.h"
#include "ops/core/assertions.h"
#include "ops/core/registry.h"

namespace whittle::pt2 {

std::vector<ValueMeta> Importer::observed_results(const Json& graph, const Node& call,
                                                  const std::vector<std::string>& names) {
    std::vector<Tensor> results;
    try {
        if (!data_) throw Error("found a nested graph with sizes that depend on data, which Whittle does not support");
        results = data_->run(graph_, call, names.size());
    } catch (const Error&) {
        if (auto decided = decided_results(graph, names)) return *std::move(decided);
        throw;
    }
    std::vector<ValueMeta> metas;
    for (const Tensor& result : results) {
        const Json& stated = graph.at("tensor_values").at(names.at(metas.size())).at("sizes");
        metas.push_back(ValueMeta::contiguous(result.dtype(), result.sizes()));
        for (std::size_t d = 0; d < stated.size() && d < result.sizes().size(); ++d)
            if (const auto [kind, value] = chosen(stated[d]); kind == "as_expr")
                data_->decide(value->at("expr_str").get<std::string>(), result.sizes()[d]);
    }
    return metas;
}

ArgList Importer::columns_of_nonzero(const Arg& mask, const Node& call) {
    if (!data_) throw Error("found a nested graph with sizes that depend on data, which Whittle does not support");
    const auto in_place_of_call = [&](Node made) {
        made.stack = call.stack, made.module_path = call.module_path;
        return made;
    };
    Node rows = in_place_of_call({.name = "positions", .target = "aten.nonzero.default", .args = {mask}});
    rows.results = {ValueMeta::contiguous(DType::i64, data_->run(graph_, rows, 1).at(0).sizes())};
    const std::int64_t rank = rows.results[0].sizes.at(1);
    const NodeRef found = graph_.add(std::move(rows));
    ArgList columns;
    for (std::int64_t d = 0; d < rank; ++d) {
        Node column = in_place_of_call({.name = "position", .target = "aten.select.int", .args = {found, Arg(1), d}});
        column.results = infer(graph_, column);
        columns.push_back(graph_.add(std::move(column)));
    }
    return columns;
}

namespace {

/// An argument of an op without a record, by position or, as older files have it, by name.
Arg given(const Node& call, std::size_t at, const char* name) {
    if (at < call.args.size()) return call.args[at];
    const Arg* value = call.kwarg(name);
    return value ? *value : Arg();
}

}  // namespace

constexpr std::string_view kRepeatEach = "aten.repeat_interleave.self_Tensor", kPositions = "aten.where.default",
                           kPositionsOfArray = "aten.nonzero_numpy.default";

/// Composites of ops whose results' sizes depend on data: where() is the columns of nonzero(), and repeat_interleave()
/// selects by the positions that its form without a tensor gives.
bool Importer::add_by_positions(const Json& graph, const Json& node, const Node& call) {
    if (call.target == kRepeatEach) return add_repeated(graph, node, call), true;
    if (call.target != kPositions && call.target != kPositionsOfArray) return false;
    const ArgList columns = columns_of_nonzero(given(call, 0, call.target == kPositions ? "condition" : "self"), call);
    const std::vector<std::string> names = result_names(node);
    for (std::size_t i = 0; i < std::min(names.size(), columns.size()); ++i) {
        const NodeRef column = *columns[i].node();
        check_stated(graph, {names[i]}, {graph_.node(column).meta()});
        bind(names[i], column);
    }
    return true;
}

void Importer::add_repeated(const Json& graph, const Json& node, const Node& call) {
    if (!data_) throw Error("found a nested graph with sizes that depend on data, which Whittle does not support");
    const auto add = [&](const std::string& name, const std::string& target, ArgList args) {
        Node part{.name = name, .target = target, .args = std::move(args)};
        part.stack = call.stack, part.module_path = call.module_path;
        part.results = infer(graph_, part);
        return graph_.add(std::move(part));
    };
    Arg self = given(call, 0, "self"), repeats = given(call, 1, "repeats"), dim = given(call, 2, "dim");
    if (!self.node() || !repeats.node())
        throw Error("found an argument that is not a tensor, expected the tensors self and repeats");
    if (dim.is_none()) self = add("flat", "aten.flatten.using_ints", {self}), dim = Arg(0);
    const Sizes& sizes = graph_.node(*self.node()).meta().sizes;
    const auto at = wrap_dim(std::get<std::int64_t>(dim.value), static_cast<std::int64_t>(sizes.size()));
    const Sizes each = {sizes.at(static_cast<std::size_t>(at))};
    if (graph_.node(*repeats.node()).meta().sizes != each)  // one number for all
        repeats = add("repeats", "aten.expand.default", {repeats, Arg::ints(each)});
    Node positions{.name = "positions", .target = "aten.repeat_interleave.Tensor", .args = {repeats}};
    positions.stack = call.stack, positions.module_path = call.module_path;
    const Tensor found = data_->run(graph_, positions, 1).at(0);
    positions.results = {ValueMeta::contiguous(found.dtype(), found.sizes())};
    const std::vector<std::string> names = result_names(node);
    const NodeRef selected =
        add(names.at(0), "aten.index_select.default", {self, dim, graph_.add(std::move(positions))});
    check_stated(graph, names, {graph_.node(selected).meta()});
    bind(names.at(0), selected);
}

void Importer::name_positions(Node& call) {
    const std::vector<NodeRef> masks = index_masks(graph_, call);
    if (masks.empty()) return;
    ArgList positions;
    for (const Arg& index : *index_list(call).list()) {
        if (!index.node() || std::ranges::find(masks, *index.node()) == masks.end()) {
            positions.push_back(index);
            continue;
        }
        const ArgList columns = columns_of_nonzero(index, call);
        positions.insert(positions.end(), columns.begin(), columns.end());
    }
    index_list(call) = Arg(std::move(positions));
}

std::optional<std::vector<ValueMeta>> Importer::decided_results(const Json& graph,
                                                                const std::vector<std::string>& names) const {
    std::vector<ValueMeta> metas;
    for (const std::string& name : names) {
        const Json& stated = graph.at("tensor_values").at(name);
        for (const Json& size : stated.at("sizes"))
            if (const auto [kind, value] = chosen(size);
                kind == "as_expr" && !evaluate(value->at("expr_str").get<std::string>(), symbols_.sizes))
                return {};
        metas.push_back(meta_of(stated, symbols_.sizes));
    }
    return metas;
}

/// What the program reads from a tensor of one element: found by running it, else what a symbol given with --dim is.
Scalar Importer::observed_number(const Json& graph, const Arg& read, const std::string& name) const {
    try {
        if (!data_)
            throw Error("found a nested graph that reads a number from a tensor, which Whittle does not support");
        return data_->run(graph_, {.target = "aten.clone.default", .args = {read}}, 1).at(0).item();
    } catch (const Error&) {
        const Json sizes = graph.value("sym_int_values", Json::object());
        if (!sizes.contains(name)) throw;
        const auto [kind, value] = chosen(sizes.at(name));
        const auto decided =
            kind == "as_expr" ? evaluate(value->at("expr_str").get<std::string>(), symbols_.sizes) : std::nullopt;
        if (!decided) throw;
        return Scalar(*decided);
    }
}

bool reads_number(std::string_view target) {
    return target == "aten.item.default" || target == "aten._local_scalar_dense.default";
}
bool is_computed_while_read(std::string_view target) {
    return reads_number(target) || target == kRepeatEach || target == kPositions || target == kPositionsOfArray;
}

bool Importer::add_item(const Json& graph, const Json& node, const std::string& target) {
    if (!reads_number(target)) return false;
    const Arg read = argument(node.at("inputs").at(0).at("arg"));
    if (!read.node()) throw Error("found item() of a value that is not a tensor, expected item() of a tensor");
    const ValueMeta meta = graph_.node(*read.node()).meta();
    const auto name = chosen(node.at("outputs").at(0)).second->at("as_name").get<std::string>();
    const Scalar number = observed_number(graph, read, name);
    bind(name, Arg(number));
    if (const Json& sizes = graph.value("sym_int_values", Json::object()); data_ && sizes.contains(name))
        if (const auto [kind, value] = chosen(sizes.at(name)); kind == "as_expr")
            data_->decide(value->at("expr_str").get<std::string>(), number.to_integer());
    Node same{.name = "same", .target = "aten.eq.Scalar", .args = {read, Arg(number)}};
    set_place(same, node);
    same.results = infer(graph_, same);
    const NodeRef condition = graph_.add(std::move(same));
    Node assertion{
        .name = "assertion",
        .target = std::string(kAssertion),
        .args = {condition, "a number that the program reads has changed since the graph was imported", read}};
    set_place(assertion, node);
    assertion.results = {ValueMeta::contiguous(meta.dtype, meta.sizes)};
    graph_.add(std::move(assertion));
    return true;
}

}  // namespace whittle::pt2
