// PieceGraphs: the pieces of one frame as graphs that only compute: writes to memory are told as new values, and what
// the graph's inputs and parameters hold afterwards.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "capture/naming.h"
#include "capture/output_graph.h"
#include "frontends/libtorch/cutter.h"
#include "frontends/libtorch/elements.h"
#include "passes/functionalize.h"

namespace whittle::libtorch {

/// The step at which a piece stops being a graph, and why.
struct Refusal {
    std::int32_t step = 0;
    std::string reason;
};

class PieceGraphs {
  public:
    PieceGraphs(const Recording& recording, const Cutter& cutter, const Elements& elements, const FrameSteps& frame)
        : recording_(recording), cutter_(cutter), elements_(elements), frame_(frame) {}

    /// In the order of the frame's pieces. Nothing for a piece without results, and for one with a write that no
    /// functional op can tell, which then is the refusal.
    std::optional<capture::CapturedGraph> build(const Piece& piece, std::optional<Refusal>& refusal);

  private:
    struct Building;

    /// One output of a graph: where LibTorch had it, and when.
    struct Output {
        ValueId value;
        std::uint64_t order = 0;  ///< 0: when the value was made
    };

    void add_call(std::int32_t index, Building& to);
    NodeRef node_of(ValueId id, std::int32_t reader, Building& to);
    ValueMeta input_meta(ValueId id, std::int32_t reader) const;
    NodeRef view_of(ValueId base, ValueId id, std::int32_t reader, Building& to);
    std::uint64_t read_at(ValueId id, const Piece& piece) const;
    std::vector<Output> live_after(const Piece& piece);
    bool is_told_later(ValueId id, std::int32_t writer) const;
    bool is_wanted(ValueId id, const Piece& piece) const;
    std::optional<std::uint64_t> returned() const;
    bool is_alive(ValueId id) const;
    bool outlives_frame(ValueId id) const;
    std::map<ValueId, std::int32_t> last_writes(const Piece& piece) const;
    bool is_computed(ValueId id, const Piece& piece) const;
    void functionalize(capture::CapturedGraph& captured, const Building& from, std::vector<Output>& outputs) const;
    Refusal refusal_of(const FunctionalizeError& error, const Graph& graph, const Building& from) const;
    static capture::TensorKey key_of(ValueId id) { return static_cast<capture::TensorKey>(id) + 1; }
    const capture::Source& source_of(ValueId id);
    capture::Origin origin_of(ValueId id) const;
    std::optional<Tensor> tensor_of(const Output& output) const;
    std::string unrecorded(const Output& output) const;
    void fill_values(capture::CapturedGraph& captured, const Building& from, const std::vector<Output>& outputs) const;

    std::string module_path(std::int32_t index) const;

    const Recording& recording_;
    const Cutter& cutter_;
    const Elements& elements_;
    const FrameSteps& frame_;
    capture::Naming naming_;
    std::map<std::int32_t, std::string> node_names_;  ///< per step, in the graph of its piece
};

}  // namespace whittle::libtorch
