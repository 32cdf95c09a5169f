// PieceGraphs: the pieces of one frame, issued to capture::Builder step by step, as graphs that only compute: writes to
// memory are told as new values, and what the graph's inputs and parameters hold afterwards.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "capture/builder.h"
#include "frontends/libtorch/cutter.h"
#include "frontends/libtorch/elements.h"
#include "frontends/libtorch/liveness.h"
#include "frontends/libtorch/wanted_results.h"
#include "passes/functionalize.h"

namespace whittle::libtorch {

/// The step at which a piece stops being a graph, and why: a write that no graph can tell, which is a break; or one
/// that the graph has to end before.
struct Refusal {
    std::int32_t step = 0;
    std::variant<std::string, capture::GraphBreak> why;
};

class PieceGraphs {
  public:
    PieceGraphs(const Recording& recording, const Cutter& cutter, const Elements& elements, const FrameSteps& frame,
                WantedResults& wanted)
        : recording_(recording),
          cutter_(cutter),
          elements_(elements),
          frame_(frame),
          wanted_(wanted),
          liveness_(recording, cutter, frame) {}

    /// Before the first graph of any frame is built.
    void find_wanted(const Piece& piece);

    /// In the order of the frame's pieces. Nothing for a piece without results, and for one that is no graph, which
    /// then is the refusal.
    std::optional<capture::CapturedGraph> build(const Piece& piece, std::optional<Refusal>& refusal);

  private:
    /// A value that the graph has or reads. Where its tensor changed since, it is what the program had first.
    struct Known {
        ValueId value = -1;
        ValueMeta meta = {};
        NodeRef node = {};  ///< of a value that the graph computes, which lies at `place`
        capture::Place place = {};
        std::optional<Tensor> elements = {};  ///< of a parameter
    };
    using Inputs = std::unordered_map<capture::Source, ValueId>;

    /// One output of a graph: where LibTorch had it, and when.
    struct Output {
        ValueId value;
        std::uint64_t order = 0;  ///< 0: when the value was made
    };

    std::optional<capture::GraphBreak> add_call(std::int32_t index);
    std::variant<capture::Placed, capture::GraphBreak> write_outs(std::int32_t index, Node call,
                                                                  std::vector<NodeRef>& made,
                                                                  std::vector<NodeRef>& writers,
                                                                  std::vector<ValueId>& operands);
    void copy_written(std::int32_t index, const std::vector<ValueId>& values, std::vector<capture::Operand>& operands);
    void add_numbers(std::int32_t index, const std::string& call);
    void add_result(ValueId id, NodeRef node, const std::vector<ValueId>& operands);
    capture::Operand operand_of(ValueId id, std::int32_t reader);
    Known known(ValueId id, std::int32_t reader);
    ValueMeta input_meta(ValueId id, std::int32_t reader) const;
    Known view_of(ValueId base, ValueId id, std::int32_t reader);
    std::uint64_t read_at(ValueId id) const;
    std::vector<Output> live_after(const Writes& writes);
    bool is_update(ValueId input, const Writes& writes) const;
    bool is_wanted_elsewhere(ValueId id) const;
    bool is_computed(ValueId id) const { return cutter_.contains(piece_->number, recording_.value(id).step); }
    Refusal refusal_of(const FunctionalizeError& error, const Graph& graph) const;
    Refusal contradiction() const;
    static capture::TensorKey key_of(ValueId id) { return static_cast<capture::TensorKey>(id) + 1; }
    const capture::Source& source_of(ValueId id);
    capture::Origin origin_of(ValueId id) const;
    Inputs inputs(const Writes& writes) const;
    std::optional<Tensor> tensor_of(const Output& output) const;
    std::string unrecorded(const Output& output) const;
    void fill_values(capture::CapturedGraph& captured, const Inputs& inputs, const std::vector<Output>& outputs) const;

    std::string module_path(std::int32_t index) const;
    std::vector<std::int64_t> differentiated() const;
    std::set<std::string> partly_differentiated() const;

    const Recording& recording_;
    const Cutter& cutter_;
    const Elements& elements_;
    const FrameSteps& frame_;
    WantedResults& wanted_;
    Liveness liveness_;
    const WantedResults::Results* wanted_elsewhere_ = nullptr;  ///< of pieces equal to the one at hand
    capture::Naming naming_;                                    ///< of the whole frame
    std::map<std::int32_t, std::string> node_names_;            ///< per step, in the graph of its piece

    // The graph that is built, as the program had it, with writes.
    const Piece* piece_ = nullptr;
    capture::Builder builder_{""};
    std::map<ValueId, Known> known_;
    std::map<std::string, std::int32_t> write_calls_;  ///< steps by the name of the call that writes
    std::set<std::string> library_calls_;              ///< CapturedGraph::library_calls
    std::vector<capture::NamedNumber> named_numbers_;  ///< CapturedGraph::named_numbers
};

}  // namespace whittle::libtorch
