#include "frontends/libtorch/repeats.h"

#include <algorithm>

namespace whittle::libtorch {

namespace {
constexpr std::size_t kIterationsAtEnd = 2;
constexpr std::size_t kNowhere = ~std::size_t{0};
}  // namespace

void RepeatFolder::add(std::uint64_t at, std::uint64_t hash) {
    const std::size_t position = kept_.size();
    if (period_ && kept_[position - period_].hash == hash) {
        ++matched_;
    } else {
        const std::size_t before = latest_like(hash);
        period_ = before == kNowhere ? 0 : position - before;
        matched_ = period_ ? 1 : 0;
        folding_ = false;
    }
    kept_.push_back({at, hash});
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

bool RepeatFolder::is_loop() const {
    if (!period_) return false;
    if (matched_ >= std::max(limits_.least_iterations * period_, limits_.least_records)) return true;
    return matched_ == limits_.known_iterations * period_ && known_.contains(body());
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
}

Sightings::Sighting& Sightings::operator[](std::uint64_t number) {
    if (number >= kMost) return nowhere_ = {};
    const auto page = static_cast<std::size_t>(number / kPage);
    if (page >= pages_.size()) pages_.resize(std::max(page + 1, 2 * pages_.size()));
    if (!pages_[page]) pages_[page] = std::make_unique<std::array<Sighting, kPage>>();
    return (*pages_[page])[number % kPage];
}

}  // namespace whittle::libtorch
