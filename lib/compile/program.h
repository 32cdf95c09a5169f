// CompiledProgram: one graph taken through the stages of a compilation, each made once and when it is first asked for.
//
//   captured -> functional -> decomposed -> folded -> core -> plan     (CompileStage in graph/backend.h)
//                    \-> joint -> forward, backward
//
// What it does not serve is the reference, which interprets the captured graph: a pass that is wrong must not agree
// with itself.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compile/plan.h"
#include "passes/functionalize.h"
#include "passes/partition.h"

namespace whittle::program {

using Stage = CompileStage;
/// Those that are graphs, on the way to a plan.
inline constexpr Stage kStages[] = {Stage::captured, Stage::functional, Stage::decomposed, Stage::folded, Stage::core};
/// Those that are graphs where gradients are wanted.
inline constexpr Stage kGradientStages[] = {Stage::joint, Stage::forward, Stage::backward};

std::string_view name(Stage stage);
/// The pass that makes the stage; none makes captured.
std::optional<PassId> pass_of(Stage stage);

/// How the joint graph is cut.
struct JointOptions {
    Partitioner partitioner = Partitioner::min_cut;
    enum class Decomposed {
        none,
        core,    ///< all composites, first
        backend  ///< those that whoever compiles the parts does not take
    } decomposed = Decomposed::none;
    double memory_budget = 1;  ///< see PartitionOptions
};
/// partition=default|min_cut (min_cut), decompositions=none|core|backend (none) and memory-budget=0…1 (1). Throws Error
/// for other words, and for a budget of partition=default, which has none.
JointOptions joint_options(const BackendOptions& options);
/// Targets in a joint graph that whoever compiles its parts does not take as they are.
using NotTaken = std::function<std::vector<std::string>(const Graph& joint)>;

/// One object is for one thread.
class CompiledProgram {
  public:
    /// Under the options pass-limit and disable, see PassLimits and disabled_directives(), and those of
    /// joint_options(), of which decompositions=backend wants to know what is `not_taken`.
    explicit CompiledProgram(Graph captured, const BackendOptions& options = {}, NotTaken not_taken = {});

    /// One of kStages or kGradientStages. Throws Error naming the node where a pass refuses the graph. What a pass
    /// returns has been verified.
    const Graph& graph(Stage stage);
    /// The nodes of the captured graph that a node of a stage's graph stands for, ascending; none for a constant that a
    /// pass made up.
    const std::vector<NodeId>& sources(Stage stage, NodeId node);
    /// What the captured graph writes of what it is given, as further outputs of the stages behind it.
    const std::vector<MemoryUpdate>& updates();
    /// Of what requires one of the captured graph's outputs; what it writes gets no tangents.
    const Joint& joint();
    /// The joint graph in two, decomposed before it is cut if the options say so.
    const Partition& partition();
    /// Before that: it is cut as another program, of the same graph at other sizes, was, as far as that fits.
    void cut_as(Cut known) { known_cut_ = std::move(known); }

    /// The kernels of the core graph, scheduled by the rules that are named first; directives that are disabled are
    /// off. Throws as program::plan() does. Every call of the core graph lowers. A program has one plan: a second
    /// scheduler is a bug of the caller's.
    const Plan& plan(Scheduler scheduler);
    /// Of the plan: directives that are disabled and that no kernel has.
    const std::set<std::string>& not_found() const { return not_found_; }
    /// Those that it was made with.
    const BackendOptions& options() const { return options_; }
    /// Counts the applications of passes.
    PassLimits& limits() { return limits_; }

  private:
    struct Made {
        Graph graph;
        Origins sources;  ///< in the captured graph
    };
    const Made& made(Stage stage);
    Graph run_pass(Stage stage, const Graph& before, Origins& origins);
    /// The joint graph as it is cut.
    Graph decomposed_joint(Origins& origins);

    const BackendOptions options_;
    std::map<Stage, Made> made_;
    JointOptions joint_options_;
    NotTaken not_taken_;
    std::optional<Joint> joint_;
    std::optional<Partition> partition_;
    std::optional<Cut> known_cut_;
    std::vector<MemoryUpdate> updates_;
    bool registered_ = false;  ///< all ops of the captured graph are
    PassLimits limits_;
    std::set<std::string> disabled_, not_found_;
    std::optional<Plan> plan_;
    Scheduler scheduler_ = nullptr;  ///< of the plan
};

}  // namespace whittle::program
