#include "ops/core/mode.h"

#include <utility>

namespace whittle {
namespace {

thread_local ModeScope* top = nullptr;

class Top {
  public:
    explicit Top(ModeScope* scope) : before_(std::exchange(top, scope)) {}
    ~Top() { top = before_; }
    Top(const Top&) = delete;
    Top& operator=(const Top&) = delete;

  private:
    ModeScope* const before_;
};

}  // namespace

ModeScope::ModeScope(Mode& mode) : mode_(mode), below_(std::exchange(top, this)) {}
ModeScope::~ModeScope() {
    ModeScope** link = &top;  // usually its own; one that ends before those above it leaves them
    while (*link && *link != this) link = &(*link)->below_;
    if (*link) *link = below_;
}

WithoutModes::WithoutModes() : before_(std::exchange(top, nullptr)) {}
WithoutModes::~WithoutModes() { top = before_; }

SameModes::SameModes() : before_(top) {}
SameModes::~SameModes() { top = before_; }

bool in_mode() { return top != nullptr; }

std::vector<Tensor> under_modes(const ModeCall& call, const Compute& compute) {
    if (!top) return compute();
    Mode& mode = top->mode_;
    const Top below(top->below_);
    return mode.call(call, [&] { return under_modes(call, compute); });
}

}  // namespace whittle
