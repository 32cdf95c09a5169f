// Liveness: which values of a piece the program still has or reads once the piece has run: the outputs of its graph.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "frontends/libtorch/cutter.h"

namespace whittle::libtorch {

/// Per value whose memory a piece wrote to: the last step that did.
using Writes = std::map<ValueId, std::int32_t>;

class Liveness {
  public:
    Liveness(const Recording& recording, const Cutter& cutter, const FrameSteps& frame)
        : recording_(recording), cutter_(cutter), frame_(frame) {}

    /// The piece that the other functions are about; it stays where it is.
    void begin(const Piece& piece);

    Writes last_writes() const;
    /// A later step reads the value, or it outlives the frame. Where it is not known what was released, what nobody
    /// reads may be its result; of several results of an op those that are not read are by-products then, such
    /// as the statistics of batch norm. What nobody wrote in part is none: no graph computes it again. Where releases
    /// tell that nothing outlives the frame, the graph has what nobody reads all the same: it would compute nothing.
    bool is_wanted(ValueId id) const;
    /// The same of what `writer`, the last step that wrote there, left in memory that the frame made itself, and that
    /// its graph was given: the mask of a dropout is read within the graph only.
    bool is_wanted_after(ValueId memory, std::int32_t writer) const;
    /// The program can have the value's tensor, computed by the piece, as it lies there, with what was written since.
    bool may_be_held(ValueId id) const;
    /// The value lost its elements to a write through another tensor, and what its own showed then is a value of its
    /// own.
    bool is_told_later(ValueId id, std::int32_t writer) const;

  private:
    std::optional<ReturnTime> returned() const;
    bool is_alive(ValueId id) const;
    bool outlives_frame(ValueId id) const;
    bool may_be_kept_for(ValueId id, ValueId made) const;
    bool may_be_by_product(ValueId id) const;
    bool is_changed_later(ValueId id) const;
    bool needs_elements(std::int32_t use) const;
    bool is_read(ValueId id) const;
    bool is_read_through_another(ValueId id) const;
    bool is_assigned_part(ValueId id) const;

    const Recording& recording_;
    const Cutter& cutter_;
    const FrameSteps& frame_;
    const Piece* piece_ = nullptr;
    bool drops_all_ = false;  ///< the frame keeps nothing that the piece computes
};

}  // namespace whittle::libtorch
