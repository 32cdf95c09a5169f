#include "base/log_step.h"

#include <exception>
#include <string_view>
#include <utility>

#include "base/event_log.h"
#include "base/log.h"
#include "base/number_text.h"

namespace whittle {
namespace {

struct StepRow {
    std::string_view name, title;
    LogChannel channel;
    SpanKind span;
};
/// In the order of the kinds, the first of which is 1.
constexpr StepRow kRows[] = {{"capture", "Step 1: capture: ", LogChannel::capture, SpanKind::capture},
                             {"backend", "Step 2: compile by backend ", LogChannel::backend, SpanKind::backend},
                             {"lowering", "Step 3: lowering: ", LogChannel::lowering, SpanKind::lowering}};
const StepRow& row_of(LogStep::Kind kind) { return kRows[static_cast<std::size_t>(kind) - 1]; }

std::string title_of(LogStep::Kind kind, const std::string& what) { return std::string(row_of(kind).title) + what; }

}  // namespace

LogStep::LogStep(Kind kind, const std::string& what, const std::string& graph)
    : kind_(kind),
      span_(row_of(kind).span, what, graph),
      over_(!log_enabled(row_of(kind).channel, LogLevel::info)),
      exceptions_(std::uncaught_exceptions()) {
    if (over_) return;
    what_ = what;
    show_info(row_of(kind).channel, title_of(kind, what) + ": begin");
    if (EventLog::instance().is_open()) EventLog::instance().step(row_of(kind).name, "begin", what_, 0);
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
    show_info(row_of(kind_).channel, title_of(kind_, what_) + ": " + how + " " + time);
    if (EventLog::instance().is_open()) EventLog::instance().step(row_of(kind_).name, event, what_, seconds.count());
}

}  // namespace whittle
