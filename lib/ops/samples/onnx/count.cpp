// Samples of lib/ops/onnx/count.cpp.
#include "ops/samples/onnx/shared.h"

namespace whittle::samples {
namespace {

Samples unique_samples(DType dtype) {
    const Tensor x = values(dtype, {2, 1, 1, 2, 1, 1, 0, 1, 2}, {3, 3});
    return {at_opset(11, "flat", {x}, {}, {0}),
            at_opset(11, "rows, all results", {x}, {{"axis", 0}, {"num_outputs", 4}}, {0}),
            at_opset(11, "columns, not sorted", {x}, {{"axis", -1}, {"sorted", 0}, {"num_outputs", 2}}, {0})};
}

Samples tf_idf_samples(DType dtype) {
    Samples result;
    for (const char* mode : {"TF", "IDF", "TFIDF"})
        result.push_back(at_opset(9, mode, {values(dtype, {1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8}, {2, 6})},
                                  {{"max_gram_length", 2},
                                   {"max_skip_count", 1},
                                   {"min_gram_length", 1},
                                   {"mode", mode},
                                   {"ngram_counts", Arg::ints({0, 4})},
                                   {"ngram_indexes", Arg::ints({0, 1, 2, 3, 4, 5, 6})},
                                   {"pool_int64s", Arg::ints({2, 3, 5, 4, 5, 6, 7, 8, 6, 7})},
                                   {"weights", ArgList{1.0, 2.0, 0.5, 1.0, 3.0, 2.0, 1.5}}}));
    return result;
}

}  // namespace

Table onnx_count_table() {
    return {
        {{"onnx.TfIdfVectorizer"}, tf_idf_samples},
        {{"onnx.Unique"}, unique_samples},
    };
}

}  // namespace whittle::samples
