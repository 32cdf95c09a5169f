#include "base/log_step.h"

#include <exception>
#include <string_view>
#include <utility>

#include "base/event_log.h"
#include "base/log.h"
#include "base/number_text.h"

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

const char* name_of(LogStep::Kind kind) {
    constexpr const char* kNames[] = {"capture", "backend", "lowering"};
    return kNames[static_cast<int>(kind) - 1];
}

}  // namespace

LogStep::LogStep(Kind kind, const std::string& what, const std::string& graph)
    : kind_(kind),
      span_(span_kind(kind), what, graph),
      over_(!log_enabled(channel_of(kind), LogLevel::info)),
      exceptions_(std::uncaught_exceptions()) {
    if (over_) return;
    what_ = what;
    show_info(channel_of(kind), title_of(kind, what) + ": begin");
    if (EventLog::instance().is_open()) EventLog::instance().step(name_of(kind), "begin", what_, 0);
}

LogStep::~LogStep() { std::uncaught_exceptions() > exceptions_ ? end("ended") : done(); }

void LogStep::end(const char* event) {
    span_.end();
    if (std::exchange(over_, true)) return;
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start_;
    const std::string_view said = event;
    const char* const how = said == "done"     ? "done in"
                            : said == "failed" ? "failed after"
                                               : "ended by an exception after";
    const std::string time = fixed(seconds.count(), 3) + " s";
    show_info(channel_of(kind_), title_of(kind_, what_) + ": " + how + " " + time);
    if (EventLog::instance().is_open()) EventLog::instance().step(name_of(kind_), event, what_, seconds.count());
}

}  // namespace whittle
