// What capture must know of ATen ops beyond their schemas, registered or not: which calls are no nodes that their
// arguments determine, and what the ops of LibTorch are called in the core ATen set. Header only, without dependencies:
// the recorder in a user's process and the reader of C++ sources ask, too.
#pragma once

#include <string_view>

namespace whittle {

enum class CaptureRole {
    call,            ///< a node like any other
    draws,           ///< its result is random
    allocates,       ///< its result's elements are whatever lay in memory
    resizes,         ///< its result shows its argument's memory in other sizes; what is new is whatever lay there
    adopts,          ///< its result shows memory that somebody else has: another process, a file
    detaches,        ///< its result has the same elements, without history
    fills,           ///< it writes one number into all of a tensor
    wraps_number,    ///< it makes a tensor of a number of the host
    reads_elements,  ///< it gives the program an element
    branches,        ///< it gives the program the truth of an element
    compares,        ///< it tells the program whether whole tensors are equal
    dynamic_shape,   ///< the sizes of its result depend on values
    indexes,         ///< so do those of its result where a mask is given
    batch_norm,      ///< it updates running statistics when it trains
    backward,        ///< it runs autograd
    checks,          ///< it looks at elements on the host and may throw, and tells the program nothing
};

/// Of an op's name without its overload: "nonzero", or "aten::nonzero".
constexpr CaptureRole capture_role(std::string_view name) {
    struct Entry {
        CaptureRole role;
        std::string_view name;
    };
    using enum CaptureRole;
    constexpr Entry kRoles[] = {
        {draws, "uniform_"},
        {draws, "normal_"},
        {draws, "bernoulli_"},
        {draws, "random_"},
        {draws, "exponential_"},
        {draws, "geometric_"},
        {draws, "cauchy_"},
        {draws, "log_normal_"},
        {draws, "multinomial"},
        {draws, "poisson"},
        {draws, "normal"},
        {draws, "rand"},
        {draws, "rand_like"},
        {draws, "randn"},
        {draws, "randn_like"},
        {draws, "randint"},
        {draws, "randint_like"},
        {draws, "randperm"},
        {draws, "bernoulli"},
        {allocates, "empty"},
        {allocates, "empty_like"},
        {allocates, "empty_strided"},
        {allocates, "new_empty"},
        {allocates, "new_empty_strided"},
        {resizes, "resize_"},
        {adopts, "set_"},
        {detaches, "detach"},
        {detaches, "detach_"},
        {detaches, "alias"},
        {fills, "fill_"},
        {fills, "zero_"},
        {wraps_number, "lift_fresh"},
        {reads_elements, "item"},
        {reads_elements, "_local_scalar_dense"},
        {branches, "is_nonzero"},
        {compares, "equal"},
        {compares, "allclose"},
        {dynamic_shape, "nonzero"},
        {dynamic_shape, "nonzero_numpy"},
        {dynamic_shape, "argwhere"},
        {dynamic_shape, "masked_select"},
        {dynamic_shape, "unique_dim"},
        {dynamic_shape, "_unique"},
        {dynamic_shape, "_unique2"},
        {dynamic_shape, "unique_consecutive"},
        {dynamic_shape, "unique_dim_consecutive"},
        {dynamic_shape, "bincount"},
        {dynamic_shape, "_pack_padded_sequence"},
        {indexes, "index"},
        {batch_norm, "batch_norm"},
        {batch_norm, "native_batch_norm"},
        {backward, "_backward"},
        {checks, "_linalg_check_errors"},
    };
    constexpr std::string_view kNamespace = "aten::";
    if (name.substr(0, kNamespace.size()) == kNamespace) name.remove_prefix(kNamespace.size());
    for (const Entry& entry : kRoles)
        if (entry.name == name) return entry.role;
    return call;
}

/// Whether the op is of lists of tensors, as Python's optimizers call them (_foreach_add_.List): on a CPU it calls the
/// op of one tensor for each, in place or not, and adds nothing of its own. So the ops that it calls are captured: a
/// graph has tensors, and a call writes to one of them.
constexpr bool calls_op_for_each(std::string_view name) {
    constexpr std::string_view kPrefix = "aten::_foreach_";
    return name.substr(0, kPrefix.size()) == kPrefix;
}

/// Whether the op may update running statistics, which its schema does not say (ATen's normalizations of batches, those
/// of other devices included). Their gradients take the statistics of evaluation and leave them as they are.
constexpr bool may_update_statistics(std::string_view name) {
    constexpr auto kNowhere = std::string_view::npos;
    return name.find("backward") == kNowhere &&
           (name.find("batch_norm") != kNowhere || name.find("instance_norm") != kNowhere);
}

/// The result of an op that is in part whatever lay in memory, which only the op of its gradient reads, and that none
/// of it: _ctc_loss's log_alpha, beyond the lengths of a sequence. -1: the op has none.
constexpr int partly_unwritten_result(std::string_view target) { return target == "aten._ctc_loss.default" ? 1 : -1; }

/// Whether autograd's engine calls the op on its own account: it makes gradients, sums them and gives them the sizes of
/// what they are of. In a backward pass other ops are of the ops that are differentiated, or the program's.
constexpr bool is_of_autograd(std::string_view target) {
    constexpr std::string_view kOps[] = {
        "aten.add.Tensor",     "aten.detach.default",  "aten.alias.default",      "aten.ones_like.default",
        "aten.clone.default",  "aten.sum.dim_IntList", "aten.view.default",       "aten.reshape.default",
        "aten.expand.default", "aten.zeros.default",   "aten.zeros_like.default", "aten._unsafe_view.default"};
    for (const std::string_view op : kOps)
        if (op == target) return true;
    return false;
}

struct Spelling {
    std::string_view from, to;
};

/// The target in the core ATen set of an op of LibTorch 1.13 that has another name there; its own where it has not.
/// Arguments go by name, so those that the other op lacks (strides of an alias) fall away.
constexpr std::string_view core_target(std::string_view target) {
    constexpr Spelling kRenamed[] = {
        {"aten._reshape_alias.default", "aten.view.default"},
        {"aten.transpose_.default", "aten.transpose.int"},
        {"aten.pow_.Scalar", "aten.pow.Tensor_Scalar"},
        {"aten.pow_.Tensor", "aten.pow.Tensor_Tensor"},
        {"aten._index_put_impl_.default", "aten.index_put.default"},
        {"aten.resize_.default", "aten.as_strided.default"},
        {"aten.floor_divide_.Tensor", "aten.floor_divide.default"},
        {"aten.__ilshift__.Scalar", "aten.__lshift__.Scalar"},
        {"aten.__ilshift__.Tensor", "aten.__lshift__.Tensor"},
        {"aten.__irshift__.Scalar", "aten.__rshift__.Scalar"},
        {"aten.__irshift__.Tensor", "aten.__rshift__.Tensor"},
    };
    for (const Spelling& renamed : kRenamed)
        if (renamed.from == target) return renamed.to;
    return target;
}

/// The target of a batch norm that trains, whose results come from the batch alone; empty for one that is made of
/// others.
constexpr std::string_view training_target(std::string_view target) {
    return target == "aten.native_batch_norm.default" ? "aten._native_batch_norm_legit.no_stats" : "";
}

}  // namespace whittle
