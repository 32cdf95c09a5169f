#include "judge/outcome.h"

#include <cstdint>
#include <cstring>
#include <iterator>

#include "base/error.h"

namespace whittle {
namespace {

class MessageWriter {
  public:
    template <class T>
    void number(T value) {
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    void text(const std::string& value) {
        number<std::uint64_t>(value.size());
        bytes_ += value;
    }
    void tensor(const Tensor& value) {
        number(static_cast<std::uint8_t>(value.dtype()));
        number<std::uint64_t>(value.sizes().size());
        for (std::int64_t size : value.sizes()) number(size);
        const Tensor contiguous = value.contiguous();
        const auto data = contiguous.contiguous_bytes();
        bytes_.append(reinterpret_cast<const char*>(data.data()), data.size());
    }
    const std::string& bytes() const { return bytes_; }

  private:
    std::string bytes_;
};

/// Reads what MessageWriter wrote. A child that went mad can send anything: every read is checked, failed() says so.
class MessageReader {
  public:
    explicit MessageReader(std::string_view bytes) : rest_(bytes) {}
    bool failed() const { return failed_; }
    bool at_end() const { return rest_.empty(); }

    template <class T>
    T number() {
        T value{};
        if (!take(sizeof value)) return value;
        std::memcpy(&value, taken_.data(), sizeof value);
        return value;
    }
    std::string text() { return take(number<std::uint64_t>()) ? std::string(taken_) : std::string(); }
    Tensor tensor() {
        const auto dtype = number<std::uint8_t>();
        const auto rank = number<std::uint64_t>();
        if (dtype >= std::size(kAllDTypes) || rank > 64) failed_ = true;
        if (failed_) return {};
        Sizes sizes(rank);
        for (std::int64_t& size : sizes) size = number<std::int64_t>();
        try {
            const auto count = static_cast<std::uint64_t>(element_count(sizes));
            if (count > rest_.size() || !take(count * size_of(static_cast<DType>(dtype)))) {
                failed_ = true;
                return {};
            }
            Tensor result(static_cast<DType>(dtype), sizes);
            if (count) std::memcpy(result.mutable_raw(), taken_.data(), taken_.size());
            return result;
        } catch (const Error&) {
            failed_ = true;
            return {};
        }
    }

  private:
    bool take(std::uint64_t count) {
        if (failed_ || count > rest_.size()) {
            failed_ = true;
            return false;
        }
        taken_ = rest_.substr(0, count);
        rest_.remove_prefix(count);
        return true;
    }

    std::string_view rest_, taken_;
    bool failed_ = false;
};

}  // namespace

std::string encode(const Outcome& outcome) {
    MessageWriter writer;
    writer.number(static_cast<std::uint8_t>(outcome.kind));
    for (const std::string* text :
         {&outcome.stage, &outcome.part, &outcome.op, &outcome.message, &outcome.detail, &outcome.no_gradients})
        writer.text(*text);
    writer.number(outcome.compile_seconds);
    writer.number(outcome.run_seconds);
    for (const Values* values : {&outcome.outputs, &outcome.gradients}) {
        writer.number<std::uint64_t>(values->size());
        for (const Tensor& value : *values) writer.tensor(value);
    }
    writer.number<std::uint8_t>(outcome.missing.has_value());
    const std::vector<std::string> missing = outcome.missing.value_or(std::vector<std::string>());
    writer.number<std::uint64_t>(missing.size());
    for (const std::string& target : missing) writer.text(target);
    return writer.bytes();
}

std::optional<Outcome> decode(std::string_view bytes) {
    MessageReader reader(bytes);
    Outcome outcome;
    const auto kind = reader.number<std::uint8_t>();
    if (kind > static_cast<std::uint8_t>(Outcome::Kind::unresolved)) return std::nullopt;
    outcome.kind = static_cast<Outcome::Kind>(kind);
    for (std::string* text :
         {&outcome.stage, &outcome.part, &outcome.op, &outcome.message, &outcome.detail, &outcome.no_gradients})
        *text = reader.text();
    outcome.compile_seconds = reader.number<double>();
    outcome.run_seconds = reader.number<double>();
    for (Values* values : {&outcome.outputs, &outcome.gradients}) {
        const auto count = reader.number<std::uint64_t>();
        for (std::uint64_t i = 0; i < count && !reader.failed(); i++) values->push_back(reader.tensor());
    }
    if (reader.number<std::uint8_t>()) outcome.missing.emplace();
    const auto missing = reader.number<std::uint64_t>();
    for (std::uint64_t i = 0; i < missing && !reader.failed() && outcome.missing; i++)
        outcome.missing->push_back(reader.text());
    if (reader.failed() || !reader.at_end()) return std::nullopt;
    return outcome;
}

}  // namespace whittle
