#include "capture/frame_cache.h"

namespace whittle::capture {

namespace {

Found found_at(const FoundInputs& inputs, const Source& source) {
    for (const auto& [known, found] : inputs)
        if (known == source) return found;
    return std::monostate{};
}

}  // namespace

FrameCache::Lookup FrameCache::look_up(const FoundInputs& inputs, const std::vector<StackFrame>& stack) {
    const auto at = [&](const Source& source) { return found_at(inputs, source); };
    Lookup result;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        const std::optional<Violation> violation = first_violation(entries_[i].guards, at);
        if (!violation) {
            ++entries_[i].hits;
            result.failed.reset();
            result.reason.clear();
            result.entry = i;
            return result;
        }
        result.failed = *violation->guard;
        result.reason = violation->reason;
    }
    if (entries_.size() >= limit_) return result;
    learn_sizes(inputs);
    entries_.push_back(specialize(inputs, stack));
    result.entry = entries_.size() - 1;
    result.added = true;
    return result;
}

void FrameCache::rename(const std::string& before, const std::string& name) {
    const auto is_it = [&](const Source& source) {
        return source.root().kind() == SourceKind::local && source.root().name() == before;
    };
    for (Entry& entry : entries_)
        for (Guard& guard : entry.guards) {
            if (!is_it(guard.source)) continue;
            const std::string text = guard.source.text();
            guard.source = guard.source.with_root(name);
            const auto move = [&](auto& table) {
                if (auto found = table.extract(text)) {
                    found.key() = guard.source.text();
                    table.insert(std::move(found));
                }
            };
            move(seen_);
            move(varying_);
        }
}

/// A size with a second value is dynamic from now on, as long as the rank stays.
void FrameCache::learn_sizes(const FoundInputs& inputs) {
    for (const auto& [source, found] : inputs) {
        const ValueMeta* meta = std::get_if<ValueMeta>(&found);
        if (!meta) continue;
        const auto [seen, first] = seen_.try_emplace(source.text(), *meta);
        std::vector<bool>& varying = varying_[source.text()];
        varying.resize(meta->sizes.size(), dynamic_ == DynamicSizes::always);
        if (first || dynamic_ != DynamicSizes::automatic || seen->second.sizes.size() != meta->sizes.size()) continue;
        for (std::size_t d = 0; d < meta->sizes.size(); ++d)
            if (seen->second.sizes[d] != meta->sizes[d]) varying[d] = true;
    }
}

FrameCache::Entry FrameCache::specialize(const FoundInputs& inputs, const std::vector<StackFrame>& stack) const {
    Entry entry;
    for (const auto& [source, found] : inputs) {
        if (const ValueMeta* meta = std::get_if<ValueMeta>(&found)) {
            Guard guard = Guard::tensor(source, *meta, stack);
            auto& match = std::get<TensorMatch>(guard.expected);
            const auto varying = varying_.find(source.text());
            bool dynamic = false;
            for (std::size_t d = 0; varying != varying_.end() && d < match.sizes.size(); ++d)
                if (varying->second[d] && match.sizes[d] >= 2) {
                    match.sizes[d] = kDynamicSize;
                    dynamic = true;
                }
            if (dynamic) match.strides.clear();  // they follow from the sizes
            entry.guards.push_back(std::move(guard));
        } else if (const HostValue* value = std::get_if<HostValue>(&found)) {
            if (source.kind() == SourceKind::state) {
                Guard guard = Guard::state(source.name(), *value);
                guard.stack = stack;
                entry.guards.push_back(std::move(guard));
            } else {
                entry.guards.push_back(Guard::scalar(source, *value, stack));
            }
        }
    }
    return entry;
}

}  // namespace whittle::capture
