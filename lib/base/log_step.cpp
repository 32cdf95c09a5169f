#include "base/log_step.h"

#include <cstdio>
#include <exception>

#include "base/log.h"

namespace whittle {
namespace {

LogChannel channel_of(LogStep::Kind kind) {
    switch (kind) {
        case LogStep::Kind::capture:
            return LogChannel::capture;
        case LogStep::Kind::backend:
            return LogChannel::backend;
        case LogStep::Kind::lowering:
            return LogChannel::lowering;
    }
    __builtin_unreachable();
}

SpanKind span_kind(LogStep::Kind kind) {
    switch (kind) {
        case LogStep::Kind::capture:
            return SpanKind::capture;
        case LogStep::Kind::backend:
            return SpanKind::backend;
        case LogStep::Kind::lowering:
            return SpanKind::lowering;
    }
    __builtin_unreachable();
}

std::string title_of(LogStep::Kind kind, const std::string& what) {
    switch (kind) {
        case LogStep::Kind::capture:
            return "Step 1: capture: " + what;
        case LogStep::Kind::backend:
            return "Step 2: compile by backend " + what;
        case LogStep::Kind::lowering:
            return "Step 3: lowering: " + what;
    }
    __builtin_unreachable();
}

}  // namespace

LogStep::LogStep(Kind kind, const std::string& what, const std::string& graph)
    : kind_(kind), span_(span_kind(kind), what, graph), exceptions_(std::uncaught_exceptions()) {
    if (!log_enabled(channel_of(kind), LogLevel::info)) return;
    title_ = title_of(kind, what);
    log_info(channel_of(kind), title_ + ": begin");
}

LogStep::~LogStep() { std::uncaught_exceptions() > exceptions_ ? end("ended by an exception after") : done(); }

void LogStep::end(const char* how) {
    span_.end();
    if (title_.empty()) return;
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start_;
    char time[32];
    std::snprintf(time, sizeof time, "%.3f s", seconds.count());
    log_info(channel_of(kind_), title_ + ": " + how + " " + time);
    title_.clear();
}

}  // namespace whittle
