#include "base/timeline.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/number_text.h"
#include "base/thread_work.h"

namespace whittle {
namespace {

std::atomic<Timeline*> the_timeline = nullptr;

using Seconds = std::chrono::duration<double>;

}  // namespace

std::string_view name(SpanKind kind) {
    static constexpr std::string_view kNames[] = {"capture", "backend", "pass", "lowering", "kernel"};
    return kNames[static_cast<std::size_t>(kind)];
}

Timeline::Timeline() : before_(the_timeline.exchange(this)) {}
Timeline::~Timeline() { the_timeline = before_; }

Timeline* Timeline::current() { return the_timeline.load(std::memory_order_relaxed); }

ThreadSpans::ThreadSpans() : current_(thread_work().spans, this) {}

void SpanList::add(Span span, std::chrono::steady_clock::time_point start, std::chrono::steady_clock::time_point end) {
    span.start = Seconds(start - start_).count();
    span.seconds = Seconds(end - start).count();
    const std::lock_guard lock(mutex_);
    const auto next = static_cast<std::int64_t>(threads_.size());
    span.thread = threads_.try_emplace(std::this_thread::get_id(), next).first->second;
    spans_.push_back(std::move(span));
}

std::vector<Span> SpanList::spans() const {
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

std::string table(const std::vector<Span>& spans) {
    std::string text = "| begin, s | took, s | kind | what |\n|---|---|---|---|\n";
    for (const Span& span : spans) {
        text += "| " + fixed(span.start, 6) + " | " + fixed(span.seconds, 6) + " | " + std::string(name(span.kind)) +
                " | " + span.name;
        if (!span.from.empty()) text += ", " + span.from;
        text += " |\n";
    }
    return text;
}

SpansOf::SpansOf(std::string graph) : Exchanged(thread_work().graph, std::move(graph)) {}

std::string span_graph(std::string_view graph) {
    const std::string& of = thread_work().graph;
    return of.empty() || graph.empty() ? std::string(graph) : of;
}

TimedSpan::TimedSpan(SpanKind kind, std::string_view name, std::string_view graph)
    : timeline_(Timeline::current()), list_(thread_work().spans) {
    if (!timeline_ && !list_) return;
    span_.kind = kind;
    span_.name = name;
    span_.graph = span_graph(graph);
    start_ = std::chrono::steady_clock::now();
}

void TimedSpan::end() {
    if (!timeline_ && !list_) return;
    const auto now = std::chrono::steady_clock::now();
    if (SpanList* const list = std::exchange(list_, nullptr)) list->add(span_, start_, now);
    if (Timeline* const timeline = std::exchange(timeline_, nullptr)) timeline->add(std::move(span_), start_, now);
}

}  // namespace whittle
