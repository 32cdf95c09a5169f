// .defer_output for std::cout, std::cerr and std::clog: as long as a function with that option runs, their buffers are
// ours, so that everything that is written to them, be it by operator<<, put() or std::endl, waits its turn.
#pragma once

#include <iosfwd>

namespace whittle::api {

/// While one lives and is `wanted`, output of a session that defers it waits for what waits already; that of others
/// goes on as before.
class DeferredStreams {
  public:
    explicit DeferredStreams(bool wanted);
    ~DeferredStreams();
    DeferredStreams(const DeferredStreams&) = delete;
    DeferredStreams& operator=(const DeferredStreams&) = delete;

  private:
    bool wanted_;
};

/// Whether what is written to the stream can wait.
bool is_deferred(const std::ostream& out);

}  // namespace whittle::api
