// steps_of(): what the program did, as a list for each thread: the ops of one level, and what may break a graph.
#pragma once

#include <string>
#include <vector>

#include "frontends/libtorch/reader.h"

namespace whittle::libtorch {

enum class Level {
    api,   ///< ops as the program calls them
    core,  ///< where those are composite, the ops that they are made of
};

enum class StepKind { op, backward, print, io, data_pointer, blob };

/// An op, or another thing that happened between ops. Pointers are into the EventFile.
struct Step {
    StepKind kind = StepKind::op;
    const Event* begin = nullptr;
    const Event* end = nullptr;  ///< of an op; null when the program ended inside it
    const OpName* op = nullptr;
    std::uint32_t thread = 0, stack = 0;
    std::int64_t backward_ops = 0;            ///< backward: how many ops autograd ran
    std::vector<std::uint64_t> written = {};  ///< backward: storages that those wrote to, gradients for example

    std::uint64_t order() const { return begin->order; }
    bool threw() const;
};

/// Does the schema say that it writes to an argument?
bool writes_argument(const OpName& op);

/// It wrote to the memory of its first argument. Not so t_(), unsqueeze_() and the like, which change how a tensor
/// shows its memory.
bool writes_memory(const Step& step);

/// The storages that an op wrote to; none for a functional one.
std::vector<std::uint64_t> written_storages(const OpName& op, const Event& end);

/// In the order in which they began, threads mixed.
std::vector<Step> steps_of(const EventFile& file, Level level);

}  // namespace whittle::libtorch
