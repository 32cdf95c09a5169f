// steps_of(): what the program did, as a list for each thread: the ops of one level, and what may break a graph.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "frontends/libtorch/reader.h"

namespace whittle::libtorch {

enum class Level {
    api,   ///< ops as the program calls them, where Whittle knows them so
    core,  ///< where those are composite, the ops that they are made of
};

/// compiled: code that torch.compile or TorchScript made, whose operations are not known.
enum class StepKind { op, print, io, data_pointer, blob, compiled };

/// An op, or another thing that happened between ops. Pointers are into the EventFile.
struct Step {
    StepKind kind = StepKind::op;
    const Event* begin = nullptr;
    const Event* end = nullptr;  ///< of an op; null when the program ended inside it
    const OpName* op = nullptr;
    std::uint32_t thread = 0, stack = 0;
    bool backward = false;  ///< autograd ran it
    /// An allocation whose contents do not matter: the next op that has the memory writes a number into all of it.
    bool blank = false;
    bool unwritten = false;         ///< a resize_() of memory that nothing was written to
    const Event* raised = nullptr;  ///< an exception of the program's, behind it
    const Event* node = nullptr;  ///< of a backward op: autograd's node, whose sequence number the forward op had, too

    std::uint64_t order() const { return begin->order; }
    std::int64_t times() const { return begin->times; }
    bool threw() const;
};

/// Does the schema say that it writes to an argument?
bool writes_argument(const OpName& op);

/// Which of an op's tensor results are defined: gradients that nobody asked for are not, but they count.
struct ResultNumbers {
    std::vector<std::size_t> defined;  ///< ascending
    std::size_t count = 0;             ///< with the undefined ones
};
ResultNumbers result_numbers(const Event& end);

/// How many of its last arguments it writes, where those are all that it writes: 1 of "add.out(Tensor self, …,
/// Tensor(a!) out)", 2 of "sort.values(Tensor self, …, Tensor(a!) values, Tensor(b!) indices)". 0: its first, or none.
std::size_t written_outs(const OpName& op);
/// Of what an op that writes is given, values or their tensors, what it writes.
template <class T>
std::span<const T> written_among(const OpName& op, const std::vector<T>& given) {
    const std::size_t outs = written_outs(op);
    return outs ? std::span(given).last(std::min(outs, given.size()))
                : std::span(given).first(std::min<std::size_t>(given.size(), 1));
}

/// It wrote to the memory of its first argument, or of all its `out`. Not so t_(), unsqueeze_() and the like, which
/// change how a tensor shows its memory, nor where an `out` was given other sizes: then its memory is as good as new.
bool writes_memory(const Step& step);

/// Per step: the op whose gradient a backward op computes, or -1. Autograd numbers its nodes, and an op begins with the
/// number that its node gets: of several, one inside the other, the last has it.
std::vector<std::int32_t> forward_ops(const EventFile& file, const std::vector<Step>& steps);
/// Per step, for the forward_ops() `forward`: it is of a backward pass through what an earlier pass recorded for that
/// (create_graph). Its node is of an op of that pass, or of one whose gradient that pass computed, too.
std::vector<bool> through_backward(const EventFile& file, const std::vector<Step>& steps,
                                   const std::vector<std::int32_t>& forward);

/// In the order in which they began, threads mixed.
std::vector<Step> steps_of(const EventFile& file, Level level);

}  // namespace whittle::libtorch
