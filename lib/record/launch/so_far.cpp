#include "record/launch/so_far.h"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>

#include "base/interrupt.h"
#include "base/log.h"
#include "base/seconds.h"
#include "base/subprocess.h"

namespace whittle {
namespace {

/// The program is what the processors are for.
void yield_to_others() {
    const sched_param none{};
    ::sched_setscheduler(0, SCHED_IDLE, &none);
    ::setpriority(PRIO_PROCESS, 0, 19);
}

/// False where that failed.
bool write_in_copy(const SoFarWork& work) {
    return run_forked([&] {
               yield_to_others();
               try {
                   work.write();
               } catch (const std::exception& error) {
                   log_debug(LogChannel::capture, std::string("partial trace: ") + error.what());
                   return 1;
               }
               return 0;
           })
        .good();
}

/// False when it is told to stop.
bool pause(const std::stop_token& stop, double seconds) {
    std::mutex mutex;
    std::condition_variable_any nobody;
    std::unique_lock lock(mutex);
    nobody.wait_for(lock, stop, std::chrono::duration<double>(seconds), [] { return false; });
    return !stop.stop_requested();
}

void work_until(const std::stop_token& stop, const SoFarWork& work) {
    constexpr double kShare = 4;  // for each second of writing, so many without
    std::atomic<bool> unwanted{false};
    const std::stop_callback told(stop, [&] { unwanted = true; });
    const WantedScope scope(unwanted);
    for (double next = work.every; pause(stop, next);) {
        next = work.every;
        const auto begin = std::chrono::steady_clock::now();
        try {
            if (!work.wanted()) continue;
            if (write_in_copy(work)) work.take();
        } catch (const Interrupted&) {
            return;
        } catch (const std::exception& error) {  // the trace at the end tells whether it matters
            log_debug(LogChannel::capture, std::string("cannot write the partial trace: ") + error.what());
        }
        next = std::max(next, kShare * seconds_since(begin));
    }
}

}  // namespace

std::jthread write_so_far(SoFarWork work) {
    return std::jthread([work = std::move(work)](const std::stop_token& stop) { work_until(stop, work); });
}

}  // namespace whittle
