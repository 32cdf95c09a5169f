// Samples of lib/ops/aten/statistic.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

/// keepdim is an argument after "unbiased", or a keyword beside "correction".
Samples correction_samples(DType dtype) {
    Samples result;
    for (Sample& sample : dim_lists(dtype)) {
        sample.kwargs = {{"keepdim", sample.args[2]}};
        sample.args.pop_back();
        result.push_back(std::move(sample));
    }
    const Tensor x = random(dtype, {3, 4});
    for (const double correction : {0.0, 2.0, 2.5, 4.0, 9.0})
        result.push_back(call_of("correction " + std::to_string(correction), {x, Arg::ints({1})},
                                 {{"correction", Arg(correction)}}));
    result.push_back(call_of("no dim", {x}));
    return result;
}
Samples unbiased_dim_samples(DType dtype) {
    Samples result;
    for (const bool unbiased : {true, false})
        for (Sample& sample : dim_lists(dtype)) {
            sample.args = {sample.args[0], sample.args[1], unbiased, sample.args[2]};
            sample.label += unbiased ? " unbiased" : " biased";
            result.push_back(std::move(sample));
        }
    return result;
}
Samples unbiased_samples(DType dtype) {
    Samples result = whole(dtype);
    result.push_back(call_of("biased", {random(dtype, {3, 4}), Arg(false)}));
    return result;
}
Samples means_too(DType dtype) {
    return {call_of("of all", {random(dtype, {3, 4})}), call_of("biased", {random(dtype, {3, 4}), false})};
}
Samples means_along(DType dtype) {
    return {call_of("rows", {random(dtype, {3, 4}), Arg::ints({1})}),
            call_of("biased, kept", {random(dtype, {2, 3, 4}), Arg::ints({0, 2}), false, true})};
}
Samples logsumexp_samples(DType dtype) { return dim_lists(dtype); }

}  // namespace

Table statistic_table() {
    return {{{"aten.var.correction", "aten.std.correction", "aten.var_mean.correction", "aten.std_mean.correction"},
             correction_samples},
            {{"aten.var.dim", "aten.std.dim"}, unbiased_dim_samples},
            {{"aten.var.default", "aten.std.default"}, unbiased_samples},
            {{"aten.var_mean.dim", "aten.std_mean.dim"}, means_along},
            {{"aten.var_mean.default", "aten.std_mean.default"}, means_too},
            {{"aten.logsumexp.default"}, logsumexp_samples}};
}

}  // namespace whittle::samples
