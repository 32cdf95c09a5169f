// Ops whose results' sizes are data: nonzero, masked_select, unique, bincount, repeat_interleave,
// _pack_padded_sequence; torchvision's nms is in torchvision.cpp. Of a constant they decompose into constants; else a
// graph has the sizes that were observed (ops/core/known.h), and only the reference runs them.
#include "ops/aten/data_sizes.h"

#include <algorithm>
#include <functional>

#include "base/checked.h"
#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/core/data_sizes.h"
#include "ops/core/elements.h"
#include "ops/core/geometry.h"
#include "ops/core/known.h"

namespace whittle {
namespace {

using namespace aten;

/// Those whose first result has such a size alone.
constexpr std::string_view kOneResult[] = {"aten.nonzero.default",          "aten.argwhere.default",
                                           "aten.masked_select.default",    "aten.bincount.default",
                                           "aten.repeat_interleave.Tensor", "torchvision.nms.default"};
/// Those whose third result, the counts, has it, too, where they are asked for (by the argument of that number) or
/// given anyway.
struct Unique {
    std::string_view target;
    std::size_t counts_at;
};
constexpr Unique kUnique[] = {
    {"aten._unique2.default", 3}, {"aten.unique_consecutive.default", 2}, {"aten.unique_dim.default", 4}};
constexpr std::string_view kPack = "aten._pack_padded_sequence.default";

/// One row per element that is not zero.
Tensor rows_of_nonzero(const Tensor& self) {
    const std::vector<Ints> positions = nonzero_positions(self);
    const std::int64_t count = nonzero_count(self), rank = self.rank();
    Ints rows;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
        for (const Ints& column : positions) rows.push_back(column[i]);
    return Tensor::of(rows, {count, rank});
}

std::vector<Tensor> eval_nonzero(const Arguments<Tensor>& a) { return {rows_of_nonzero(a.tensor("self"))}; }

CallResults decompose_nonzero(const Call& c) { return c.constant(rows_of_nonzero(known_operand(c, "self"))); }

Tensor broadcast_view(const Tensor& tensor, const Sizes& sizes) {
    return tensor.as_strided(sizes, broadcast_strides(tensor.sizes(), tensor.strides(), sizes), tensor.offset());
}

/// Places of the selected elements, in row-major order of the sizes that both are broadcast to.
Ints selected(const Tensor& mask, const Sizes& sizes) {
    if (mask.dtype() != DType::boolean)
        throw Error("masked_select: found a mask of dtype " + std::string(name(mask.dtype())) + ", expected bool");
    const std::vector<bool> chosen = broadcast_view(mask, sizes).values<bool>();
    Ints places;
    for (std::size_t i = 0; i < chosen.size(); ++i)
        if (chosen[i]) places.push_back(static_cast<std::int64_t>(i));
    return places;
}

std::vector<Tensor> eval_masked_select(const Arguments<Tensor>& a) {
    const Tensor self = a.tensor("self"), mask = a.tensor("mask");
    const Sizes sizes = broadcast_sizes(self.sizes(), mask.sizes());
    const Tensor all = broadcast_view(self, sizes).contiguous();
    const Ints places = selected(mask, sizes);
    return {pick(all, {static_cast<std::int64_t>(places.size())},
                 [&](const std::vector<std::int64_t>& index) { return places[static_cast<std::size_t>(index[0])]; })};
}

CallResults decompose_masked_select(const Call& c) {
    const V self = c.tensor("self");
    const Tensor mask = known_operand(c, "mask");
    const Sizes sizes = broadcast_sizes(self.sizes(), mask.sizes());
    const Ints places = selected(mask, sizes);
    V all = expand(self, sizes);
    all = reshape(all, Ints{element_count(sizes)});
    const Tensor index = Tensor::of(places, {static_cast<std::int64_t>(places.size())});
    return index_select(all, 0, c.constant(index));
}

Tensor list(const Ints& values) { return Tensor::of(values, {static_cast<std::int64_t>(values.size())}); }

/// Ascending, whatever `sorted` says, which promises no order otherwise; each NaN is different.
std::vector<Tensor> unique_of(const Tensor& self, const AnyArguments auto& a) {
    const bool inverse = a.boolean("return_inverse"), counts = a.boolean("return_counts");
    const Tensor whole = self.contiguous(), flat = whole.as_strided({self.numel()}, {1}, whole.offset());
    const Distinct distinct = distinct_slices(flat, 0, true, NaNs::different);
    const Tensor values = pick(flat, {static_cast<std::int64_t>(distinct.first.size())},
                               [&](const Ints& index) { return distinct.first[static_cast<std::size_t>(index[0])]; });
    return {values, inverse || counts ? Tensor::of(distinct.inverse, self.sizes()) : list({}),
            counts ? list(distinct.counts) : list({})};
}

CallResults constants(const Call& c, const std::vector<Tensor>& values) {
    Vs results;
    for (const Tensor& value : values) results.push_back(c.constant(value));
    return results;
}

std::vector<Tensor> eval_unique(const Arguments<Tensor>& a) { return unique_of(a.tensor("self"), a); }

CallResults decompose_unique(const Call& c) { return constants(c, unique_of(known_operand(c, "self"), c)); }

/// The slices along the first dimension that differ from the ones before them.
Distinct runs_of(const Tensor& self) {
    const Tensor whole = self.contiguous();
    const std::int64_t slices = whole.sizes().at(0), width = slices ? whole.numel() / slices : 0;
    Distinct runs;
    const auto split = [&](const auto& elements) {
        for (std::int64_t i = 0; i < slices; ++i) {
            const auto slice = elements.begin() + i * width;
            if (i == 0 || !std::equal(slice, slice + width, slice - width)) {
                runs.first.push_back(i);
                runs.counts.push_back(0);
            }
            runs.inverse.push_back(static_cast<std::int64_t>(runs.first.size()) - 1);
            ++runs.counts.back();
        }
    };
    if (is_floating(self.dtype()))
        split(whole.values<double>());
    else
        split(whole.values<std::int64_t>());
    return runs;
}

/// Only the first dimension: a graph has symbols for first sizes.
void check_first(const char* op, std::int64_t dim, std::int64_t rank) {
    if (wrap_dim(dim, rank) != 0)
        throw NotImplemented(std::string(op) + ": found dim=" + std::to_string(dim) + ", expected 0", "");
}

Tensor rows_of(const Tensor& self, const Ints& rows) {
    Sizes sizes = self.sizes();
    sizes.at(0) = static_cast<std::int64_t>(rows.size());
    return pick(self, sizes, [&](Ints index) {
        index[0] = rows[static_cast<std::size_t>(index[0])];
        return element_offset(index, self.strides());
    });
}

/// Of the flattened tensor, whose inverse and counts are given where they are asked for; or of its slices.
std::vector<Tensor> consecutive_of(const Tensor& self, const AnyArguments auto& a) {
    const std::optional<std::int64_t> dim = a.optional_integer("dim");
    if (dim) check_first("unique_consecutive", *dim, self.rank());
    const Tensor whole = self.contiguous(), flat = dim ? whole : whole.as_strided({self.numel()}, {1}, whole.offset());
    const Distinct runs = runs_of(flat);
    const bool inverse = dim || a.boolean("return_inverse"), counts = dim || a.boolean("return_counts");
    return {rows_of(flat, runs.first),
            inverse ? Tensor::of(runs.inverse, dim ? Sizes{self.sizes()[0]} : self.sizes()) : list({}),
            counts ? list(runs.counts) : list({})};
}

std::vector<Tensor> eval_consecutive(const Arguments<Tensor>& a) { return consecutive_of(a.tensor("self"), a); }

CallResults decompose_consecutive(const Call& c) { return constants(c, consecutive_of(known_operand(c, "self"), c)); }

/// Ascending; the inverse and counts are given anyway.
std::vector<Tensor> distinct_rows(const Tensor& self, std::int64_t dim) {
    check_first("unique_dim", dim, self.rank());
    const Distinct distinct = distinct_slices(self, 0, true, NaNs::different);
    return {rows_of(self, distinct.first), list(distinct.inverse), list(distinct.counts)};
}

std::vector<Tensor> eval_unique_dim(const Arguments<Tensor>& a) {
    return distinct_rows(a.tensor("self"), a.integer("dim"));
}

CallResults decompose_unique_dim(const Call& c) {
    return constants(c, distinct_rows(known_operand(c, "self"), c.integer("dim")));
}

std::int64_t repeated_count(const Tensor& repeats) {
    if (repeats.rank() != 1)
        throw Error("repeat_interleave: found repeats of sizes " + to_string(repeats.sizes()) +
                    ", expected a tensor with 1 dimension");
    Checked count = 0;
    for (const std::int64_t number : repeats.values<std::int64_t>()) {
        if (number < 0)
            throw Error("repeat_interleave: found " + std::to_string(number) + " repeats, expected 0 or more");
        count = count + number;
    }
    return element_count(Sizes{count.value()});
}

std::vector<ValueMeta> infer_repeated(const Arguments<ValueMeta>& a) {
    const std::optional<Tensor> repeats = a.known("repeats");
    if (!repeats)
        throw NeedsConstant("repeats", "the operand 'repeats' is computed at run time, expected a constant",
                            "make this operand a constant: the sizes of the result depend on the value of the operand");
    return {ValueMeta::contiguous(repeats->dtype(), {repeated_count(*repeats)})};
}

/// Each position as often as the number there says.
Tensor repeated_positions(const Tensor& repeats) {
    Ints positions;
    positions.reserve(static_cast<std::size_t>(repeated_count(repeats)));
    const Ints numbers = repeats.values<std::int64_t>();
    for (std::size_t i = 0; i < numbers.size(); ++i)
        positions.insert(positions.end(), static_cast<std::size_t>(numbers[i]), static_cast<std::int64_t>(i));
    return Tensor::of(positions, {static_cast<std::int64_t>(positions.size())}).to(repeats.dtype());
}

std::vector<Tensor> eval_repeated(const Arguments<Tensor>& a) { return {repeated_positions(a.tensor("repeats"))}; }

CallResults decompose_repeated(const Call& c) { return c.constant(repeated_positions(known_operand(c, "repeats"))); }

/// Up to the largest number, and as many as asked for.
std::int64_t bincount_length(const Tensor& self, const AnyArguments auto& a) {
    const std::int64_t least = a.integer("minlength");
    if (self.rank() != 1 || least < 0)
        throw Error("bincount: found an input of sizes " + to_string(self.sizes()) + " and minlength=" +
                    std::to_string(least) + ", expected an input with 1 dimension and a minlength of 0 or more");
    std::int64_t length = least;
    for (const std::int64_t number : self.values<std::int64_t>()) {
        if (number < 0)
            throw Error("bincount: found the element " + std::to_string(number) + ", expected no negative elements");
        length = std::max(length, (Checked(number) + 1).value());
    }
    return element_count(Sizes{length});
}

/// Of sums of weights: f32 of f32 ones, else f64.
DType bincount_dtype(const std::optional<ValueMeta>& weights, const Sizes& self) {
    if (weights && weights->sizes != self)
        throw Error("bincount: found weights of sizes " + to_string(weights->sizes) + ", expected " + to_string(self));
    if (!weights || element_count(self) == 0) return DType::i64;
    return weights->dtype == DType::f32 ? DType::f32 : DType::f64;
}

std::vector<ValueMeta> infer_bincount(const Arguments<ValueMeta>& a) {
    const std::optional<Tensor> self = a.known("self");
    if (!self)
        throw NeedsConstant("self", "the operand 'self' is computed at run time, expected a constant",
                            "make this operand a constant: the sizes of the result depend on the value of the operand");
    return {ValueMeta::contiguous(bincount_dtype(a.optional_tensor("weights"), self->sizes()),
                                  {bincount_length(*self, a)})};
}

/// How often each of 0, 1, 2 … is there; with weights, the sum of those of its places.
std::vector<Tensor> eval_bincount(const Arguments<Tensor>& a) {
    const Tensor self = a.tensor("self");
    const auto weights = a.optional_tensor("weights");
    const std::int64_t length = bincount_length(self, a);
    const Ints numbers = self.values<std::int64_t>();
    const auto sums = [&]<class W>(const std::vector<W>& added) {
        Tensor result(dtype_of<W>, {length});  // refuses what fits no memory
        W* const sum = result.mutable_data<W>();
        for (std::size_t i = 0; i < numbers.size(); ++i) sum[numbers[i]] += added[i];
        return result;
    };
    const DType dtype = bincount_dtype(weights ? std::optional(ValueMeta::of(*weights)) : std::nullopt, self.sizes());
    if (dtype == DType::i64) return {sums(Ints(numbers.size(), 1))};
    return {dtype == DType::f32 ? sums(weights->values<float>()) : sums(weights->values<double>())};
}

/// The weights may be computed while running.
CallResults decompose_bincount(const Call& c) {
    const Tensor self = known_operand(c, "self");
    const auto weights = c.optional_tensor("weights");
    const DType dtype = bincount_dtype(weights ? std::optional(weights->meta) : std::nullopt, self.sizes());
    const V zeros = aten::zeros(c.builder(), Ints{bincount_length(self, c)}, dtype);
    const V added = dtype == DType::i64 ? ones(c.builder(), self.sizes(), dtype) : c.builder().convert(*weights, dtype);
    const V at = to(c.tensor("self"), DType::i64);
    return index_add(zeros, 0, at, added);
}

/// The rows of a padded sequence that are none of its padding, step by step, and how many each step has.
struct PackedRows {
    Ints rows, batch_sizes;  ///< rows: step * batch + which
    std::int64_t steps = 0, batch = 0;
    Sizes sizes;  ///< of the packed rows
};

/// Of lengths in descending order, as LibTorch takes them.
PackedRows packed_rows(const Sizes& input, const Tensor& lengths, bool batch_first) {
    const std::string op = "_pack_padded_sequence";
    if (input.size() < 2 || element_count(input) == 0)
        throw Error(op + ": found an input of sizes " + to_string(input) +
                    ", expected at least 2 dimensions, none of them empty");
    PackedRows packing;
    packing.steps = input[batch_first ? 1 : 0], packing.batch = input[batch_first ? 0 : 1];
    if (lengths.dtype() != DType::i64 || lengths.sizes() != Sizes{packing.batch})
        throw Error(op + ": found lengths of " + std::string(name(lengths.dtype())) + to_string(lengths.sizes()) +
                    ", expected i64[" + std::to_string(packing.batch) + "]");
    const Ints counts = lengths.values<std::int64_t>();
    if (!std::ranges::is_sorted(counts, std::greater()) || counts.back() < 1 || counts.front() > packing.steps)
        throw Error(op + ": found lengths " + to_string(counts) +
                    ", expected lengths in descending order, each from 1 to " + std::to_string(packing.steps));
    for (std::int64_t step = 0; step < counts.front(); ++step) {
        const std::int64_t there = std::ranges::count_if(counts, [&](std::int64_t n) { return n > step; });
        packing.batch_sizes.push_back(there);
        for (std::int64_t i = 0; i < there; ++i) packing.rows.push_back(step * packing.batch + i);
    }
    packing.sizes = {static_cast<std::int64_t>(packing.rows.size())};
    packing.sizes.insert(packing.sizes.end(), input.begin() + 2, input.end());
    return packing;
}

std::vector<Tensor> eval_pack(const Arguments<Tensor>& a) {
    const Tensor input = a.tensor("input");
    const bool batch_first = a.boolean("batch_first");
    const PackedRows packing = packed_rows(input.sizes(), a.tensor("lengths"), batch_first);
    const Tensor data = pick(input, packing.sizes, [&](Ints index) {
        const std::int64_t row = packing.rows[static_cast<std::size_t>(index[0])];
        index[0] = row / packing.batch;
        index.insert(index.begin() + 1, row % packing.batch);
        if (batch_first) std::swap(index[0], index[1]);
        return element_offset(index, input.strides());
    });
    return {data, list(packing.batch_sizes)};
}

CallResults decompose_pack(const Call& c) {
    V input = c.tensor("input");
    const bool batch_first = c.boolean("batch_first");
    const PackedRows packing = packed_rows(input.sizes(), known_operand(c, "lengths"), batch_first);
    if (batch_first) input = transpose(input, 0, 1);
    Sizes all = packing.sizes;
    all[0] = packing.steps * packing.batch;
    const V rows = reshape(input, all);
    const V data = index_select(rows, 0, c.constant(list(packing.rows)));
    return {data, c.constant(list(packing.batch_sizes))};
}

void pack_grad(Gradients& c) {
    c.takes_complex();
    c.set("input",
          _pack_padded_sequence_backward(c.grad(), c.tensor("input").sizes(), c.result(1), c.boolean("batch_first")));
}

constexpr OpDef kDataSizeOps[] = {
    composite("{nonzero|argwhere}(Tensor self) -> Tensor",
              "the positions of the elements that are != 0, one row for each", kMoved, decompose_nonzero,
              {.eval = eval_nonzero}, no_gradient),
    composite("masked_select(Tensor self, Tensor mask) -> Tensor", "elements where a mask is true", kMoved,
              decompose_masked_select, {.eval = eval_masked_select}),
    composite(
        "_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> "
        "(Tensor, Tensor, Tensor)",
        "each different element once, in ascending order: https://pytorch.org/docs/stable/generated/torch.unique.html",
        kAnyDType, decompose_unique, {.eval = eval_unique}),
    composite("unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) -> "
              "(Tensor, Tensor, Tensor)",
              "the elements, or the slices along a dimension, that differ from the preceding element or slice",
              kAnyDType, decompose_consecutive, {.eval = eval_consecutive}),
    composite("unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool return_counts=False) "
              "-> (Tensor, Tensor, Tensor)",
              "each different slice along a dimension once, in ascending order", kAnyDType, decompose_unique_dim,
              {.eval = eval_unique_dim}),
    composite("repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor",
              "each position, repeated as often as the number at this position says",
              set_of(DType::i64) | set_of(DType::i32), decompose_repeated,
              {.infer = infer_repeated, .eval = eval_repeated}, no_gradient),
    composite("bincount(Tensor self, Tensor? weights=None, int minlength=0) -> Tensor", "how often 0, 1, 2 … occur",
              kIntegers, decompose_bincount, {.infer = infer_bincount, .eval = eval_bincount}, no_gradient),
    composite("_pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first) -> (Tensor, Tensor)",
              "the steps of sequences without their padding: "
              "https://pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pack_padded_sequence.html",
              kMoved, decompose_pack, {.eval = eval_pack}, pack_grad),
};

}  // namespace

std::span<const OpDef> data_size_ops() { return kDataSizeOps; }

std::vector<std::size_t> data_sized_results(const Node& call) {
    if (call.kind != NodeKind::call) return {};
    if (std::ranges::find(kOneResult, call.target) != std::end(kOneResult)) return {0};
    if (call.target == kPack) return {0, 1};
    const auto* const unique = std::ranges::find(kUnique, call.target, &Unique::target);
    if (unique == std::end(kUnique)) return {};
    const Arg* const counts =
        call.args.size() > unique->counts_at ? &call.args[unique->counts_at] : call.kwarg("return_counts");
    const Arg* const dim = call.args.size() > 3 ? &call.args[3] : call.kwarg("dim");  // of unique_consecutive
    const bool given = unique->target == "aten.unique_dim.default" ||
                       (unique->target == "aten.unique_consecutive.default" && dim && !dim->is_none());
    if (given || (counts && *counts == Arg(true))) return {0, 2};
    return {0};
}

bool has_data_sizes(const Graph& graph) {
    return std::ranges::any_of(graph.nodes, [](const Node& node) { return !data_sized_results(node).empty(); });
}

}  // namespace whittle
