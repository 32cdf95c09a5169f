// The passes of a compilation in one table, and what a pass tells of each of its applications.
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "expr/builder.h"
#include "expr/group.h"
#include "ops/core/builder.h"

namespace whittle {

struct Partition;

/// In the order in which they are applied.
enum class PassId : std::uint8_t {
    functionalize,
    decompose,
    fold,
    cse,
    dce,
    joint,
    partition,
    plan,
    lower,
    inline_value,
    fuse,
    schedule,
    share
};

struct Pass {
    PassId id;
    std::string_view name;
    bool limitable;        ///< asks before each application, so that users can switch it off or limit it (PassLimits)
    std::string_view doc;  ///< what one application is
};

inline constexpr Pass kPasses[] = {
    {PassId::functionalize, "functionalize", false, "expresses a write to memory as a value"},
    {PassId::decompose, "decompose", false, "replaces a call of a composite by the parts of the composite"},
    {PassId::fold, "fold", true, "replaces a call on constants by the value of the call"},
    {PassId::cse, "cse", true, "replaces a call by an equal earlier call"},
    {PassId::dce, "dce", false, "removes a call whose results are not used"},
    {PassId::joint, "joint", false, "adds the gradients of a graph to the graph"},
    {PassId::partition, "partition", false, "cuts a joint graph into a forward and a backward graph"},
    {PassId::plan, "plan", false, "groups the calls of a graph into kernels"},
    {PassId::lower, "lower", false, "expresses the results of a call as tensor expressions"},
    {PassId::inline_value, "inline", true, "computes a value where it is read, instead of storing the value"},
    {PassId::fuse, "fuse", true, "adds a call to the kernel of earlier calls"},
    {PassId::schedule, "schedule", false, "chooses the directives of a kernel"},
    {PassId::share, "share", true, "reuses the code of an earlier kernel that differs only in names"},
};

constexpr const Pass& info_of(PassId id) { return kPasses[static_cast<std::size_t>(id)]; }
constexpr std::string_view name(PassId id) { return info_of(id).name; }
static_assert([] {
    for (std::size_t i = 0; i < std::size(kPasses); i++)
        if (static_cast<std::size_t>(kPasses[i].id) != i) return false;
    return true;
}());

/// One application of a pass, and what it made:
///   functionalize  V                         what the call writes
///   decompose      std::vector<NodeRef>      what takes the place of the results of the call
///   fold           std::vector<Tensor>       the values of the call
///   cse            std::string               the key of the call; calls of equal keys are merged
///   partition      Partition
///   lower, fuse    std::vector<expr::Value>  the results of the call
///   inline_value   expr::Value
///   schedule       expr::Schedule            of the group
struct Application {
    PassId pass;
    const Node* call = nullptr;
    GraphBuilder* builder = nullptr;  ///< functionalize and decompose: of the new graph
    const expr::Group* group = nullptr;
    int nth = 0;  ///< of this pass, from 1; fuse and inline_value
    std::variant<V*, std::vector<NodeRef>*, std::vector<Tensor>*, std::string*, Partition*, std::vector<expr::Value>*,
                 expr::Value*, expr::Schedule*>
        made;

    template <class T>
    T& of() const {
        return *std::get<T*>(made);
    }
};

/// Called after each application; may change what the pass made.
using AfterPass = std::function<void(const Application& application)>;

}  // namespace whittle
