#include "capture/source.h"

#include <algorithm>
#include <cctype>

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
