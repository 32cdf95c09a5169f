// The third reader: a group as Halide objects, compiled to machine code that this process runs. Halide's headers stay
// inside.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "expr/group.h"

namespace whittle::halide {

struct CompileOptions {
    /// Halide's target string; empty is default_target(). Without strict_float the semantics of expr.h are not kept.
    std::string target = {};
};

/// Where a group's machine code came from: the cache is that of disk, see kernel_code.h.
enum class CodeSource { compiled, cache, memory };
std::string_view name(CodeSource source);

/// What Halide or our reader of the schedule says, in its own words.
struct KernelError {
    std::string message;
};

/// A group compiled by Halide. May be run again and again, by any number of threads at a time.
class CompiledGroup {
  public:
    /// Groups that are partly or wholly empty are fine: what is empty is not computed. Directives that are off, or that
    /// schedule something empty, are not applied. A failure of Halide's is a value; crashes are not caught: isolate.
    /// `from`, unless it is null, is told where the code came from.
    static std::variant<std::unique_ptr<CompiledGroup>, KernelError> compile(const expr::Group& group,
                                                                             const expr::Schedule& schedule,
                                                                             const CompileOptions& options = {},
                                                                             CodeSource* from = nullptr);
    ~CompiledGroup();
    CompiledGroup(const CompiledGroup&) = delete;

    /// `inputs`: pointers to the first logical element of each of group.inputs, with the declared strides; `outputs`:
    /// pointers to row-major memory for each of group.outputs. Returns nothing when all is well.
    std::optional<KernelError> run(std::span<const void* const> inputs, std::span<void* const> outputs) const;
    /// A hash of its machine code; empty where nothing is to be computed.
    std::string code() const;

  private:
    struct Objects;
    explicit CompiledGroup(std::unique_ptr<Objects> objects);
    std::unique_ptr<Objects> objects_;
};

using KernelText = std::variant<std::string, KernelError>;

/// The statements that Halide lowers the pipeline to, as its compile_to_lowered_stmt writes them; for explain.
KernelText lowered(const expr::Group& group, const expr::Schedule& schedule, const CompileOptions& options = {});
/// Its loops, as print_loop_nest() shows them.
KernelText loop_nest(const expr::Group& group, const expr::Schedule& schedule, const CompileOptions& options = {});
/// As compile_to_assembly writes it.
KernelText assembly(const expr::Group& group, const expr::Schedule& schedule, const CompileOptions& options = {});

}  // namespace whittle::halide
