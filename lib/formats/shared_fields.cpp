#include "formats/shared_fields.h"

#include "base/error.h"
#include "formats/tensor_json.h"

namespace whittle {

void Form<DType>::write(JsonWriter& out, DType dtype, Plain) { out.text(std::string(name(dtype))); }

DType Form<DType>::read(const JsonReader& reader, const Json& value, Plain) { return read_dtype(reader.in, value); }

Json Form<DType>::schema(SchemaMaker& maker, Plain) {
    return maker.define("dtype", [] {
        std::vector<std::string> names;
        for (const DType dtype : kAllDTypes) names.emplace_back(name(dtype));
        return Json{{"enum", names}};
    });
}

void Form<Tensor>::write(JsonWriter& out, const Tensor& tensor, Plain) { out.value(out.tensors()->json(tensor)); }

Tensor Form<Tensor>::read(const JsonReader& reader, const Json& value, Plain) { return reader.tensors->read(value); }

Json Form<Tensor>::schema(SchemaMaker& maker, Plain) {
    return maker.define("tensor", [&]() -> Json {
        const Json size = {{"type", "integer"}, {"minimum", 0}}, integer = {{"type", "integer"}};
        const Json number = {{"type", {"number", "boolean"}}},
                   bits = {{"type", "string"}, {"pattern", "^(nan|inf|-inf|0x[0-9a-f]+)$"}},
                   pair = {{"type", "array"}, {"items", {{"anyOf", {number, bits}}}}, {"minItems", 2}, {"maxItems", 2}};
        return {
            {"type", "object"},
            {"required", {"dtype", "sizes"}},
            {"properties",
             {{"dtype", Form<DType>::schema(maker, {})},
              {"sizes", {{"type", "array"}, {"items", size}}},
              {"strides",
               {{"description", "Strides in elements; row-major if absent."}, {"type", "array"}, {"items", integer}}},
              {"requires_grad", {{"type", "boolean"}}},
              {"data",
               {{"description",
                 "The elements in row-major order; a complex number is a pair of parts. A NaN other than the usual "
                 "quiet NaN is given by its bits in hexadecimal. If absent, the elements are in the tensors file."},
                {"type", "array"},
                {"items", {{"anyOf", {number, bits, pair}}}}}},
              {"hash", {{"type", "string"}, {"pattern", "^[0-9a-f]{32}$"}}}}},
            {"anyOf", {{{"required", Json::array({"data"})}}, {{"required", Json::array({"hash"})}}}},
            {"additionalProperties", false}};
    });
}

void Form<std::map<DType, Tolerance>>::write(JsonWriter& out, const std::map<DType, Tolerance>& tolerances, Plain) {
    out.open('{', false);
    for (const auto& [dtype, tolerance] : tolerances) {
        out.key(std::string(name(dtype)));
        Form<Tolerance>::write(out, tolerance, {});
    }
    out.close('}');
}

std::map<DType, Tolerance> Form<std::map<DType, Tolerance>>::read(const JsonReader& reader, const Json& value, Plain) {
    std::map<DType, Tolerance> tolerances;
    for (const auto& [key, own] : reader.in.object(value).items()) {
        const auto dtype = dtype_from_name(key);
        if (!dtype) reader.in.fail_found(own, "dtype '" + key + "'", dtype_names());
        tolerances[*dtype] = Form<Tolerance>::read(reader, own, {});
    }
    return tolerances;
}

Json Form<std::map<DType, Tolerance>>::schema(SchemaMaker& maker, Plain) {
    return {{"type", "object"}, {"additionalProperties", Form<Tolerance>::schema(maker, {})}};
}

}  // namespace whittle
