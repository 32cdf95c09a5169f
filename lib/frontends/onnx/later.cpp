#include "frontends/onnx/later.h"

#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <vector>

namespace whittle::onnx_proto {
namespace {

/// "NAME:TYPE" in order, '?' behind the name of an operand that may be missing, '!' behind an attribute that may not;
/// operands of one type have one letter. The first result is always there. Attributes are i, f, s (a number, a word) or
/// is, fs, ss (lists of them).
struct Row {
    const char* op;
    int since;
    const char* inputs;
    const char* attributes;
    int most_outputs = 1;
    bool optional_outputs = false;
};

constexpr int kAny = 1 << 20;

constexpr const char* kReduced = "data:T axes?:I";
constexpr const char* kReducing = "keepdims:i noop_with_empty_axes:i";
constexpr const char* kResizing =
    "antialias:i axes:is coordinate_transformation_mode:s cubic_coeff_a:f exclude_outside:i extrapolation_value:f "
    "keep_aspect_ratio_policy:s mode:s nearest_mode:s";

constexpr const char* kAttending =
    "is_causal:i kv_num_heads:i q_num_heads:i qk_matmul_output_mode:i scale:f softcap:f softmax_precision:i";

/// onnx Changelog.md, versions 18 to 24 of the default operator set. Ops that only got more types are as libonnx has
/// them.
constexpr Row kRows[] = {
    {"AffineGrid", 20, "theta:T size:I", "align_corners:i"},
    {"Attention", 23, "Q:T K:T V:V attn_mask?:U past_key?:T past_value?:V", kAttending, 4, true},
    {"Attention", 24, "Q:T K:T V:V attn_mask?:U past_key?:T past_value?:V nonpad_kv_seqlen?:I", kAttending, 4, true},
    {"AveragePool", 19, "X:T",
     "auto_pad:s ceil_mode:i count_include_pad:i dilations:is kernel_shape!:is pads:is strides:is"},
    {"BitwiseAnd", 18, "A:T B:T", ""},
    {"BitwiseNot", 18, "X:T", ""},
    {"BitwiseOr", 18, "A:T B:T", ""},
    {"BitwiseXor", 18, "A:T B:T", ""},
    {"Cast", 19, "input:T", "saturate:i to!:i"},
    {"Cast", 24, "input:T", "round_mode:s saturate:i to!:i"},
    {"CastLike", 19, "input:T target_type:U", "saturate:i"},
    {"CastLike", 24, "input:T target_type:U", "round_mode:s saturate:i"},
    {"CenterCropPad", 18, "input_data:T shape:I", "axes:is"},
    {"Col2Im", 18, "input:T image_shape:I block_shape:I", "dilations:is pads:is strides:is"},
    {"DFT", 20, "input:T dft_length?:L axis?:I", "inverse:i onesided:i"},
    {"DeformConv", 19, "X:T W:T offset:T B?:T mask?:T",
     "dilations:is group:i kernel_shape:is offset_group:i pads:is strides:is"},
    {"DequantizeLinear", 19, "x:T x_scale:S x_zero_point?:T", "axis:i"},
    {"DequantizeLinear", 21, "x:T x_scale:S x_zero_point?:T", "axis:i block_size:i"},
    {"DequantizeLinear", 23, "x:T x_scale:S x_zero_point?:T", "axis:i block_size:i output_dtype:i"},
    {"Gelu", 20, "X:T", "approximate:s"},
    {"GroupNormalization", 18, "X:T scale:T bias:T", "epsilon:f num_groups!:i"},
    {"GroupNormalization", 21, "X:T scale:T bias:T", "epsilon:f num_groups!:i stash_type:i"},
    {"ImageDecoder", 20, "encoded_stream:T", "pixel_format:s"},
    {"LpPool", 18, "X:T", "auto_pad:s ceil_mode:i dilations:is kernel_shape!:is p:i pads:is strides:is"},
    {"Mish", 18, "X:T", ""},
    {"OptionalGetElement", 18, "input:O", ""},
    {"OptionalHasElement", 18, "input?:O", ""},
    {"Pad", 18, "data:T pads:I constant_value?:T axes?:X", "mode:s"},
    {"QuantizeLinear", 19, "x:T y_scale:T y_zero_point?:U", "axis:i saturate:i"},
    {"QuantizeLinear", 21, "x:T y_scale:T y_zero_point?:U", "axis:i block_size:i output_dtype:i saturate:i"},
    {"QuantizeLinear", 23, "x:T y_scale:S y_zero_point?:U",
     "axis:i block_size:i output_dtype:i precision:i saturate:i"},
    {"RMSNormalization", 23, "X:T scale:V", "axis:i epsilon:f stash_type:i"},
    {"ReduceL1", 18, kReduced, kReducing},
    {"ReduceL2", 18, kReduced, kReducing},
    {"ReduceLogSum", 18, kReduced, kReducing},
    {"ReduceLogSumExp", 18, kReduced, kReducing},
    {"ReduceMax", 18, kReduced, kReducing},
    {"ReduceMean", 18, kReduced, kReducing},
    {"ReduceMin", 18, kReduced, kReducing},
    {"ReduceProd", 18, kReduced, kReducing},
    {"ReduceSumSquare", 18, kReduced, kReducing},
    {"RegexFullMatch", 20, "X:T", "pattern:s"},
    {"Resize", 18, "X:T roi?:R scales?:F sizes?:I", kResizing},
    {"RotaryEmbedding", 23, "X:T cos_cache:T sin_cache:T position_ids?:M",
     "interleaved:i num_heads:i rotary_embedding_dim:i"},
    {"Split", 18, "input:T split?:I", "axis:i num_outputs:i", kAny},
    {"StringConcat", 20, "X:T Y:T", ""},
    {"StringSplit", 20, "X:T", "delimiter:s maxsplit:i", 2},
    {"Swish", 24, "X:T", "alpha:f"},
    {"TensorScatter", 24, "past_cache:T update:T write_indices?:I", "axis:i mode:s"},
};

onnx::AttributeProto::AttributeType attribute_type(const std::string& word) {
    static const std::map<std::string, onnx::AttributeProto::AttributeType> types = {
        {"i", onnx::AttributeProto::INT},     {"f", onnx::AttributeProto::FLOAT},
        {"s", onnx::AttributeProto::STRING},  {"is", onnx::AttributeProto::INTS},
        {"fs", onnx::AttributeProto::FLOATS}, {"ss", onnx::AttributeProto::STRINGS}};
    return types.at(word);
}

/// A word of a row.
struct Item {
    std::string name, type;
    char mark = 0;
};

std::vector<Item> items_of(const char* text) {
    std::istringstream in(text);
    std::vector<Item> items;
    for (std::string word; in >> word;) {
        const std::size_t colon = word.find(':');
        Item item{word.substr(0, colon), word.substr(colon + 1)};
        if (item.name.back() == '?' || item.name.back() == '!') {
            item.mark = item.name.back();
            item.name.pop_back();
        }
        items.push_back(std::move(item));
    }
    return items;
}

onnx::OpSchema schema_of_row(const Row& row) {
    onnx::OpSchema schema(row.op, __FILE__, __LINE__);
    schema.SinceVersion(row.since);
    int position = 0;
    std::set<std::string> types;
    for (const Item& item : items_of(row.inputs)) {
        schema.Input(position++, item.name, std::string(), item.type,
                     item.mark == '?' ? onnx::OpSchema::Optional : onnx::OpSchema::Single);
        if (types.insert(item.type).second)
            schema.TypeConstraint(item.type, onnx::OpSchema::all_tensor_types(), std::string());
    }
    for (int i = 0; i < (row.most_outputs == kAny ? 1 : row.most_outputs); ++i) {
        const auto option = row.most_outputs == kAny        ? onnx::OpSchema::Variadic
                            : row.optional_outputs && i > 0 ? onnx::OpSchema::Optional
                                                            : onnx::OpSchema::Single;
        schema.Output(i, "result" + std::to_string(i), std::string(), "Result", option, false);
    }
    schema.TypeConstraint("Result", onnx::OpSchema::all_tensor_types(), std::string());
    for (const Item& item : items_of(row.attributes))
        schema.Attr(item.name, std::string(), attribute_type(item.type), item.mark == '!');
    schema.Finalize();
    return schema;
}

}  // namespace

const onnx::OpSchema* later_schema(const std::string& op_type, std::int64_t opset) {
    static const auto* const schemas = [] {
        auto* all = new std::map<std::string, std::map<std::int64_t, onnx::OpSchema>>();
        for (const Row& row : kRows) (*all)[row.op].emplace(row.since, schema_of_row(row));
        return all;
    }();
    const auto versions = schemas->find(op_type);
    if (versions == schemas->end()) return nullptr;
    const auto next = versions->second.upper_bound(opset);
    return next == versions->second.begin() ? nullptr : &std::prev(next)->second;
}

}  // namespace whittle::onnx_proto
