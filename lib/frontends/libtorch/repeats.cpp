#include "frontends/libtorch/repeats.h"

#include <algorithm>

namespace whittle::libtorch {
namespace {
constexpr std::size_t kIterationsAtEnd = 2;
constexpr std::size_t kNowhere = ~std::size_t{0};
}  // namespace

void RepeatFolder::add(std::uint64_t at, std::uint64_t hash, bool looks) {
    const std::size_t position = kept_.size();
    const std::uint32_t others = kept_.empty() ? 0 : kept_.back().between_before + kept_.back().between;
    const bool as_expected = period_ != 0 && follows(hash);
    const bool between = !as_expected && looks && period_ != 0 && matched_ >= limits_.known_iterations * period_;
    if (as_expected) {
        ++matched_;
        ++in_a_row_;
        ++expected_;
    } else {
        folding_ = false;
        in_a_row_ = 0;
    }
    if (!as_expected && !between) {
        const std::size_t before = latest_like(hash);
        period_ = before == kNowhere ? 0 : position - before - (others - kept_[before].between_before);
        expected_ = before + 1;
        matched_ = in_a_row_ = period_ ? 1 : 0;
    }
    kept_.push_back({.at = at, .hash = hash, .between = between, .between_before = others});
    latest_[hash % kLatest] = position;
    if (!folding_ && is_loop()) {
        folding_ = true;
        from_ = kept_.size();
        known_.insert(body());
    }
    if (folding_ && kept_.size() == from_ + (kIterationsAtEnd + 1) * period_) leave_out();
}

/// kNowhere: there is none, or it is forgotten.
std::size_t RepeatFolder::latest_like(std::uint64_t hash) const {
    const std::size_t position = latest_[hash % kLatest];
    return position < kept_.size() && kept_[position].hash == hash ? position : kNowhere;
}

bool RepeatFolder::follows(std::uint64_t hash) {
    while (expected_ < kept_.size() && kept_[expected_].between) ++expected_;
    return expected_ < kept_.size() && kept_[expected_].hash == hash;
}

/// With some iterations in a row, for those that are left out are told by them.
bool RepeatFolder::is_loop() const {
    if (!period_ || in_a_row_ < limits_.known_iterations * period_) return false;
    if (matched_ >= std::max(limits_.least_iterations * period_, limits_.least_records)) return true;
    return in_a_row_ == limits_.known_iterations * period_ && known_.contains(body());
}

/// Of the last period, wherever it begins.
std::uint64_t RepeatFolder::body() const {
    std::uint64_t sum = period_;
    for (std::size_t i = kept_.size() - period_; i < kept_.size(); ++i) sum += kept_[i].hash * (kept_[i].hash | 1u);
    return sum;
}

void RepeatFolder::leave_out() {
    const auto gone = kept_.begin() + static_cast<std::ptrdiff_t>(from_);
    const auto end = gone + static_cast<std::ptrdiff_t>(period_);
    auto counts = gone - 2 * static_cast<std::ptrdiff_t>(period_);
    for (auto record = gone; record != end; ++record, ++counts) counts->times += record->times;
    end->after_gap = true;
    kept_.erase(gone, end);
    expected_ -= period_;
}

Sightings::Sighting& Sightings::operator[](std::uint64_t number) {
    if (number >= kMost) return nowhere_ = {};
    const auto page = static_cast<std::size_t>(number / kPage);
    if (page >= pages_.size()) pages_.resize(std::max(page + 1, 2 * pages_.size()));
    if (!pages_[page]) pages_[page] = std::make_unique<std::array<Sighting, kPage>>();
    return (*pages_[page])[number % kPage];
}

}  // namespace whittle::libtorch
