#include "record/launch/so_far.h"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "base/interrupt.h"
#include "base/log.h"
#include "base/seconds.h"
#include "base/subprocess.h"

namespace whittle {

namespace {

using Clock = std::chrono::steady_clock;

/// The program is what the processors are for.
void yield_to_others() {
    const sched_param none{};
    ::sched_setscheduler(0, SCHED_IDLE, &none);
    ::setpriority(PRIO_PROCESS, 0, 19);
}

}  // namespace

SoFar::SoFar(SoFarWork work) : work_(std::move(work)), thread_([this] { run(); }) {}

SoFar::~SoFar() {
    {
        const std::lock_guard lock(mutex_);
        unwanted_ = true;
    }
    ended_.notify_all();
    thread_.join();
}

/// False at the end.
bool SoFar::pause(double seconds) {
    std::unique_lock lock(mutex_);
    return !ended_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return unwanted_.load(); });
}

void SoFar::run() {
    constexpr double kShare = 4;  // for each second of writing, so many without
    const WantedScope scope(unwanted_);
    for (double next = work_.every; pause(next);) {
        next = work_.every;
        const Clock::time_point begin = Clock::now();
        try {
            if (!work_.wanted()) continue;
            if (write()) work_.take();
        } catch (const Interrupted&) {
            return;
        } catch (const std::exception& error) {  // the trace at the end tells whether it matters
            log_debug(LogChannel::capture, std::string("what was captured so far cannot be written: ") + error.what());
        }
        next = std::max(next, kShare * seconds_since(begin));
    }
}

bool SoFar::write() {
    return run_forked([&] {
               yield_to_others();
               try {
                   work_.write();
               } catch (const std::exception& error) {
                   log_debug(LogChannel::capture, std::string("so far: ") + error.what());
                   return 1;
               }
               return 0;
           })
        .good();
}

}  // namespace whittle
