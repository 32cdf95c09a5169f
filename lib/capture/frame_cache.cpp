#include "capture/frame_cache.h"

#include <algorithm>

namespace whittle::capture {
namespace {

/// Whether scalars are all that does not fit.
bool only_scalars(const FrameCache::Entry& entry, const LookUp& at) {
    for (const Guard& guard : entry.guards)
        if (!guard.as<ScalarEqual>() && guard.violated_by(at)) return false;
    return true;
}

/// Of sizes that a guard relates: ", was 8".
std::string sizes_before(const FrameCache::Entry& entry, const Guard& guard) {
    const auto* const condition = guard.as<SizeCondition>();
    if (!condition) return "";
    const auto size = [&](const SizeSymbol& symbol) {
        const auto known = std::ranges::find(entry.symbols, symbol);
        return known == entry.symbols.end() ? std::string("?")
                                            : std::to_string(entry.sizes[std::size_t(known - entry.symbols.begin())]);
    };
    return ", was " + size(condition->left) + (condition->right ? " and " + size(*condition->right) : "");
}

}  // namespace

const Found* FoundInputs::find(const Source& source) const {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        const std::size_t at = next_ + i < entries_.size() ? next_ + i : next_ + i - entries_.size();
        if (!(entries_[at].first == source)) continue;
        next_ = at + 1;
        return &entries_[at].second;
    }
    return nullptr;
}

FrameCache::Lookup FrameCache::look_up(const FoundInputs& inputs, const std::vector<StackFrame>& stack) {
    const auto at = [&](const Source& source) { return inputs.find(source); };
    Lookup result;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        const std::optional<Violation> violation = first_violation(entries_[i].guards, at);
        if (!violation) {
            ++entries_[i].hits;
            Lookup found;
            found.entry = i;
            return found;
        }
        result.failed = *violation->guard;
        result.reason = violation->reason;
        result.reason.found += sizes_before(entries_[i], *violation->guard);
        result.advice = violation->advice;
        if (only_scalars(entries_[i], at)) result.like = i;
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
    for (Entry& entry : entries_) {
        for (SizeSymbol& symbol : entry.symbols)
            if (is_it(symbol.source)) symbol.source = symbol.source.with_root(name);
        for (Guard& guard : entry.dropped) guard = guard.renamed(before, name);
        for (Guard& guard : entry.latent) guard = guard.renamed(before, name);
        for (Guard& guard : entry.guards) guard = guard.renamed(before, name);
    }
    const auto move = [&](auto& table) {
        auto renamed = std::exchange(table, {});
        for (auto& [source, value] : renamed)
            table.emplace(is_it(source) ? source.with_root(name) : source, std::move(value));
    };
    move(seen_);
    move(varying_);
    move(marked_);
}

void FrameCache::mark_dynamic(const Source& source, std::size_t dim, const SizeRange& range) {
    std::vector<bool>& varying = varying_[source];
    if (varying.size() <= dim) varying.resize(dim + 1, dynamic_ == DynamicSizes::always);
    varying[dim] = true;
    std::vector<std::optional<SizeRange>>& marked = marked_[source];
    if (marked.size() <= dim) marked.resize(dim + 1);
    marked[dim] = range;
}

bool FrameCache::is_marked(const Source& source, std::size_t dim) const {
    const auto known = marked_.find(source);
    return known != marked_.end() && dim < known->second.size() && known->second[dim].has_value();
}

void FrameCache::rely_on(std::size_t entry, Guard guard) {
    if (entry >= entries_.size()) return;
    std::vector<Guard>& guards = entries_[entry].guards;
    if (std::ranges::find(guards, guard) == guards.end()) guards.push_back(std::move(guard));
}

void FrameCache::may_rely_on(std::size_t entry, Guard guard) {
    if (entry < entries_.size()) entries_[entry].latent.push_back(std::move(guard));
}

void FrameCache::split(Entry& entry, const FoundInputs& inputs, const Graphs& graphs) {
    if (entries_.size() >= limit_) return;
    Entry own = specialize(inputs, entry.guards.front().stack());  // `entry` may move
    own.graphs = graphs;
    entries_.push_back(std::move(own));
}

std::optional<Violation> FrameCache::refused_size(Entry& entry, const FoundInputs& inputs, const Graphs& graphs,
                                                  bool other) {
    const auto at = [&](const Source& source) { return inputs.find(source); };
    if (graphs.empty()) return std::nullopt;
    auto violation = first_violation(entry.latent, at);
    if (!violation) return std::nullopt;
    if (!other) {
        std::erase_if(entry.latent, [&](const Guard& guard) { return guard.violated_by(at).has_value(); });
        return std::nullopt;
    }
    violation->reason.found += sizes_before(entry, *violation->guard);
    entry.guards.push_back(*violation->guard);
    entry.latent.erase(entry.latent.begin() + (violation->guard - entry.latent.data()));
    violation->guard = nullptr;
    return violation;
}

