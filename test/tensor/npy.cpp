#include "tensor/npy.h"

#include <catch2/catch.hpp>
#include <cstring>

#include "base/error.h"
#include "base/files.h"

using namespace whittle;
namespace fs = std::filesystem;

namespace {

/// A .npy file as NumPy writes it: the header padded with spaces so that the data starts at a multiple of 64.
std::string npy(int version, const std::string& dict, const std::string& data, std::size_t alignment = 64) {
    const std::size_t start = version == 1 ? 10 : 12;
    std::string header = dict;
    while ((start + header.size() + 1) % alignment != 0) header += ' ';
    header += '\n';
    std::string file = "\x93NUMPY";
    file += static_cast<char>(version);
    file += '\0';
    const auto length = static_cast<std::uint32_t>(header.size());
    file.append(reinterpret_cast<const char*>(&length), start - 8);
    return file + header + data;
}

std::string dict(const std::string& descr, const std::string& shape, const std::string& fortran = "False") {
    return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
}

template <class T>
std::string bytes(const std::vector<T>& values) {
    return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

Tensor load(const std::string& contents) {
    TempDir folder;
    write_file(folder.path() / "a.npy", contents);
    return load_npy(folder.path() / "a.npy");
}

std::string npy_error(const std::string& contents) {
    try {
        load(contents);
    } catch (const Error& e) {
        CHECK_FALSE(e.where().file.empty());
        return e.where().position + ": " + e.message();
    }
    return "no error";
}

}  // namespace

TEST_CASE("npy versions 1 to 3 are read") {
    for (const int version : {1, 2, 3}) {
        const Tensor tensor = load(npy(version, dict("<f4", "(2, 3)"), bytes<float>({1, 2, 3, 4, 5, 6})));
        CHECK(tensor.dtype() == DType::f32);
        CHECK(tensor.sizes() == Sizes{2, 3});
        CHECK(tensor.values<float>() == std::vector<float>{1, 2, 3, 4, 5, 6});
        CHECK_FALSE(tensor.storage()->writable());
    }
}

TEST_CASE("npy Fortran order is strides") {
    const Tensor tensor = load(npy(1, dict("<i8", "(2, 3)", "True"), bytes<std::int64_t>({1, 4, 2, 5, 3, 6})));
    CHECK(tensor.strides() == Strides{1, 2});
    CHECK(tensor.values<std::int64_t>() == std::vector<std::int64_t>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("npy dtypes, 0-d, empty and unaligned arrays") {
    const std::pair<const char*, DType> known[] = {{"<f8", DType::f64}, {"<f4", DType::f32}, {"<f2", DType::f16},
                                                   {"<i8", DType::i64}, {"<i4", DType::i32}, {"<i2", DType::i16},
                                                   {"|i1", DType::i8},  {"|u1", DType::u8},  {"|b1", DType::boolean},
                                                   {"<u2", DType::u16}, {"<u4", DType::u32}, {"<u8", DType::u64}};
    for (const auto& [descr, dtype] : known) {
        CHECK(load(npy(1, dict(descr, "(3,)"), std::string(3 * size_of(dtype), '\0'))).dtype() == dtype);
        CHECK(load(npy(1, dict(descr, "()"), std::string(size_of(dtype), '\0'))).rank() == 0);
        CHECK(load(npy(1, dict(descr, "(0, 5)"), "")).sizes() == Sizes{0, 5});
    }
    for (std::size_t pad = 1; pad < 8; ++pad) {
        const std::string header = dict("<i4", "(2,)") + std::string(pad, ' ');
        CHECK(load(npy(2, header, bytes<std::int32_t>({7, -8}), 1)).values<std::int64_t>()[1] == -8);
    }
}

TEST_CASE("malformed npy files are refused by place") {
    const std::string data(16, '\0');
    struct Case {
        std::string contents, expected;
    };
    const Case cases[] = {
        {"", "byte 0: found no \\x93NUMPY"},
        {std::string("\x93NUMPY\1\0", 8), "byte 0"},
        {npy(4, dict("<f4", "(4,)"), data), "byte 6: found format version 4"},
        {npy(1, dict("<f4", "(4,)"), data).substr(0, 30), "byte 8: found a header length of 118, expected at most 20"},
        {npy(1, dict("<f4", "(4,)"), data.substr(1)), "byte 128: found 15 bytes of data, expected 4 elements"},
        {npy(1, dict("<f4", "(4,)"), data + "x"), "found 17 bytes of data"},
        {npy(1, dict(">f4", "(4,)"), data), "byte 20: found dtype '>f4', expected <f8, <f4"},
        {npy(1, dict("|O", "(4,)"), data), "found dtype '|O'"},
        {npy(1, dict("<m8", "(2,)"), data), "found dtype '<m8'"},
        {npy(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (4,)}", data), "structured arrays"},
        {npy(1, "{'descr': '<f4', 'fortran_order': False}", data), "expected a member 'shape'"},
        {npy(1, "{'descr': '<f4', 'descr': '<f4'}", data), "each once; the key is 'descr'"},
        {npy(1, "{'descr': '<f4", data), "expected a closing quote"},
        {npy(1, dict("<f4", "(4 5)"), data), "expected ',' or ')'"},
        {npy(1, dict("<f4", "(-4,)"), data), "expected a size from 0 to 2^63-1"},
        {npy(1, dict("<f4", "(99999999999999999999,)"), data), "expected a size from 0 to 2^63-1"},
        {npy(1, dict("<f4", "(4294967296, 4294967296)"), data), "expected a tensor of fewer than 2^63 elements"},
        {npy(1, dict("<f8", "(2305843009213693954,)"), data), "found 16 bytes of data"},
        {npy(1, dict("<f4", "(4,)", "Maybe"), data), "expected True or False"},
        {npy(1, dict("<f4", "(4,)") + "x", data), "expected the end of the header"},
        {npy(1, "\x01", data), "found byte 0x01, expected '{'"},
        {npy(1, "[]", data), "found '[', expected '{'"},
        {npy(1, dict("|b1", "(2,)"), "\1\2"), "found 2 as a bool"},
    };
    for (const Case& c : cases) {
        CAPTURE(c.contents.substr(0, 120));
        CHECK_THAT(npy_error(c.contents), Catch::Contains(c.expected));
    }
}
