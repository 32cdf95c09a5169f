// Tapes: what a frame issued while a graph was recorded, operation by operation. A later execution that issues the same
// takes the graph, the metas of its values and the compiled code from here: nothing is inferred, named or built again.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/frame_host.h"
#include "api/impl.h"
#include "capture/builder.h"

namespace whittle::api {

/// One operation as it was issued, and what came of it.
struct TapeStep {
    Node call = {};               ///< target, arguments, module path; NodeRefs are positions in `operands`
    std::string functional = {};  ///< of a write: the target that computes what is written
    bool grad_enabled = true;

    struct Operand {
        NodeId node = 0;
        bool requires_grad = false;
        bool operator==(const Operand&) const = default;
    };
    std::vector<Operand> operands = {};
    std::vector<capture::Placed::Result> results = {};  ///< none of a write
    NodeRef made = {};                                  ///< as capture::Placed::call
    NodeId nodes = 0;                                   ///< of the graph, before this step's own inputs

    bool operator==(const TapeStep&) const = default;
};

/// An input of the graph: a parameter with its qualified name, or what has a source.
struct TapeInput {
    NodeId node = 0;
    std::string parameter = {};
    std::optional<capture::Source> source = {};
    ValueMeta meta = {};
    bool operator==(const TapeInput&) const = default;
};

struct Tape {
    std::vector<TapeStep> steps = {};
    std::vector<TapeInput> inputs = {};            ///< in the order in which they were first read
    Graph graph = {};                              ///< as recorded, before it was finished
    std::vector<NodeRef> live = {};                ///< what the program still held at the end
    Recorded recorded = {};                        ///< the finished graph
    std::vector<std::size_t> placeholders = {};    ///< of the finished graph, as positions in `inputs`
    std::vector<std::size_t> parameters = {};      ///< its get_attrs
    std::shared_ptr<CompiledGraph> compiled = {};  ///< once it has run
};

/// Where a frame is on the tapes of one graph, and what it adds to them. While it issues what a tape holds, nothing is
/// built: the builder knows the inputs, their names and the memory, but its graph is empty.
class TapeReader {
  public:
    /// `inputs`: those of the builder, in its order.
    TapeReader(capture::Builder& builder, std::vector<ImplPtr>& inputs) : builder_(builder), inputs_(inputs) {}

    /// Another graph, of which earlier executions left these.
    void begin(std::vector<std::shared_ptr<const Tape>> tapes);
    /// What was issued so far is on this tape; null: on none.
    const std::shared_ptr<const Tape>& tape() const { return at_.tape; }
    bool at_begin() const { return at_.cursor == 0; }
    bool next_is(const std::string& target) const;

    /// The step of the tape, or of another one that began alike, that is this call; takes its new inputs. Null: none.
    const TapeStep* match(const Node& call, const std::string& functional, const std::vector<ImplPtr>& operands);
    /// It was issued.
    void advance();
    /// Whether what was issued is all of the tape, or of another one that began alike, with these values left.
    bool match_end(const std::vector<NodeRef>& live);
    /// Builds what was matched: from here on the frame does something new.
    void leave();

    /// Of no tape: what the builder's graph is made of.
    void add(TapeStep step) { steps_.push_back(std::move(step)); }
    const std::vector<TapeStep>& steps() const { return steps_; }
    std::vector<TapeStep> take_steps() { return std::exchange(steps_, {}); }

    struct Position {
        std::shared_ptr<const Tape> tape = {};
        std::size_t cursor = 0;  ///< in its steps
        NodeId taken = 0;        ///< so many of its nodes have been issued
        std::size_t steps = 0;   ///< beside it
    };
    Position position() const;
    void roll_back(const Position& to);

  private:
    bool fits(const TapeStep& step, const Node& call, const std::string& functional,
              const std::vector<ImplPtr>& operands);
    bool take_input(const ImplPtr& operand, NodeId node);
    bool began_alike(const Tape& other) const;
    const TapeStep* next() const;

    capture::Builder& builder_;
    std::vector<ImplPtr>& inputs_;
    std::vector<std::shared_ptr<const Tape>> tapes_;
    Position at_;
    std::vector<TapeStep> steps_;
};

/// The identity of a tensor's memory.
inline capture::StorageKey storage_key(const whittle::Tensor& tensor) {
    return reinterpret_cast<capture::StorageKey>(tensor.storage().get());
}

}  // namespace whittle::api
