#include "tensor/safetensors.h"

#include <catch2/catch.hpp>
#include <cstring>

#include "base/error.h"
#include "base/files.h"
#include "tensor/compute.h"
#include "tensor/random.h"

using namespace whittle;
namespace fs = std::filesystem;

namespace {

/// A file from a header's text and its data.
std::string file_of(const std::string& header, const std::string& data = {}) {
    const std::uint64_t length = header.size();
    std::string file(8, '\0');
    std::memcpy(file.data(), &length, 8);
    return file + header + data;
}

std::string length_only(std::uint64_t length) {
    std::string file(8, '\0');
    std::memcpy(file.data(), &length, 8);
    return file;
}

std::string safetensors_error(const std::string& contents) {
    TempDir folder;
    const fs::path path = folder.path() / "t.safetensors";
    write_file(path, contents);
    try {
        load_safetensors(path);
    } catch (const Error& e) {
        CHECK(e.where().file == path.string());
        CHECK_FALSE(e.where().position.empty());
        CHECK(e.message().find('\n') == std::string::npos);
        return e.where().position + ": " + e.message();
    }
    return "no error";
}

const std::string kOne = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";

}  // namespace

TEST_CASE("tensors of every dtype and shape round-trip through a file") {
    TempDir folder;
    const fs::path path = folder.path() / "t.safetensors";
    Random random(3);
    std::map<std::string, Tensor> tensors;
    for (const DType dtype : kAllDTypes) {
        if (info_of(dtype).safetensors.empty()) {
            CHECK_THROWS_AS(save_safetensors(path, {{"x", Tensor(dtype, {1})}}), Error);
            continue;
        }
        const std::string prefix(name(dtype));
        tensors[prefix + ".0d"] = random_tensor(dtype, {}, random);
        tensors[prefix + ".empty"] = random_tensor(dtype, {3, 0, 2}, random);
        tensors[prefix + ".odd"] = random_tensor(dtype, {3}, random);  // would misalign its neighbours
        tensors[prefix + ".strided"] = random_tensor(dtype, {4, 3}, random).as_strided({3, 4}, {1, 3}, 0);
    }
    tensors["na\"me\n\xc3\xa4"] = Tensor::of({1.f});
    save_safetensors(path, tensors);
    const std::map<std::string, Tensor> loaded = load_safetensors(path);
    REQUIRE(loaded.size() == tensors.size());
    for (const auto& [key, tensor] : tensors) {
        CAPTURE(key);
        CHECK(same_bits(loaded.at(key), tensor));
        CHECK_FALSE(loaded.at(key).storage()->writable());  // mapped
    }
    const std::string first = read_file(path);
    save_safetensors(path, loaded);
    CHECK(read_file(path) == first);
}

TEST_CASE("no tensors, metadata, spaces after the header, unaligned data") {
    TempDir folder;
    const fs::path path = folder.path() / "t.safetensors";
    save_safetensors(path, {});
    CHECK(load_safetensors(path).empty());
    write_file(path, file_of(R"({"__metadata__":{"format":"pt"},"a":{"data_offsets":[0,1],"shape":[],"dtype":"I8"},)"
                             R"("b":{"dtype":"I32","shape":[1],"data_offsets":[1,5]}}   )",
                             std::string("\xff\x01\x02\x00\x00", 5)));
    const auto loaded = load_safetensors(path);
    REQUIRE(loaded.size() == 2);
    CHECK(loaded.at("a").item() == Scalar(-1));
    CHECK(loaded.at("b").item() == Scalar(0x201));  // not aligned in the file: a copy
}

TEST_CASE("tensors outlive the file's name") {
    TempDir folder;
    const fs::path path = folder.path() / "t.safetensors";
    save_safetensors(path, {{"a", Tensor::of({1.f, 2.f})}});
    const Tensor loaded = load_safetensors(path).at("a");
    fs::remove(path);
    CHECK(loaded.values<float>() == std::vector<float>{1, 2});
}

