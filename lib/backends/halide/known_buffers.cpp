#include "backends/halide/known_buffers.h"

#include <map>
#include <set>
#include <string>

namespace whittle::halide {
namespace {

namespace internal = Halide::Internal;

class KnownBuffers final : public internal::IRMutator {
  public:
    template <class Parameter>  // a class of Halide that moved to another namespace in 17
    void add_bounds(const std::string& name, const Parameter& buffer) {
        for (int d = 0; d < buffer.dimensions(); d++) {
            add(name + ".min." + std::to_string(d), buffer.min_constraint(d));
            add(name + ".extent." + std::to_string(d), buffer.extent_constraint(d));
        }
    }

  private:
    using internal::IRMutator::visit;

    void add(const std::string& name, const Halide::Expr& value) {
        if (value.defined()) known_[name] = value;
    }

    internal::Stmt visit(const internal::AssertStmt* assertion) override {
        const bool holds =
            is_on_buffers(assertion->message) ||
            internal::is_const_one(internal::simplify(internal::substitute(known_, assertion->condition)));
        return holds ? internal::Evaluate::make(0) : internal::Stmt(assertion);
    }

    static bool is_on_buffers(const Halide::Expr& message) {
        static const std::set<std::string> names = {
            "halide_error_bad_dimensions",
            "halide_error_bad_type",
            "halide_error_buffer_allocation_too_large",
            "halide_error_buffer_argument_is_null",
            "halide_error_buffer_extents_negative",
            "halide_error_buffer_extents_too_large",
            "halide_error_constraint_violated",
            "halide_error_device_dirty_with_no_device_support",
            "halide_error_host_is_null",
        };
        const auto* const call = message.as<internal::Call>();
        return call && names.contains(call->name);
    }

    std::map<std::string, Halide::Expr> known_;
};

}  // namespace

void add_known_buffers(Halide::Pipeline& pipeline, const std::vector<Halide::ImageParam>& inputs) {
    auto* const pass = new KnownBuffers;
    for (const Halide::ImageParam& input : inputs) pass->add_bounds(input.name(), input.parameter());
    for (const Halide::Func& output : pipeline.outputs())
        pass->add_bounds(output.name(), output.output_buffer().parameter());
    pipeline.add_custom_lowering_pass(pass);  // takes ownership
}

}  // namespace whittle::halide
