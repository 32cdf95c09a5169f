#include "base/timeline.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace whittle {
namespace {

std::atomic<Timeline*> the_timeline = nullptr;

thread_local std::string graph_of_thread;

using Seconds = std::chrono::duration<double>;

}  // namespace

std::string_view name(SpanKind kind) {
    switch (kind) {
        case SpanKind::capture:
            return "capture";
        case SpanKind::backend:
            return "backend";
        case SpanKind::pass:
            return "pass";
        case SpanKind::lowering:
            return "lowering";
        case SpanKind::kernel:
            return "kernel";
    }
    __builtin_unreachable();
}

Timeline::Timeline() : before_(the_timeline.exchange(this)) {}
Timeline::~Timeline() { the_timeline = before_; }

Timeline* Timeline::current() { return the_timeline.load(std::memory_order_relaxed); }

void Timeline::add(Span span, std::chrono::steady_clock::time_point start) {
    span.start = Seconds(start - start_).count();
    span.seconds = Seconds(std::chrono::steady_clock::now() - start).count();
    const std::lock_guard lock(mutex_);
    const auto next = static_cast<std::int64_t>(threads_.size());
    span.thread = threads_.try_emplace(std::this_thread::get_id(), next).first->second;
    spans_.push_back(std::move(span));
}

std::vector<Span> Timeline::spans() const {
    std::vector<Span> all;
    {
        const std::lock_guard lock(mutex_);
        all = spans_;
    }
    std::ranges::stable_sort(all, [](const Span& a, const Span& b) {
        return std::pair(a.start, -a.seconds) < std::pair(b.start, -b.seconds);
    });
    return all;
}

SpansOf::SpansOf(std::string graph) : before_(std::exchange(graph_of_thread, std::move(graph))) {}
SpansOf::~SpansOf() { graph_of_thread = std::move(before_); }

std::string span_graph(std::string_view graph) {
    return graph_of_thread.empty() || graph.empty() ? std::string(graph) : graph_of_thread;
}

TimedSpan::TimedSpan(SpanKind kind, std::string_view name, std::string_view graph) : timeline_(Timeline::current()) {
    if (!timeline_) return;
    span_.kind = kind;
    span_.name = name;
    span_.graph = span_graph(graph);
    start_ = std::chrono::steady_clock::now();
}

void TimedSpan::end() {
    if (Timeline* const timeline = std::exchange(timeline_, nullptr)) timeline->add(std::move(span_), start_);
}

}  // namespace whittle
