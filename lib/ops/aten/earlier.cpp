#include "ops/aten/earlier.h"

#include "ops/core/registry.h"

namespace whittle {
namespace {

constexpr std::string_view kNoTraining = "aten._native_batch_norm_legit_no_training.default";
constexpr std::string_view kNoStatistics = "aten._native_batch_norm_legit.no_stats";

}  // namespace

std::string_view earlier_target(std::string_view target) {
    return target == kNoTraining || target == kNoStatistics ? "aten.native_batch_norm.default" : "";
}

Node with_earlier_target(const Node& call) {
    const std::string_view target = earlier_target(call.target);
    if (target.empty()) return call;
    const ArgList args = bind_arguments(Registry::instance().require(call.target).schema, call);
    const Arg none, running(false);
    Node earlier = call;
    earlier.target = target;
    earlier.kwargs.clear();
    // The other op may have statistics, and says whether they are the batch's.
    if (call.target == kNoTraining)
        earlier.args = {args[0], args[1], args[2], args[3], args[4], running, args[5], args[6]};
    else
        earlier.args = {args[0], args[1], args[2], none, none, args[3], args[4], args[5]};
    return earlier;
}

}  // namespace whittle
