#include "base/thread_work.h"

#include <utility>

namespace whittle {

ThreadWork& thread_work() {
    static thread_local ThreadWork work;
    return work;
}

WorksFor::WorksFor(ThreadWork other) : before_(std::exchange(thread_work(), std::move(other))) {}
WorksFor::~WorksFor() { thread_work() = std::move(before_); }

}  // namespace whittle
