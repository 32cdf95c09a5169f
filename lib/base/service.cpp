#include "base/service.h"

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/turn.h"

namespace whittle {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kEnding{500};

/// At most a glance, at least nothing.
int wait_time(Clock::time_point deadline) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, kGlance));
}

}  // namespace

Service::Service(const std::vector<std::string>& argv, const ProcessOptions& options)
    : program_(argv.at(0)), options_(options), in_(program_), err_(Descriptor(), options.output_limit) {
    throw_if_interrupted();
    options_.timeout.reset();
    Pipe out(program_), err(program_);
    const Launch launch(argv, options_);
    guard_.emplace(options_, GuardStreams{.in = in_.read.get(), .out = out.write.get(), .err = err.write.get()},
                   [&](int pipe) { launch.become(pipe); });
    out_ = std::move(out.read);
    err_ = Stream(std::move(err.read), options_.output_limit);
    for (const int fd : {in_.write.get(), out_.get()}) ::fcntl(fd, F_SETFL, O_NONBLOCK);
}

Service::~Service() {
    const TurnPause others;
    in_.write.reset();  // at the end of its input it ends by itself
    const Clock::time_point late = Clock::now() + kEnding;
    while (!guard_->over() && Clock::now() < late) {
        pollfd news{guard_->news(), POLLIN, 0};
        ::poll(&news, 1, wait_time(late));
    }
    guard_.reset();
}

bool Service::take_line(const Ends& ends, std::string& line) {
    for (std::size_t end; (end = unread_.find('\n', searched_)) != std::string::npos; searched_ = 0) {
        line = unread_.substr(0, end);
        unread_.erase(0, end + 1);
        if (ends(line)) {
            searched_ = 0;
            return true;
        }
    }
    searched_ = unread_.size();
    return false;
}

bool Service::read_output() {
    if (!out_.open()) return false;
    std::array<char, 1 << 16> chunk;
    const ssize_t count = ::read(out_.get(), chunk.data(), chunk.size());
    if (count == 0) out_.reset();
    if (count <= 0) return false;
    unread_.append(chunk.data(), static_cast<std::size_t>(count));
    read_ += static_cast<std::size_t>(count);
    return true;
}

Service::Answer Service::ask(std::string_view question, const Ends& ends, milliseconds timeout) {
    WHITTLE_CHECK(!ended_, "a service that has ended was asked");
    const Clock::time_point deadline = Clock::now() + timeout;
    const CleanUpScope scope(guard_->pid());
    err_.forget();
    read_ = unread_.size();
    for (std::string line;;) {
        if (take_line(ends, line)) return line;
        if (read_ > options_.output_limit) return end(false, true);
        pollfd waits[4] = {{guard_->news(), POLLIN, 0},
                           {out_.get(), POLLIN, 0},  // a closed one is -1, which poll ignores
                           {err_.descriptor(), POLLIN, 0},
                           {question.empty() ? -1 : in_.write.get(), POLLOUT, 0}};
        const int ready = [&] {
            const TurnPause others;
            return ::poll(waits, 4, wait_time(deadline));
        }();
        if (ready < 0 && errno != EINTR) fail_process(program_, "wait for", errno);
        if (waits[2].revents) err_.read_some();
        if (waits[3].revents) {
            const ssize_t written = ::write(in_.write.get(), question.data(), question.size());
            if (written > 0) question.remove_prefix(static_cast<std::size_t>(written));
        }
        const bool over = guard_->over();  // before the last look at its output: what it said before its end counts
        if (read_output()) continue;
        if (over || told_to_stop()) return end(false, false);
        if (Clock::now() >= deadline) return end(true, false);
    }
}

Service::Ended Service::end(bool timed_out, bool flooded) {
    ended_ = true;
    {
        const TurnPause others;
        if (!guard_->over()) guard_->stop();
        guard_->wait();
    }
    throw_if_interrupted();
    const GuardReport& report = guard_->wait();
    expect_start(report, program_, options_);
    err_.drain();
    Ended ended{.process = result_of(report, options_), .flooded = flooded};
    ended.process.timed_out = timed_out;
    ended.process.err = err_.text();
    return ended;
}

}  // namespace whittle
