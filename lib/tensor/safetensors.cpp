#include "tensor/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/files.h"

namespace whittle {
namespace {

static_assert(std::endian::native == std::endian::little, "files are little-endian and mapped as they are");

constexpr std::size_t kLengthBytes = 8;            // of the header's length, u64 little-endian
constexpr std::uint64_t kMaxHeader = 100'000'000;  // the cap of the reference implementation
constexpr std::string_view kMetadata = "__metadata__";

/// One tensor's entry in the header.
struct Entry {
    std::string key = {};
    std::optional<DType> dtype = {};
    std::optional<Sizes> shape = {};
    bool has_offsets = false;
    std::vector<std::uint64_t> offsets = {};  ///< begin and end
};

std::string key_position(const std::string& key) { return "header key '" + key + "'"; }

/// Reads the header without building a document: the format has three levels and nothing deeper is ever entered, so
/// hostile nesting costs nothing. nlohmann calls these functions in document order.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
  public:
    explicit HeaderReader(const std::string& file) : file_(file) {}

    std::vector<Entry> take() { return std::move(entries_); }

    bool start_object(std::size_t) override {
        if (depth_ == 0 || (depth_ == 1 && !in_array_)) {
            ++depth_;
            if (depth_ == 2 && !in_metadata_) entries_.push_back({.key = key_});
            return true;
        }
        reject("an object");
    }
    bool end_object() override {
        if (depth_ == 2 && !in_metadata_) check_complete();
        --depth_;
        return true;
    }
    bool key(std::string& text) override {
        if (depth_ == 1) {
            if (!keys_.insert(text).second) fail(key_position(text), "found the key twice, expected each key once");
            key_ = text;
            in_metadata_ = text == kMetadata;
        } else {
            field_ = text;
            if (!in_metadata_ && text != "dtype" && text != "shape" && text != "data_offsets")
                fail(key_position(key_), "found member '" + text + "', expected 'dtype', 'shape' or 'data_offsets'");
            if (!in_metadata_ && seen(text))
                fail(key_position(key_), "found member '" + text + "' twice, expected each member once");
        }
        return true;
    }
    bool start_array(std::size_t) override {
        if (depth_ != 2 || in_metadata_ || in_array_ || field_ == "dtype") reject("an array");
        in_array_ = true;
        if (field_ == "shape")
            entries_.back().shape.emplace();
        else
            entries_.back().has_offsets = true;
        return true;
    }
    bool end_array() override {
        in_array_ = false;
        return true;
    }
    bool string(std::string& text) override {
        if (depth_ == 2 && in_metadata_) return true;
        if (depth_ != 2 || in_array_ || field_ != "dtype") reject("\"" + text.substr(0, 40) + "\"");
        entries_.back().dtype = dtype_with(&DTypeInfo::safetensors, text);
        if (!entries_.back().dtype)
            fail(key_position(key_),
                 "found dtype \"" + text.substr(0, 40) + "\", expected " + dtype_names(&DTypeInfo::safetensors));
        return true;
    }
    bool number_unsigned(std::uint64_t value) override {
        if (!in_array_) reject(std::to_string(value));
        if (field_ == "data_offsets") {
            if (entries_.back().offsets.size() == 2)
                fail(key_position(key_), "found more than 2 data_offsets, expected two: begin and end");
            entries_.back().offsets.push_back(value);
            return true;
        }
        if (value > static_cast<std::uint64_t>(INT64_MAX)) reject(std::to_string(value));
        entries_.back().shape->push_back(static_cast<std::int64_t>(value));
        return true;
    }
    bool number_integer(std::int64_t value) override { reject(std::to_string(value)); }
    bool number_float(double, const std::string& text) override { reject(text.substr(0, 40)); }
    bool null() override { reject("null"); }
    bool boolean(bool value) override { reject(value ? "true" : "false"); }
    bool binary(nlohmann::json::binary_t&) override { reject("binary data"); }
    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& e) override {
        // nlohmann's own words after its "[json.exception.parse_error.101] parse error at line 1, column 2: "
        std::string text = e.what();
        if (const std::size_t colon = text.find(": "); colon != std::string::npos) text.erase(0, colon + 2);
        fail("byte " + std::to_string(kLengthBytes + (position ? position - 1 : 0)), "malformed JSON header: " + text);
    }

