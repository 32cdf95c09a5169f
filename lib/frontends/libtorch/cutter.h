// Cutter: the steps of a frame, cut into the pieces that become graphs. What cannot be in a graph is a break.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/graph_break.h"
#include "frontends/libtorch/bind.h"
#include "frontends/libtorch/recording.h"

namespace whittle::libtorch {

/// A run of ops of a frame that become one graph.
struct Piece {
    std::int32_t number = 0;          ///< unique in the recording
    std::vector<std::int32_t> steps;  ///< ascending
    std::optional<capture::GraphBreak> ended_by;
    std::int32_t pass = 0;     ///< of the frame's backward passes: from 1 up; 0: it is of none
    std::string partial = {};  ///< see CapturedGraph::partial
};

/// A frame cut into pieces.
struct FramePlan {
    const FrameSteps* steps = nullptr;
    std::vector<Piece> pieces;
    std::vector<capture::GraphBreak> breaks;
};

class Cutter {
  public:
    /// `dynamic_shapes`: ops whose results' sizes are data (nonzero) break no piece, where they are known.
    explicit Cutter(const Recording& recording, bool dynamic_shapes = false);

    FramePlan plan(const FrameSteps& frame);
    /// The op writes to a tensor that is a view of a larger one.
    bool writes_part(std::int32_t step) const;
    /// From the next plan on the step is a break: its write cannot be told without one.
    void refuse(std::int32_t step, std::string reason) { refused_[step] = std::move(reason); }
    /// From the next plan on a piece ends before the step.
    void end_before(std::int32_t step, capture::GraphBreak why) { ends_.emplace(step, std::move(why)); }

    /// Is the step in the piece?
    bool contains(std::int32_t piece, std::int32_t step) const { return step >= 0 && piece_of(step) == piece; }
    /// The number of the piece that has the step, of the last plan of its frame; -1: none has.
    std::int32_t piece_of(std::int32_t step) const { return piece_of_[static_cast<std::size_t>(step)]; }
    /// The step was a break of the last plan of its frame.
    bool is_break(std::int32_t step) const { return broken_.contains(step); }
    /// The value whose memory this one shows, among the values of a piece: itself when no step of the piece made it
    /// out of another one.
    ValueId root(ValueId id, std::int32_t piece) const;
    /// Of a value from outside the piece, in memory that the piece reads through several tensors and writes to: the one
    /// that shows all of it. The others are views of it. -1: there is none.
    ValueId base(ValueId id, std::int32_t piece) const;
    /// The value is what a write of the piece left in memory that the piece knows to be shared.
    bool shows_write(ValueId id, std::int32_t piece) const;

  private:
    struct Cut;
    void drop_late_hints(FramePlan& plan, std::int64_t last) const;
    bool has_others_like(const FrameSteps& frame) const;
    bool prepare(std::int32_t index, std::optional<capture::GraphBreak>& why) const;
    std::string disagreement(std::int32_t index, const Graph& operands, const BoundCall& bound) const;
    std::optional<capture::GraphBreak> backward_break(std::int32_t index, std::vector<StackFrame>& pass,
                                                      bool within) const;
    std::optional<capture::GraphBreak> write_break(std::int32_t index, const Piece& piece);
    bool find_base(std::int32_t index, const Piece& piece, std::int32_t writer, ValueId read);
    bool is_whole_version(ValueId id, std::int32_t writer) const;
    std::optional<capture::GraphBreak> unseen_write_break(std::int32_t index) const;
    bool shows_argument(const Step& step) const;
    bool is_present(ValueId id, std::int32_t piece) const;
    std::int32_t last_foreign(std::int32_t index) const;
    std::int32_t first_foreign_use(std::int32_t index) const;
    bool is_foreign(std::int32_t step, std::int32_t index) const {
        return recording_.step(step).thread != recording_.step(index).thread;
    }
    bool others_between(const FrameSteps& frame, std::int32_t from, std::int32_t to) const;

    const Recording& recording_;
    const bool dynamic_shapes_;
    std::vector<std::int32_t> piece_of_;  ///< per step: the number of its piece, or -1
    std::set<std::int32_t> broken_;       ///< steps
    std::map<std::int32_t, std::string> refused_;
    std::map<std::int32_t, capture::GraphBreak> ends_;
    std::unordered_map<std::uint64_t, std::vector<ValueId>> of_storage_;  ///< values there
    std::map<std::pair<std::int32_t, std::uint64_t>, ValueId> bases_;     ///< by piece and storage
    std::int32_t next_piece_ = 0;
};

}  // namespace whittle::libtorch