FrameCache::Outcome FrameCache::ran(const Lookup& lookup, const FoundInputs& inputs, const Graphs& graphs) {
    Outcome outcome;
    const auto at = [&](const Source& source) { return inputs.find(source); };
    Entry& entry = entries_.at(*lookup.entry);
    const bool first = !entry.graphs;
    if (first) entry.graphs = graphs;
    if (!lookup.added) {
        // One of the scalars that did not matter so far makes another graph.
        const bool other = !first && !graphs.empty() && !entry.graphs->empty() && graphs[0] != entry.graphs->front();
        if (auto refused = refused_size(entry, inputs, graphs, other)) {
            outcome.restored = {entry.guards.back()};
            outcome.recompile = std::move(refused);
            split(entry, inputs, graphs);
            outcome.recompile->guard = &outcome.restored.front();
            return outcome;
        }
        if (!other) return outcome;
        const auto violation = first_violation(entry.dropped, at);
        if (!violation) return outcome;
        outcome.restored = std::exchange(entry.dropped, {});
        outcome.recompile = Violation{nullptr, violation->reason, violation->advice};
        for (const Guard& guard : outcome.restored) {
            relied_on_.insert(guard.source());
            if (guard == *violation->guard) outcome.recompile->guard = &guard;
        }
        entry.guards.insert(entry.guards.end(), outcome.restored.begin(), outcome.restored.end());
        split(entry, inputs, graphs);
        return outcome;
    }
    if (!lookup.failed) return outcome;
    if (lookup.like && entries_.at(*lookup.like).graphs == graphs && !graphs.empty()) {
        Entry& known = entries_.at(*lookup.like);
        const auto irrelevant = [&](const Guard& guard) {
            return guard.as<ScalarEqual>() && !relied_on_.contains(guard.source()) && guard.violated_by(at);
        };
        for (const Guard& guard : known.guards)
            if (irrelevant(guard)) outcome.dropped.push_back(guard);
        if (!outcome.dropped.empty()) {
            std::erase_if(known.guards, irrelevant);
            known.dropped.insert(known.dropped.end(), outcome.dropped.begin(), outcome.dropped.end());
            if (*lookup.entry + 1 == entries_.size() && entries_.back().hits == 0) entries_.pop_back();
            return outcome;
        }
    }
    outcome.recompile = Violation{&*lookup.failed, lookup.reason, lookup.advice};
    return outcome;
}

/// A size with a second value is dynamic from now on, as long as the rank stays.
void FrameCache::learn_sizes(const FoundInputs& inputs) {
    for (const auto& [source, found] : inputs) {
        const ValueMeta* meta = std::get_if<ValueMeta>(&found);
        if (!meta) continue;
        const auto [seen, first] = seen_.try_emplace(source, *meta);
        std::vector<bool>& varying = varying_[source];
        varying.resize(meta->sizes.size(), dynamic_ == DynamicSizes::always);
        if (first || dynamic_ != DynamicSizes::automatic || seen->second.sizes.size() != meta->sizes.size()) continue;
        for (std::size_t d = 0; d < meta->sizes.size(); ++d)
            if (seen->second.sizes[d] != meta->sizes[d]) varying[d] = true;
    }
}

FrameCache::Entry FrameCache::specialize(const FoundInputs& inputs, const std::vector<StackFrame>& stack) {
    Entry entry;
    entry.id = next_id_++;
    for (const auto& [source, found] : inputs) {
        if (const ValueMeta* meta = std::get_if<ValueMeta>(&found)) {
            TensorMatch match = TensorMatch::of(*meta);
            const auto varying = varying_.find(source);
            bool dynamic = false;
            for (std::size_t d = 0; varying != varying_.end() && d < match.sizes.size(); ++d)
                if (d < varying->second.size() && varying->second[d] && match.sizes[d] >= 2) {
                    entry.sizes.push_back(std::exchange(match.sizes[d], kDynamicSize));
                    entry.symbols.push_back({"s" + std::to_string(entry.symbols.size()), source, d});
                    match.sizes.symbols.resize(match.sizes.size());
                    match.sizes.symbols[d] = entry.symbols.back().name;
                    dynamic = true;
                }
            if (dynamic) match.strides.clear();  // they follow from the sizes
            entry.guards.emplace_back(source, std::move(match), stack);
        } else if (const auto* same = std::get_if<SameTensor>(&found)) {
            entry.guards.emplace_back(source, *same, stack);
        } else {
            entry.guards.push_back(Guard::scalar(source, std::get<HostValue>(found), stack));
        }
    }
    add_size_guards(entry, stack);
    return entry;
}

void FrameCache::add_size_guards(Entry& entry, const std::vector<StackFrame>& stack) const {
    using Kind = SizeCondition::Kind;
    for (std::size_t i = 0; i < entry.symbols.size(); ++i) {
        const SizeSymbol& symbol = entry.symbols[i];
        const auto add = [&](Kind kind, std::int64_t bound) {
            entry.guards.push_back(Guard::relation({.kind = kind, .left = symbol, .factor = bound}, stack));
        };
        const SizeRange range =
            is_marked(symbol.source, symbol.dim) ? *marked_.at(symbol.source)[symbol.dim] : SizeRange();
        const bool inside = range.holds(entry.sizes[i]);
        add(Kind::above, inside && range.least ? std::max<std::int64_t>(*range.least - 1, 1) : 1);
        if (inside && range.most) add(Kind::at_most, *range.most);
    }
}

}  // namespace whittle::capture
