#include "tensor/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "base/files.h"

namespace whittle {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct Header {
    std::optional<DType> dtype;
    std::optional<bool> fortran_order;
    std::optional<Sizes> shape;
};

/// Parses the header, a Python dict literal of three known keys:
/// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class HeaderParser {
  public:
    HeaderParser(std::string_view text, std::size_t start, const std::string& file)
        : text_(text), start_(start), file_(file) {}

    Header parse() {
        Header header;
        expect('{');
        while (!accept('}')) {
            const std::string key = quoted();
            expect(':');
            member(key, header);
            if (!accept(',') && peek() != '}') fail("',' or '}'");
        }
        skip_space();
        if (at_ != text_.size()) fail("the end of the header");
        const char* missing = !header.dtype           ? "descr"
                              : !header.fortran_order ? "fortran_order"
                              : !header.shape         ? "shape"
                                                      : nullptr;
        if (missing) fail(std::string("a member '") + missing + "'");
        return header;
    }

  private:
    void member(const std::string& key, Header& header) {
        if (key == "descr" && !header.dtype) {
            if (peek() != '\'' && peek() != '"') fail("a string as the dtype: structured arrays are not supported");
            const std::size_t begin = at_;
            const std::string descr = quoted();
            header.dtype = dtype_with(&DTypeInfo::npy, descr);
            if (!header.dtype) {
                at_ = begin;
                throw Error({file_, place()}, "found dtype '" + descr + "', expected " + dtype_names(&DTypeInfo::npy));
            }
        } else if (key == "fortran_order" && !header.fortran_order) {
            if (accept_word("True"))
                header.fortran_order = true;
            else if (accept_word("False"))
                header.fortran_order = false;
            else
                fail("True or False");
        } else if (key == "shape" && !header.shape) {
            header.shape = tuple();
        } else {
            fail("'descr', 'fortran_order' and 'shape', each once; the key is '" + key + "'");
        }
    }

    Sizes tuple() {
        Sizes sizes;
        expect('(');
        while (!accept(')')) {
            skip_space();
            std::int64_t size = 0;
            const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
            if (error != std::errc() || size < 0) fail("a size from 0 to 2^63-1");
            at_ = static_cast<std::size_t>(end - text_.data());
            accept('L');  // Python 2 wrote long integers so
            sizes.push_back(size);
            if (!accept(',') && peek() != ')') fail("',' or ')'");
        }
        return sizes;
    }

    std::string quoted() {
        const char quote = peek();
        if (quote != '\'' && quote != '"') fail("a quoted string");
        const std::size_t end = text_.find(quote, at_ + 1);
        if (end == std::string_view::npos) fail("a closing quote");
        const std::string result(text_.substr(at_ + 1, end - at_ - 1));
        at_ = end + 1;
        return result.substr(0, 80);
    }

    void skip_space() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    }
    char peek() {
        skip_space();
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    bool accept(char c) {
        if (peek() != c || at_ == text_.size()) return false;
        ++at_;
        return true;
    }
    bool accept_word(std::string_view word) {
        skip_space();
        if (text_.substr(at_, word.size()) != word) return false;
        at_ += word.size();
        return true;
    }
    void expect(char c) {
        if (!accept(c)) fail(std::string("'") + c + "'");
    }
    std::string place() const { return "byte " + std::to_string(start_ + at_); }
    [[noreturn]] void fail(const std::string& expected) {
        std::string found = "the end of the header";
        if (at_ < text_.size()) {
            const char c = text_[at_];
            char code[16];
            std::snprintf(code, sizeof code, "byte 0x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
            found = c >= ' ' && c <= '~' ? std::string("'") + c + "'" : std::string(code);
        }
        throw Error({file_, place()}, "found " + found + ", expected " + expected);
    }

    std::string_view text_;
    std::size_t start_;  // of the text in the file
    const std::string& file_;
    std::size_t at_ = 0;
};

/// The header's text; `start` is its place in the file.
std::string_view header_text(std::span<const std::byte> bytes, std::size_t& start, const std::string& file) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (text.size() < 10 || text.substr(0, kMagic.size()) != kMagic)
        throw Error({file, "byte 0"}, "found no \\x93NUMPY, expected a .npy file");
    const int major = static_cast<unsigned char>(text[6]);
    if (major < 1 || major > 3)
        throw Error({file, "byte 6"}, "found format version " + std::to_string(major) + ", expected 1, 2 or 3");
    start = major == 1 ? 10 : 12;
    if (text.size() < start) throw Error({file, "byte 8"}, "found the end of the file, expected the header's length");
    std::uint32_t length = 0;
    std::memcpy(&length, text.data() + 8, start - 8);  // u16 or u32, little-endian as we are
    if (length > text.size() - start)
        throw Error({file, "byte 8"}, "found a header length of " + std::to_string(length) + ", expected at most " +
                                          std::to_string(text.size() - start) + ", the rest of the file");
    return text.substr(start, length);
}

Strides column_major_strides(const Sizes& sizes) {
    Sizes reversed(sizes.rbegin(), sizes.rend());
    Strides strides = contiguous_strides(reversed);
    std::reverse(strides.begin(), strides.end());
    return strides;
}

}  // namespace

Tensor load_npy(const std::filesystem::path& path) {
    const std::shared_ptr<const MappedFile> mapping = MappedFile::open(path);
    return read_npy(mapping->bytes(), mapping, path.string());
}

Tensor read_npy(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner, const std::string& file) {
    std::size_t header_start = 0;
    const std::string_view text = header_text(bytes, header_start, file);
    const Header header = HeaderParser(text, header_start, file).parse();
    const std::size_t data_start = header_start + text.size();
    const std::span<const std::byte> data = bytes.subspan(data_start);
    const DType dtype = *header.dtype;
    try {
        std::size_t expected = 0;
        const auto count = static_cast<std::size_t>(element_count(*header.shape));
        if (__builtin_mul_overflow(count, size_of(dtype), &expected) || expected != data.size())
            throw Error({file, "byte " + std::to_string(data_start)},
                        "found " + std::to_string(data.size()) + " bytes of data, expected " + std::to_string(count) +
                            " elements of " + std::to_string(size_of(dtype)) + " bytes for " +
                            std::string(name(dtype)) + to_string(*header.shape));
        if (dtype == DType::boolean) {
            const auto bad = std::find_if(data.begin(), data.end(), [](std::byte b) { return b > std::byte{1}; });
            if (bad != data.end())
                throw Error({file, "byte " + std::to_string(data_start + static_cast<std::size_t>(bad - data.begin()))},
                            "found " + std::to_string(std::to_integer<int>(*bad)) + " as a bool, expected 0 or 1");
        }
        const Strides strides =
            *header.fortran_order ? column_major_strides(*header.shape) : contiguous_strides(*header.shape);
        if (reinterpret_cast<std::uintptr_t>(data.data()) % alignment_of(dtype) == 0)
            return Tensor(Storage::borrow(data, owner), dtype, *header.shape, strides);
        std::shared_ptr<Storage> copy = Storage::allocate(data.size());
        std::memcpy(const_cast<std::byte*>(copy->bytes().data()), data.data(), data.size());
        return Tensor(copy, dtype, *header.shape, strides);
    } catch (const Error& e) {
        if (e.where().file.empty()) throw Error({file, "byte " + std::to_string(header_start)}, e.message(), e.hint());
        throw;
    }
}

}  // namespace whittle