TEST_CASE("malformed safetensors are refused by name or place") {
    const auto entry = [](const std::string& body) { return "{\"a\":{" + body + "}}"; };
    const auto offsets = [&](const std::string& shape, const std::string& range) {
        return entry(R"("dtype":"F32","shape":)" + shape + R"(,"data_offsets":)" + range);
    };
    struct Case {
        std::string contents, expected;
    };
    const std::string data(8, '\0');
    std::string deep = "{\"a\":" + std::string(200000, '[');
    const Case cases[] = {
        {"", "byte 0: found 0 bytes"},
        {"1234567", "byte 0: found 7 bytes"},
        {length_only(0), "byte 8: found no '{'"},
        {length_only(1), "byte 0: found a header length of 1, expected at most 0"},
        {length_only(~0ull), "byte 0: found a header length of 18446744073709551615"},
        {length_only(1ull << 62) + "{}", "byte 0: found a header length of"},
        {file_of(kOne, data).substr(0, 40), "byte 0: found a header length of 54, expected at most 32"},
        {file_of(kOne, "1234567"), "header key 'a': found data_offsets [0, 8], expected a range inside the 7 bytes"},
        {file_of(kOne, data + "1"), "byte 70: found 1 bytes that belong to no tensor"},
        {file_of("{}", data), "byte 10: found 8 bytes that belong to no tensor"},
        {file_of(" {}"), "byte 8: found no '{'"},
        {file_of("[]"), "byte 8: found no '{'"},
        {file_of("{\"a\":"), "byte 1"},
        {file_of("{\"a\":1}"), "header key 'a': found 1, expected an object"},
        {file_of("{\"a\":[]}"), "header key 'a': found an array, expected an object"},
        {file_of("{} x"), "byte 11: malformed JSON header"},
        {file_of("{\"\xff\":{}}"), "byte 10: malformed JSON header"},
        {file_of(deep), "header key 'a': found an array, expected an object"},
        {file_of("{\"__metadata__\":{\"a\":1}}"), "header key '__metadata__': member 'a': found 1, expected strings"},
        {file_of("{\"__metadata__\":{\"a\":{}}}"), "found an object, expected strings"},
        {file_of(entry("")), "header key 'a': found no dtype"},
        {file_of(entry(R"("dtype":"F32")")), "header key 'a': found no shape"},
        {file_of(entry(R"("dtype":"F32","shape":[])")), "header key 'a': found no data_offsets"},
        {file_of(entry(R"("dtype":"F32","dtype":"F32")")), "header key 'a': found member 'dtype' twice"},
        {file_of(entry(R"("dtype":"f32")")), "found dtype \"f32\", expected F64, F32"},
        {file_of(entry(R"("dtype":"F8_E8M0")")), "found dtype \"F8_E8M0\""},
        {file_of(entry(R"("dtype":32)")), "member 'dtype': found 32, expected a string"},
        {file_of(entry(R"("dtype":null)")), "member 'dtype': found null"},
        {file_of(entry(R"("stride":[1])")), "found member 'stride', expected 'dtype', 'shape' or 'data_offsets'"},
        {file_of(entry(R"("shape":2)")), "member 'shape': found 2, expected an array"},
        {file_of(entry(R"("shape":[[2]])")), "member 'shape': found an array"},
        {file_of(entry(R"("shape":[{}])")), "member 'shape': found an object"},
        {file_of(entry(R"("shape":{})")), "member 'shape': found an object"},
        {file_of(offsets("[-2]", "[0,8]"), data), "member 'shape': found -2, expected a non-negative integer"},
        {file_of(offsets("[2.0]", "[0,8]"), data), "member 'shape': found 2.0"},
        {file_of(offsets("[true]", "[0,8]"), data), "member 'shape': found true"},
        {file_of(offsets("[9223372036854775808]", "[0,8]"), data), "found 9223372036854775808"},
        {file_of(offsets("[99999999999999999999]", "[0,8]"), data), "member 'shape': found 99999999999999999999"},
        {file_of(offsets("[1e999]", "[0,8]"), data), "byte"},
        {file_of(offsets("[3]", "[0,8]"), data), "expected a range of 3 elements of 4 bytes for f32[3]"},
        {file_of(offsets("[4611686018427387906]", "[0,8]"), data), "expected a range of 4611686018427387906 elements"},
        {file_of(offsets("[4294967296,4294967296]", "[0,0]")), "expected a tensor of fewer than 2^63 elements"},
        {file_of(offsets("[0,9223372036854775807,9]", "[0,0]")), "expected a tensor of fewer than 2^63 elements"},
        {file_of(offsets("[2]", "[8,0]"), data), "expected a range inside"},
        {file_of(offsets("[2]", "[0,16]"), data), "expected a range inside the 8 bytes"},
        {file_of(offsets("[2]", "[0]"), data), "found 1 data_offsets, expected two: begin and end"},
        {file_of(offsets("[2]", "[0,8,9]"), data), "found more than 2 data_offsets"},
        {file_of(offsets("[2]", "[0,18446744073709551615]"), data), "expected a range inside"},
        {file_of(offsets("[1]", "[4,8]"), data),
         "expected data_offsets that begin at 0, the end of the previous tensor (there is a gap)"},
        {file_of(
             R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})",
             "123456"),
         "header key 'b': found data_offsets [2, 6], expected data_offsets that begin at 4, "
         "the end of the previous tensor (the tensors overlap)"},
        {file_of(
             R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
             "12"),
         "header key 'a': found the key twice"},
        {file_of(R"({"a":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}})", std::string("\0\1\2", 3)),
         "found 2 in BOOL tensor 'a', expected 0 or 1"},
    };
    for (const Case& c : cases) {
        CAPTURE(c.contents.substr(0, 200));
        CHECK_THAT(safetensors_error(c.contents), Catch::Contains(c.expected));
    }
}

TEST_CASE("every truncation of a file is refused") {
    TempDir folder;
    const fs::path path = folder.path() / "t.safetensors";
    save_safetensors(path, {{"a", Tensor::of({1.f, 2.f})}, {"b", Tensor::of({1, 2, 3})}});
    const std::string whole = read_file(path);
    for (std::size_t size = 0; size < whole.size(); ++size)
        CHECK(safetensors_error(whole.substr(0, size)) != "no error");
}

TEST_CASE("a tensor name that is not UTF-8 is refused on writing") {
    TempDir folder;
    CHECK_THROWS_AS(save_safetensors(folder.path() / "t", {{"\xff", Tensor::of({1.f})}}), Error);
    CHECK_THROWS_AS(load_safetensors(folder.path() / "none"), Error);
}
