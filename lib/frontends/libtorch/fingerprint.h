// Fingerprints: what the records of one thread say, as hashes that are equal for records that are alike
// (see RepeatFolder).
#pragma once

#include <cstdint>
#include <functional>

#include "frontends/libtorch/cursor.h"
#include "frontends/libtorch/events.h"
#include "frontends/libtorch/repeats.h"

namespace whittle::libtorch {

class Fingerprints {
  public:
    /// `writes`: whether the op of that number writes to an argument.
    explicit Fingerprints(std::function<bool(std::uint32_t)> writes) : writes_(std::move(writes)) {}

    /// Of the next record of the thread; `in` stands behind its header. Throws Error for a damaged one.
    std::uint64_t of(RecordKind kind, Cursor& in);

  private:
    void op_begin(Cursor& in);
    void values(Cursor& in);
    void value(Cursor& in, int depth = 0);
    void tensor(Cursor& in);
    void text(Cursor& in);
    void mix(std::uint64_t value);
    /// How long ago it was met, in ops; 0: never.
    std::uint64_t met(Sightings::Sighting& sighting) const { return sighting.when ? ops_ + 1 - sighting.when : 0; }

    std::function<bool(std::uint32_t)> writes_;
    Sightings tensors_, storages_;
    std::uint64_t hash_ = 0, ops_ = 1;
    std::int64_t sequence_ = 0;  ///< autograd's last
    bool places_ = false;        ///< where in memory tensors lie counts: they are written to
};

}  // namespace whittle::libtorch
