// Cursor: a range of an event file, read from its beginning to its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace whittle::libtorch {

/// No capture writes lists within lists of more levels.
constexpr int kDeepestList = 16;

/// Reads a range of the file; every error names the byte.
class Cursor {
  public:
    Cursor(const std::string& file, std::span<const std::byte> bytes, std::size_t at, std::size_t end)
        : file_(file), bytes_(bytes), at_(at), end_(end) {}

    template <class T>
    T get() {
        T value;
        std::memcpy(&value, take(sizeof value).data(), sizeof value);
        return value;
    }
    std::span<const std::byte> take(std::uint64_t size) {
        if (size > end_ - at_)
            fail("found " + std::to_string(end_ - at_) + " bytes left in the record",
                 "expected at least " + std::to_string(size) + " bytes");
        at_ += static_cast<std::size_t>(size);
        return bytes_.subspan(at_ - static_cast<std::size_t>(size), static_cast<std::size_t>(size));
    }
    std::string text() {
        const auto bytes = take(get<std::uint32_t>());
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
    /// The members of a record. Its texts are the file's memory.
    template <class R>
    R record() {
        R record;
        R::fields(record, [this](auto& member) { this->get_member(member); });
        return record;
    }
    /// The next `size` bytes, by themselves.
    Cursor part(std::uint64_t size) {
        const std::size_t begin = at_;
        take(size);
        return {file_, bytes_, begin, at_};
    }
    /// The same range from another byte of the file on.
    Cursor from(std::size_t at) const { return {file_, bytes_, at, end_}; }
    std::size_t left() const { return end_ - at_; }
    std::size_t at() const { return at_; }
    [[noreturn]] void fail(const std::string& found, const std::string& expected) const {
        throw Error({file_, "byte " + std::to_string(at_)}, found + ", " + expected);
    }

  private:
    void get_member(std::string_view& member) {
        const auto bytes = take(get<std::uint32_t>());
        member = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
    void get_member(bool& member) { member = get<std::uint8_t>() != 0; }
    void get_member(std::vector<std::uint64_t>& member) {
        const auto count = get<std::uint32_t>();
        if (count > left() / sizeof member[0])
            fail("found a list of " + std::to_string(count) + " numbers",
                 "expected at most as many as fit in the record");
        member.resize(count);
        const auto bytes = take(count * sizeof member[0]);
        if (count > 0) std::memcpy(member.data(), bytes.data(), bytes.size());
    }
    template <class T>
    void get_member(T& member) {
        member = get<T>();
    }

    const std::string& file_;
    std::span<const std::byte> bytes_;
    std::size_t at_, end_;
};

}  // namespace whittle::libtorch
