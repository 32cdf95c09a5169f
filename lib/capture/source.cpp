#include "capture/source.h"

#include <algorithm>
#include <cctype>

#include "base/number_text.h"
#include "graph/graph.h"

namespace whittle::capture {

Source::Source(SourceKind kind, std::string name, std::int64_t index, std::shared_ptr<const Source> base)
    : kind_(kind), name_(std::move(name)), index_(index), base_(std::move(base)), hash_(0) {
    const auto mix = [this](std::size_t part) { hash_ ^= part + 0x9e3779b97f4a7c15 + (hash_ << 6) + (hash_ >> 2); };
    mix(static_cast<std::size_t>(kind_));
    mix(std::hash<std::string>()(name_));
    mix(static_cast<std::size_t>(index_));
    if (base_) mix(base_->hash_);
}

Source Source::local(std::string name) { return {SourceKind::local, std::move(name), 0}; }
Source Source::global(std::string name) { return {SourceKind::global, std::move(name), 0}; }
Source Source::live(std::int64_t index) { return {SourceKind::live, {}, index}; }
Source Source::random(std::int64_t index) { return {SourceKind::random, {}, index}; }
Source Source::state(std::string name) { return {SourceKind::state, std::move(name), 0}; }
Source Source::condition(std::string text, std::int64_t line) { return {SourceKind::condition, std::move(text), line}; }
Source Source::operand(std::string text) { return {SourceKind::operand, std::move(text), 0}; }
Source Source::attribute(std::string name) const {
    return {SourceKind::attribute, std::move(name), 0, std::make_shared<const Source>(*this)};
}
Source Source::item(std::int64_t index) const {
    return {SourceKind::item, {}, index, std::make_shared<const Source>(*this)};
}

Source Source::with_root(const std::string& name) const {
    if (!base_) return {kind_, name, 0};
    return {kind_, name_, index_, std::make_shared<const Source>(base_->with_root(name))};
}

bool Source::operator==(const Source& other) const {
    if (hash_ != other.hash_ || kind_ != other.kind_ || index_ != other.index_ || name_ != other.name_) return false;
    return base_ == other.base_ || (base_ && other.base_ && *base_ == *other.base_);
}

std::string Source::text() const {
    switch (kind_) {
        case SourceKind::local:
            return "L['" + name_ + "']";
        case SourceKind::global:
            return "G['" + name_ + "']";
        case SourceKind::attribute:
            return base_->text() + "." + name_;
        case SourceKind::item:
            return base_->text() + "[" + std::to_string(index_) + "]";
        case SourceKind::live:
            return "___live[" + std::to_string(index_) + "]";
        case SourceKind::random:
            return "___random[" + std::to_string(index_) + "]";
        case SourceKind::state:
            return "___" + name_;
        case SourceKind::condition:
            return "(" + name_ + ")";
        case SourceKind::operand:
            return name_;
    }
    return {};
}

std::optional<Source> Source::parse(std::string_view text) {
    const auto inside = [&](std::string_view open, std::string_view close) -> std::optional<std::string_view> {
        if (!text.starts_with(open)) return std::nullopt;
        const std::size_t end = text.find(close, open.size());
        if (end == std::string_view::npos) return std::nullopt;
        const std::string_view found = text.substr(open.size(), end - open.size());
        text.remove_prefix(end + close.size());
        return found;
    };
    std::optional<Source> source;
    if (const auto local_name = inside("L['", "']"))
        source = local(std::string(*local_name));
    else if (const auto global_name = inside("G['", "']"))
        source = global(std::string(*global_name));
    else if (const auto index = inside("___live[", "]"); index && number_of<std::int64_t>(*index))
        source = live(*number_of<std::int64_t>(*index));
    else if (const auto drawn = inside("___random[", "]"); drawn && number_of<std::int64_t>(*drawn))
        source = random(*number_of<std::int64_t>(*drawn));
    while (source && !text.empty()) {
        if (const auto index = inside("[", "]"); index && number_of<std::int64_t>(*index)) {
            source = source->item(*number_of<std::int64_t>(*index));
        } else if (text.starts_with(".")) {
            text.remove_prefix(1);
            const std::size_t end = std::min(text.find_first_of(".["), text.size());
            source = source->attribute(std::string(text.substr(0, end)));
            text.remove_prefix(end);
        } else {
            source.reset();
        }
    }
    return source;
}

std::string Source::placeholder_name() const {
    std::string name;
    for (const char c : text()) {
        const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
        if (plain)
            name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        else if (!name.empty() && name.back() != '_')
            name += '_';
    }
    while (!name.empty() && name.back() == '_') name.pop_back();
    return identifier(name);
}

}  // namespace whittle::capture
