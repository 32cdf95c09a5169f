#include "capture/source.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "graph/graph.h"

namespace whittle::capture {

Source Source::local(std::string name) { return {SourceKind::local, std::move(name)}; }
Source Source::global(std::string name) { return {SourceKind::global, std::move(name)}; }
Source Source::live(std::int64_t index) { return {SourceKind::live, std::to_string(index)}; }
Source Source::random(std::int64_t index) { return {SourceKind::random, std::to_string(index)}; }
Source Source::state(std::string name) { return {SourceKind::state, std::move(name)}; }
Source Source::attribute(std::string name) const {
    return {SourceKind::attribute, std::move(name), std::make_shared<const Source>(*this)};
}
Source Source::item(std::int64_t index) const {
    return {SourceKind::item, std::to_string(index), std::make_shared<const Source>(*this)};
}

Source Source::with_root(const std::string& name) const {
    if (!base_) return {kind_, name};
    return {kind_, name_, std::make_shared<const Source>(base_->with_root(name))};
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
            return base_->text() + "[" + name_ + "]";
        case SourceKind::live:
            return "___live[" + name_ + "]";
        case SourceKind::random:
            return "___random[" + name_ + "]";
        case SourceKind::state:
            return "___" + name_;
    }
    return {};
}

std::optional<Source> Source::parse(std::string_view text) {
    const auto number = [](std::string_view digits) -> std::optional<std::int64_t> {
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
        return value;
    };
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
    else if (const auto index = inside("___live[", "]"); index && number(*index))
        source = live(*number(*index));
    else if (const auto drawn = inside("___random[", "]"); drawn && number(*drawn))
        source = random(*number(*drawn));
    while (source && !text.empty()) {
        if (const auto index = inside("[", "]"); index && number(*index)) {
            source = source->item(*number(*index));
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
