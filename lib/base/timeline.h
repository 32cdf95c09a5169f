// Where the time of capturing and compiling goes, as data: spans of steps, passes and kernels, with begin and duration.
// While a Timeline lives, every TimedSpan of this process adds itself to it, while ThreadSpans live those of one
// thread's work; without them a span costs two loads.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/exchanged.h"

namespace whittle {

enum class SpanKind : std::uint8_t {
    capture,   ///< a model is read, a program or a function runs under capture
    backend,   ///< a backend compiles a graph
    pass,      ///< makes the next stage of a graph, or its kernels
    lowering,  ///< a graph's kernels are made and compiled
    kernel,    ///< one of them
};
std::string_view name(SpanKind kind);

struct Span {
    SpanKind kind = SpanKind::pass;
    std::string name = {};          ///< "functionalize", "conv_relu"
    std::string graph = {};         ///< that it is done for; empty: for none
    std::string from = {};          ///< where a kernel's code came from: "compiled", "cache" (of disk), "memory"
    double start = 0, seconds = 0;  ///< start: since the timeline began
    std::int64_t thread = 0;        ///< in order of appearance
};

class SpanList {
  public:
    SpanList() = default;
    SpanList(const SpanList&) = delete;
    SpanList& operator=(const SpanList&) = delete;

    void add(Span span, std::chrono::steady_clock::time_point start, std::chrono::steady_clock::time_point end);
    /// In the order of their starts; those around others first.
    std::vector<Span> spans() const;

  private:
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    mutable std::mutex mutex_;
    std::vector<Span> spans_;
    std::map<std::thread::id, std::int64_t> threads_;
};

/// All of this process's.
class Timeline : public SpanList {
  public:
    /// There is one at a time; a second one replaces the first for as long as it lives.
    Timeline();
    ~Timeline();

    static Timeline* current();

  private:
    Timeline* const before_;
};

/// Those of this thread and of the threads that work for it (base/thread_work.h); inner ones replace outer ones.
class ThreadSpans : public SpanList {
  public:
    ThreadSpans();

  private:
    Exchanged<SpanList*> current_;
};

/// Kind, name and times of each, as a Markdown table.
std::string table(const std::vector<Span>& spans);

/// While it lives, spans of this thread are of this graph, whatever whoever makes them calls it: a frame's graphs have
/// other names than what is compiled of them.
struct SpansOf : Exchanged<std::string> {
    explicit SpansOf(std::string graph);
};
/// `graph`, or the one that this thread's spans are of.
std::string span_graph(std::string_view graph);

/// From its making to its end.
class TimedSpan {
  public:
    TimedSpan(SpanKind kind, std::string_view name, std::string_view graph = {});
    ~TimedSpan() { end(); }
    TimedSpan(const TimedSpan&) = delete;
    TimedSpan& operator=(const TimedSpan&) = delete;

    void came_from(std::string_view from) {
        if (timeline_ || list_) span_.from = from;
    }
    /// Ends it here, before its scope does.
    void end();

  private:
    Timeline* timeline_;
    SpanList* list_;
    Span span_ = {};
    std::chrono::steady_clock::time_point start_ = {};
};

}  // namespace whittle
