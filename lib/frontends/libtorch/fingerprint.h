// Fingerprints: what the records of one thread say, as hashes that are equal for records that are alike
// (see RepeatFolder). An op that gives the program a value leaves no mark: what comes behind it is alike with and
// without.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "frontends/libtorch/cursor.h"
#include "frontends/libtorch/reader.h"

namespace whittle::libtorch {

class Fingerprints {
  public:
    /// What is known of the op of that number; null: nothing.
    using FindOp = std::function<const OpName*(std::uint32_t)>;
    explicit Fingerprints(FindOp op) : find_op_(std::move(op)) {}

    /// Of the next record of the thread; `in` stands behind its header. Throws Error for a damaged one.
    std::uint64_t of(RecordKind kind, Cursor& in);
    /// The last one looked at values, and computed none.
    bool looks() const { return looks_; }

  private:
    void op_begin(Cursor& in);
    void values(Cursor& in);
    void value(Cursor& in, int depth = 0);
    void tensor(Cursor& in);
    void text(Cursor& in);
    void text(std::string_view text);
    void mix(std::uint64_t value);
    /// All of them, of a record that says nothing but what is alike.
    template <class R>
    void mix_members(const R& record);
    /// How long ago it was met, in ops; 0: never.
    std::uint64_t met(Sightings::Sighting& sighting) const { return sighting.when ? ops_ + 1 - sighting.when : 0; }

    FindOp find_op_;
    Sightings tensors_, storages_;
    std::uint64_t hash_ = 0, ops_ = 1;
    std::int64_t sequence_ = 0;  ///< autograd's last
    bool places_ = false;        ///< where in memory tensors lie counts: they are written to
    bool looks_ = false;
};

}  // namespace whittle::libtorch
