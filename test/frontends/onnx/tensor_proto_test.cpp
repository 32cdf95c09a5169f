#include <cmath>

#include "base/files.h"
#include "frontends/onnx/tensor_proto.h"
#include "models.h"
#include "tensor/random.h"

namespace whittle {
namespace {

using Catch::Contains;
using test::error_of;

/// What load_tensor_proto says of the message.
std::string refusal(const onnx::TensorProto& proto) {
    const TempDir folder;
    write_file(folder.path() / "t.pb", proto.SerializeAsString());
    return error_of([&] { load_tensor_proto(folder.path() / "t.pb"); });
}

Tensor loaded(const onnx::TensorProto& proto) {
    const TempDir folder;
    write_file(folder.path() / "t.pb", proto.SerializeAsString());
    return load_tensor_proto(folder.path() / "t.pb").tensor;
}

onnx::TensorProto proto_of(int type, const Sizes& dims) {
    onnx::TensorProto proto;
    proto.set_name("t");
    proto.set_data_type(type);
    for (const std::int64_t dim : dims) proto.add_dims(dim);
    return proto;
}

TEST_CASE("tensors of every dtype survive a TensorProto file", "[onnx]") {
    const TempDir folder;
    const auto path = folder.path() / "t.pb";
    Random random(1);
    for (const DType dtype : kAllDTypes)
        for (const Sizes& sizes : {Sizes{}, Sizes{3}, Sizes{2, 0, 4}, Sizes{2, 3, 4}}) {
            INFO(name(dtype) << to_string(sizes));
            const Tensor tensor = random_tensor(dtype, sizes, random);
            save_tensor_proto(path, tensor, "x");
            const NamedTensor got = load_tensor_proto(path);
            CHECK(got.name == "x");
            CHECK(same_bits(got.tensor, tensor));
        }
}

TEST_CASE("the typed fields of a TensorProto hold its elements", "[onnx]") {
    onnx::TensorProto floats = proto_of(onnx::TensorProto::FLOAT, {2});
    floats.add_float_data(1.5f);
    floats.add_float_data(-0.0f);
    CHECK(same_bits(loaded(floats), Tensor::of({1.5f, -0.0f})));

    onnx::TensorProto doubles = proto_of(onnx::TensorProto::DOUBLE, {1});
    doubles.add_double_data(0.1);
    CHECK(same_bits(loaded(doubles), Tensor::of({0.1})));

    onnx::TensorProto longs = proto_of(onnx::TensorProto::INT64, {});
    longs.add_int64_data(std::int64_t{1} << 40);
    CHECK(loaded(longs).item() == Scalar(std::int64_t{1} << 40));

    // int32_data holds every narrower type; half floats as the 16 bits they have (1.0 is 0x3c00 and 0x3f80).
    const struct {
        int type;
        std::int32_t stored;
        double value;
    } cases[] = {{onnx::TensorProto::INT32, -7, -7},        {onnx::TensorProto::INT16, -300, -300},
                 {onnx::TensorProto::INT8, -128, -128},     {onnx::TensorProto::UINT8, 255, 255},
                 {onnx::TensorProto::UINT16, 65535, 65535}, {onnx::TensorProto::BOOL, 1, 1},
                 {onnx::TensorProto::FLOAT16, 0x3c00, 1},   {onnx::TensorProto::FLOAT16, 0xbc00, -1},
                 {onnx::TensorProto::BFLOAT16, 0x3f80, 1}};
    for (const auto& c : cases) {
        onnx::TensorProto proto = proto_of(c.type, {1});
        proto.add_int32_data(c.stored);
        INFO(onnx::TensorProto::DataType_Name(static_cast<onnx::TensorProto::DataType>(c.type)));
        CHECK(loaded(proto).values<double>() == std::vector<double>{c.value});
    }
}

TEST_CASE("u32 and u64 are in uint64_data", "[onnx]") {
    onnx::TensorProto wide = proto_of(onnx::TensorProto::UINT64, {1});
    wide.add_uint64_data(UINT64_MAX);
    CHECK(loaded(wide).item() == Scalar(UINT64_MAX));
    onnx::TensorProto narrow = proto_of(onnx::TensorProto::UINT32, {1});
    narrow.add_uint64_data(UINT32_MAX);
    CHECK(loaded(narrow).item() == Scalar(std::int64_t{UINT32_MAX}));
    narrow.set_uint64_data(0, std::uint64_t{1} << 32);
    CHECK_THAT(refusal(narrow), Contains("found the element 4294967296, expected an element in the range of u32"));
    onnx::TensorProto other = proto_of(onnx::TensorProto::UINT32, {1});
    other.add_int32_data(1);
    CHECK_THAT(refusal(other),
               Contains("found data in the field of another type, expected all data in the field for u32"));
}

TEST_CASE("element types have ONNX's numbers and names", "[onnx]") {
    for (const DType dtype : kAllDTypes) {
        INFO(name(dtype));
        const int code = info_of(dtype).onnx;
        if (onnx::TensorProto::DataType_IsValid(code))  // the installed ONNX may be older than the type
            CHECK(onnx::TensorProto::DataType_Name(static_cast<onnx::TensorProto::DataType>(code)) ==
                  info_of(dtype).onnx_name);
    }
}

TEST_CASE("complex numbers are two elements of a typed field", "[onnx]") {
    onnx::TensorProto singles = proto_of(onnx::TensorProto::COMPLEX64, {2});
    for (const float part : {1.f, -2.f, 0.5f, 3.f}) singles.add_float_data(part);
    CHECK(same_bits(loaded(singles), Tensor::of({Complex64(1, -2), Complex64(0.5f, 3)})));
    onnx::TensorProto doubles = proto_of(onnx::TensorProto::COMPLEX128, {1});
    for (const double part : {0.1, -0.0}) doubles.add_double_data(part);
    CHECK(same_bits(loaded(doubles), Tensor::of({Complex128(0.1, -0.0)})));
}

TEST_CASE("8-bit floats are read from bytes and from int32_data", "[onnx]") {
    onnx::TensorProto typed = proto_of(17, {2});
    typed.add_int32_data(0x38);
    typed.add_int32_data(0xfe);
    CHECK(loaded(typed).dtype() == DType::f8_e4m3fn);
    CHECK(loaded(typed).values<double>() == std::vector<double>{1, -448});
    onnx::TensorProto raw = proto_of(17, {2});
    raw.set_raw_data(std::string("\x38\xfe"));
    CHECK(loaded(raw).values<double>() == std::vector<double>{1, -448});
    onnx::TensorProto e5m2 = proto_of(19, {2});
    e5m2.set_raw_data(std::string("\x3c\xfb"));
    CHECK(loaded(e5m2).values<double>() == std::vector<double>{1, -57344});
    onnx::TensorProto beyond = proto_of(17, {1});
    beyond.add_int32_data(256);
    CHECK_THAT(refusal(beyond), Contains("found the element 256, expected an element in the range of f8_e4m3fn"));
}

TEST_CASE("tensors that do not hold what they promise are refused", "[onnx]") {
    onnx::TensorProto petabyte = proto_of(onnx::TensorProto::FLOAT, {1 << 20, 1 << 20, 256});
    petabyte.set_raw_data("abcd");
    CHECK_THAT(refusal(petabyte), Contains("found 4 bytes of data, expected 1125899906842624"));

    onnx::TensorProto typed = proto_of(onnx::TensorProto::FLOAT, {1 << 20, 1 << 20, 256});
    typed.add_float_data(1);
    CHECK_THAT(refusal(typed), Contains("found 1 element, expected 281474976710656"));

    onnx::TensorProto beyond = proto_of(onnx::TensorProto::FLOAT, {std::int64_t{1} << 62, 16});
    CHECK_THAT(refusal(beyond), Contains("expected a tensor that fits in memory"));

    onnx::TensorProto negative = proto_of(onnx::TensorProto::FLOAT, {-1});
    CHECK_THAT(refusal(negative), Contains("found dims [-1]"));

    onnx::TensorProto strings = proto_of(onnx::TensorProto::STRING, {1});
    strings.add_string_data("a");
    strings.set_data_type(99);
    CHECK_THAT(refusal(strings), Contains("tensor 't': found elements of type 99, expected "));
    onnx::TensorProto half = proto_of(onnx::TensorProto::COMPLEX64, {1});
    half.add_float_data(1);
    CHECK_THAT(refusal(half), Contains("found 1 element, expected 2 for c64[1]"));
    CHECK_THAT(refusal(proto_of(77, {1})), Contains("type 77"));

    onnx::TensorProto wide = proto_of(onnx::TensorProto::UINT8, {1});
    wide.add_int32_data(256);
    CHECK_THAT(refusal(wide), Contains("found the element 256, expected an element in the range of u8"));

    onnx::TensorProto boolean = proto_of(onnx::TensorProto::BOOL, {2});
    boolean.set_raw_data(std::string("\1\2", 2));
    CHECK_THAT(refusal(boolean), Contains("found the bool 2 at byte 1"));

    onnx::TensorProto mixed = proto_of(onnx::TensorProto::FLOAT, {1});
    mixed.add_float_data(1);
    mixed.add_int64_data(1);
    CHECK_THAT(refusal(mixed), Contains("found data in the field of another type"));

    onnx::TensorProto external = proto_of(onnx::TensorProto::FLOAT, {1});
    external.set_data_location(onnx::TensorProto::EXTERNAL);
    external.add_external_data()->set_key("location");
    CHECK_THAT(refusal(external),
               Contains("found a tensor with external data, expected a tensor with all data inside the model file"));
}

TEST_CASE("files that are no TensorProto are refused", "[onnx]") {
    const TempDir folder;
    const auto path = folder.path() / "t.pb";
    const auto refused = [&](const std::string& contents) {
        write_file(path, contents);
        return error_of([&] { load_tensor_proto(path); });
    };
    CHECK_THAT(refused(""), Contains("the file is empty"));
    CHECK_THAT(refused("not a protobuf"), Contains("expected an ONNX tensor"));
    onnx::TensorProto proto = proto_of(onnx::TensorProto::FLOAT, {100});
    proto.set_raw_data(std::string(400, 'x'));
    const std::string whole = proto.SerializeAsString();
    for (const std::size_t length : {whole.size() - 1, whole.size() / 2, std::size_t{5}})
        CHECK_THAT(refused(whole.substr(0, length)), Contains("t.pb: "));
    CHECK_THAT(error_of([&] { load_tensor_proto(folder.path() / "none.pb"); }), Contains("none.pb"));
}

TEST_CASE("a test data set is a folder of numbered tensors", "[onnx]") {
    const TempDir folder;
    CHECK_THAT(error_of([&] { load_test_data_set(folder.path()); }),
               Contains("found neither input_0.pb nor output_0.pb"));
    save_tensor_proto(folder.path() / "input_0.pb", Tensor::of({1.f}), "x");
    CHECK(load_test_data_set(folder.path()).outputs.empty());
    save_tensor_proto(folder.path() / "output_0.pb", Tensor::of({2.f}), "y");
    save_tensor_proto(folder.path() / "output_1.pb", Tensor::of({3.f}), "z");
    const TestDataSet set = load_test_data_set(folder.path());
    REQUIRE(set.inputs.size() == 1);
    REQUIRE(set.outputs.size() == 2);
    CHECK(set.outputs[1].name == "z");
    CHECK(set.outputs[1].tensor.item() == Scalar(3.0));
    save_tensor_proto(folder.path() / "output_3.pb", Tensor::of({4.f}));
    CHECK_THAT(error_of([&] { load_test_data_set(folder.path()); }),
               Contains("found no output_2.pb, but files with higher numbers"));
}

}  // namespace
}  // namespace whittle