  private:
    [[noreturn]] void fail(const std::string& position, const std::string& message) const {
        throw Error({file_, position}, message);
    }
    [[noreturn]] void reject(const std::string& found) const {
        if (depth_ == 0) fail("byte 8", "found " + found + ", expected a JSON object as the header");
        const char* expected = depth_ == 1         ? "an object with dtype, shape and data_offsets"
                               : in_metadata_      ? "strings in the metadata"
                               : in_array_         ? "a non-negative integer"
                               : field_ == "dtype" ? "a string"
                                                   : "an array";
        fail(key_position(key_),
             (depth_ == 2 ? "member '" + field_ + "': " : std::string()) + "found " + found + ", expected " + expected);
    }
    bool seen(const std::string& field) const {
        const Entry& entry = entries_.back();
        return field == "dtype"   ? entry.dtype.has_value()
               : field == "shape" ? entry.shape.has_value()
                                  : entry.has_offsets;
    }
    void check_complete() const {
        const Entry& entry = entries_.back();
        const char* missing = !entry.dtype         ? "dtype"
                              : !entry.shape       ? "shape"
                              : !entry.has_offsets ? "data_offsets"
                                                   : nullptr;
        if (missing)
            fail(key_position(key_), std::string("found no ") + missing + ", expected dtype, shape and data_offsets");
        if (entry.offsets.size() != 2)
            fail(key_position(key_),
                 "found " + std::to_string(entry.offsets.size()) + " data_offsets, expected two: begin and end");
    }

    const std::string& file_;
    std::vector<Entry> entries_;
    std::set<std::string> keys_;
    std::string key_, field_;
    int depth_ = 0;
    bool in_metadata_ = false, in_array_ = false;
};

/// The header's text, after the checks of its length.
std::string_view header_of(std::span<const std::byte> bytes, const std::string& file) {
    if (bytes.size() < kLengthBytes)
        throw Error({file, "byte 0"}, "found " + std::to_string(bytes.size()) +
                                          " bytes, expected at least 8 bytes, the length of a safetensors header");
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof length);
    const std::uint64_t held = bytes.size() - kLengthBytes;
    if (length > kMaxHeader || length > held)
        throw Error({file, "byte 0"},
                    "found a header length of " + std::to_string(length) + ", expected at most " +
                        std::to_string(std::min(kMaxHeader, held)) + (length > held ? ", the rest of the file" : ""),
                    "the file is truncated or not a safetensors file");
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, length);
    if (text.empty() || text[0] != '{')
        throw Error({file, "byte 8"}, "found no '{', expected the header to be a JSON object");
    return text;
}

/// Tensors must cover the data exactly, in some order: no holes, no overlaps.
void check_layout(std::vector<Entry>& entries, std::uint64_t data_start, std::uint64_t data_size,
                  const std::string& file) {
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.offsets < b.offsets; });
    std::uint64_t end = 0;
    for (const Entry& entry : entries) {
        const std::uint64_t from = entry.offsets[0], to = entry.offsets[1];
        const std::string range = "data_offsets [" + std::to_string(from) + ", " + std::to_string(to) + "]";
        const auto fail = [&](const std::string& message) -> void {
            throw Error({file, key_position(entry.key)}, "found " + range + ", expected " + message);
        };
        if (from > to || to > data_size) fail("a range inside the " + std::to_string(data_size) + " bytes of data");
        if (from != end)
            fail("data_offsets that begin at " + std::to_string(end) + ", the end of the previous tensor (" +
                 (from < end ? "the tensors overlap)" : "there is a gap)"));
        std::uint64_t bytes = 0;
        std::int64_t count = 0;
        try {
            count = element_count(*entry.shape);
        } catch (const Error& e) {
            throw Error({file, key_position(entry.key)}, e.message());
        }
        if (__builtin_mul_overflow(static_cast<std::uint64_t>(count), size_of(*entry.dtype), &bytes) ||
            bytes != to - from)
            fail("a range of " + std::to_string(count) + " elements of " + std::to_string(size_of(*entry.dtype)) +
                 " bytes for " + std::string(name(*entry.dtype)) + to_string(*entry.shape));
        end = to;
    }
    if (end != data_size)
        throw Error({file, "byte " + std::to_string(data_start + end)},
                    "found " + std::to_string(data_size - end) +
                        " bytes that belong to no tensor, expected the end of the file");
}

