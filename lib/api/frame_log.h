// What a frame did, event by event, for its frame record: kept where the host wants it, written when capture is over.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "capture/output_graph.h"
#include "trace/frame_record.h"

namespace whittle::api {

class FrameLog {
  public:
    /// `keeps`: somebody wants the events; else only the last failure is known.
    FrameLog(std::string frame, bool keeps) : frame_(std::move(frame)), keeps_(keeps) {}

    bool keeps() const { return keeps_; }
    /// The call, of nodes of the graph, could not be recorded; its place is asked for only where it is kept.
    template <class Stack>
    void note_failure(const capture::OutputGraph& graph, Node call, const std::exception& error, const Stack& stack) {
        last_failure_ = {call.target, error.what()};
        if (!keeps_) return;
        call.name = "failed";
        call.stack = stack();
        failed_.push_back({graph.graph().nodes.size(), std::move(call), error.what()});
    }
    /// What was issued since the last segment, and what capture makes of it. Once per graph. `inputs`: one per
    /// placeholder.
    void note_segment(const capture::OutputGraph& graph, const std::vector<whittle::Tensor>& inputs,
                      const std::vector<NodeRef>& live, const std::optional<capture::GraphBreak>& why, bool keeps_all);
    void note_outputs(const std::vector<whittle::Tensor>& outputs);
    /// Another graph begins.
    void begin_graph();

    /// The op that threw what is known by these words.
    std::optional<std::string> op_that_threw(const std::string& what) const;
    std::vector<FrameSegment> take() { return std::exchange(segments_, {}); }

  private:
    std::string frame_;
    bool keeps_, noted_ = false;
    std::size_t bytes_ = 0;
    std::vector<FrameSegment> segments_;
    std::vector<FailedCall> failed_;                                   ///< since the last segment
    std::optional<std::pair<std::string, std::string>> last_failure_;  ///< an op that threw, and what
};

}  // namespace whittle::api
