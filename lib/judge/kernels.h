// The kernels of a compilation, each judged alone and as compiled, on the operands that the reference computes. Nothing
// is taken apart, so that the code that is judged is the code that fails.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/memory_file.h"
#include "compile/observer.h"
#include "judge/judge.h"

namespace whittle {

/// What the kernels compute with.
enum class KernelArithmetic {
    floats,  ///< as compiled
    ring     ///< as scheduled, in ring arithmetic (expr/ring.h): against the interpreter of groups, and bit by bit
};

/// Whether the backend runs its kernels one by one under these options, in that arithmetic: kernels of a plan, or parts
/// of a file that it writes (judge/optimized.h), which are called kernels here.
bool runs_kernels(Backend& backend, const BackendOptions& options, KernelArithmetic arithmetic);

/// Keeps the hashes of the code of kernels that are compiled while it is observing, in copies of this process, too.
class CodeHashes final : public program::CompileObserver {
  public:
    void made(program::Stage, const Graph&) override {}
    void planned(const program::Plan&, const program::SourceNames&) override {}
    void generated(const program::Kernel&, const std::string&) override {}
    void loaded(const std::string& code) override;

    /// In the order of the compilations.
    std::vector<std::string> all() const;

  private:
    MemoryFile file_;
};

struct KernelJudgement {
    std::string kernel = {};              ///< "kernel_3"; of parts the ops: "com.microsoft.FusedConv"
    std::string part = {};                ///< "forward" or "backward" of a graph with gradients
    std::vector<std::string> nodes = {};  ///< of the compiled graph, that it computes: without '%'
    std::vector<StackFrame> stack = {};   ///< of the first that has one
    std::string code = {};                ///< a hash of its machine code; empty: it does not compile
    bool same_code = false;               ///< the whole ran that code
    Verdict verdict = Verdict::not_judged;
    std::string reason = {};  ///< as Judgement has it
};

struct KernelJudgements {
    KernelArithmetic arithmetic = KernelArithmetic::floats;
    bool optimized = false;                     ///< they are parts of an optimized model
    std::vector<KernelJudgement> kernels = {};  ///< in the order in which the whole runs them
    std::string none = {};                      ///< why there are none
    /// On the reference the graph that the kernels compute differs from the one that was compiled: "" or how.
    std::string passes = {};

    /// The first that fails; null: none does.
    const KernelJudgement* first_wrong() const;
};

/// `whole` is the verdict on the graph as it is, and `codes` the hashes of the compilation that it is on; empty: not
/// known. Of a graph with gradients the kernels are those of its forward and its backward graph. Holds no more values
/// at a time than a run of the graph, besides the operands and results of one kernel.
KernelJudgements judge_kernels(const FailingCase& asked, const Judgement& whole, std::span<const std::string> codes,
                               Backend& backend, KernelArithmetic arithmetic = KernelArithmetic::floats);

}  // namespace whittle