/// A view of the file, or a copy where the writer did not align the data to its element size.
Tensor view_or_copy(const Entry& entry, std::span<const std::byte> data,
                    const std::shared_ptr<const MappedFile>& mapping) {
    const auto aligned = reinterpret_cast<std::uintptr_t>(data.data()) % alignment_of(*entry.dtype) == 0;
    if (aligned)
        return Tensor(Storage::borrow(data, mapping), *entry.dtype, *entry.shape, contiguous_strides(*entry.shape));
    Tensor copy(*entry.dtype, *entry.shape);
    if (!data.empty()) std::memcpy(copy.mutable_raw(), data.data(), data.size());
    return copy;
}

}  // namespace

std::map<std::string, Tensor> load_safetensors(const std::filesystem::path& path) {
    const std::string file = path.string();
    const std::shared_ptr<const MappedFile> mapping = MappedFile::open(path);
    const std::span<const std::byte> bytes = mapping->bytes();
    refuse_lfs_pointer({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
    const std::string_view header = header_of(bytes, file);
    HeaderReader reader(file);
    nlohmann::json::sax_parse(header, &reader);
    std::vector<Entry> entries = reader.take();
    const std::size_t data_start = kLengthBytes + header.size();
    check_layout(entries, data_start, bytes.size() - data_start, file);

    std::map<std::string, Tensor> tensors;
    for (const Entry& entry : entries) {
        const auto from = static_cast<std::size_t>(entry.offsets[0]), to = static_cast<std::size_t>(entry.offsets[1]);
        const std::span<const std::byte> data = bytes.subspan(data_start + from, to - from);
        if (*entry.dtype == DType::boolean) {
            const auto bad = std::find_if(data.begin(), data.end(), [](std::byte b) { return b > std::byte{1}; });
            if (bad != data.end())
                throw Error(
                    {file, "byte " + std::to_string(data_start + from + static_cast<std::size_t>(bad - data.begin()))},
                    "found " + std::to_string(std::to_integer<int>(*bad)) + " in BOOL tensor '" + entry.key +
                        "', expected 0 or 1");
        }
        tensors.emplace(entry.key, view_or_copy(entry, data, mapping));
    }
    return tensors;
}

void save_safetensors(const std::filesystem::path& path, const std::map<std::string, Tensor>& tensors) {
    // Data in order of falling element size, as the reference implementation writes it: everything stays aligned.
    std::vector<std::pair<std::string, Tensor>> order;
    for (const auto& [key, tensor] : tensors) {
        WHITTLE_CHECK(key != kMetadata, "a tensor cannot have the metadata's name");
        if (info_of(tensor.dtype()).safetensors.empty())
            throw Error({path.string(), key}, "found " + std::string(name(tensor.dtype())) + ", expected " +
                                                  dtype_names(&DTypeInfo::safetensors) + ", the dtypes of safetensors");
        order.emplace_back(key, tensor.contiguous());
    }
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
        return size_of(a.second.dtype()) > size_of(b.second.dtype());
    });
    nlohmann::json header = nlohmann::json::object();
    std::uint64_t offset = 0;
    for (const auto& [key, tensor] : order) {
        const std::uint64_t end = offset + tensor.contiguous_bytes().size();
        header[key] = {
            {"dtype", info_of(tensor.dtype()).safetensors}, {"shape", tensor.sizes()}, {"data_offsets", {offset, end}}};
        offset = end;
    }
    std::string text;
    try {
        text = header.dump();
    } catch (const nlohmann::json::exception&) {  // a key that is not UTF-8
        throw Error({path.string(), {}}, "found a tensor name that is not UTF-8, which JSON requires");
    }
    text.resize((text.size() + 7) / 8 * 8, ' ');
    const std::uint64_t length = text.size();
    // In pieces: put together, weights would be in memory twice.
    std::vector<std::string_view> pieces = {{reinterpret_cast<const char*>(&length), sizeof length}, text};
    for (const auto& [key, tensor] : order) {
        const std::span<const std::byte> data = tensor.contiguous_bytes();
        pieces.emplace_back(reinterpret_cast<const char*>(data.data()), data.size());
    }
    write_pieces(path, pieces);
}

}  // namespace whittle
