// Where events go: each thread writes records into a chunk of the event file that it has mapped, without locks and
// without text. Runs inside the captured program, so nothing here throws, keeps a file descriptor, or writes beyond
// what the disk and the program's limits allow.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <vector>

#include "frontends/libtorch/capture/ring_file.h"
#include "frontends/libtorch/records.h"

namespace whittle::libtorch {

/// A record while it is put together.
class RecordBuffer {
  public:
    void start(RecordKind kind) {
        size_ = 0;
        put_space(sizeof(RecordHeader));
        kind_ = kind;
    }
    template <class T>
    void put(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        std::memcpy(put_space(sizeof value), &value, sizeof value);
    }
    void put_text(std::string_view text) {
        put(static_cast<std::uint32_t>(text.size()));
        put_bytes(text.data(), text.size());
    }
    /// An empty buffer, of no record.
    void clear() { size_ = 0; }
    const char* data() const { return bytes_.data(); }
    void put_bytes(const void* data, std::size_t size) {
        if (size) std::memcpy(put_space(size), data, size);
    }
    /// Starts a record with its members; the caller puts what stands behind them.
    template <class R>
    void start(const R& record) {
        start(R::kKind);
        R::fields(record, [this](const auto& member) { this->put_member(member); });
    }
    /// `size` bytes to fill in.
    char* put_space(std::size_t size) {
        const std::size_t at = size_;
        size_ += size;
        if (size_ > bytes_.size()) bytes_.resize(std::max(size_, 2 * bytes_.size()));
        return bytes_.data() + at;
    }
    std::size_t size() const { return size_; }
    /// Takes back what was put since `size`.
    void shrink(std::size_t size) { size_ = size; }
    /// Overwrites what was put at `at`.
    template <class T>
    void patch(std::size_t at, const T& value) {
        std::memcpy(bytes_.data() + at, &value, sizeof value);
    }

  private:
    friend class Recorder;
    template <class T>
    void put_member(const T& member) {
        if constexpr (std::is_same_v<T, std::string_view>) {
            put_text(member);
        } else if constexpr (std::is_same_v<T, std::vector<std::uint64_t>>) {
            put(static_cast<std::uint32_t>(member.size()));
            put_bytes(member.data(), member.size() * sizeof member[0]);
        } else {
            put(member);
        }
    }

    std::vector<char> bytes_;  ///< more than size_: growing by steps would fill each with zeros first
    std::size_t size_ = 0;
    RecordKind kind_{};
};

/// The chunk that a thread writes to: a small one, then one that is used again and again.
struct ThreadChunk {
    char* begin = nullptr;                           ///< of its ChunkHeader
    char* records = nullptr;                         ///< of its records
    std::uint64_t capacity = 0, room = 0, used = 0;  ///< of all, of records
    bool reused = false;
    std::uint32_t thread = 0;
    bool numbered = false;

    void unmap();
};

/// Of a clock that never goes back.
std::uint64_t now_ns();

class Recorder {
  public:
    /// False when the file cannot be made. `base` names the files of the capture, of which it is one.
    bool start(const char* base, const char* file, std::uint64_t max_bytes, double max_seconds, std::uint64_t flags);
    /// In a forked child: it has a file of its own from now on. False when it cannot; what it does is counted.
    /// `forked_at`: by now_ns().
    bool start_child(std::uint64_t forked_at);
    bool on() const { return on_.load(std::memory_order_relaxed); }
    bool with_data() const { return flags_ & kWithData; }
    bool with_times() const { return flags_ & kWithTimes; }
    bool with_hashes() const { return flags_ & kWithHashes; }
    bool with_ring() const { return flags_ & kWithRing; }
    bool until_nan() const { return flags_ & kUntilNan; }
    /// Where a record of the ring would come to lie, and whether what was written there will be there for as long as
    /// an operation that is recorded next.
    std::uint64_t ring_position() const { return ring_.end(); }
    bool stays_in_ring(std::uint64_t position) const { return ring_.end() - position <= ring_.capacity() / kRingParts; }
    const char* path() const { return path_; }
    std::uint64_t most_bytes() const { return max_bytes_; }
    /// Whether a tensor of that many bytes may be written. An eighth of the file is for what ops did; of a ring, a
    /// tensor takes an eighth at most.
    bool has_room_for(std::uint64_t bytes) const;
    /// A tensor's elements are not written.
    void leave_out();

    /// A record could not be made.
    void lose();
    /// An op ran while a compiler traced the program.
    void trace();

    /// Numbers the record and copies it into the thread's chunk; false when the capture was cut.
    bool commit(ThreadChunk& chunk, RecordBuffer& record);
    /// Ends the capture: for good, with a reason.
    void cut(CutReason reason);
    void check_time();
    /// An op is called that is not recorded: after a cut, or in a forked child.
    void miss();
    /// The program came to its end.
    void finish();
    /// In a forked child: the file is the parent's, only counters of its header are shared. `may_start`: a file of its
    /// own may be had.
    void forget(bool may_start) {
        may_start_ = may_start && (on_ || may_start_);
        on_ = false;
        child_ = true;
    }
    /// Of Python, by the whole path.
    void name_interpreter(const char* path);
    bool may_start() const { return may_start_.load(std::memory_order_relaxed); }
    FileHeader* header() const { return header_; }

  private:
    struct Region {
        int file = -1;  ///< -1: it could not be had, and the capture is cut
        std::uint64_t offset = 0, size = 0;
    };
    Region reserve(std::uint32_t thread, std::uint64_t size);
    bool make_room(ThreadChunk& chunk, std::uint64_t needed);
    bool map(ThreadChunk& chunk, std::uint64_t size, bool reused);
    bool empty(ThreadChunk& chunk);
    bool write_chunk(std::uint32_t thread, const char* records, std::uint64_t size);
    int open_file(const char* path, std::uint64_t end) const;
    /// Bytes of all files of the capture.
    std::uint64_t taken() const;
    FileHeader* make_header(const char* path) const;
    bool open(const char* file, bool forked, std::uint64_t began);
    void begin();

    char base_[4096] = {}, path_[4096] = {};
    std::atomic<bool> on_{false};
    std::atomic<bool> may_start_{false};
    bool child_ = false;
    std::uint64_t flags_ = 0;  ///< FileFlags
    RingFile ring_;
    std::atomic<std::uint64_t> order_{1}, end_{kFileHeaderSize};
    std::atomic<std::uint32_t> threads_{0};
    std::atomic_flag growing_ = ATOMIC_FLAG_INIT;
    std::uint64_t max_bytes_ = 0, deadline_ns_ = 0;
    FileHeader* header_ = nullptr;
    FileHeader* first_ = nullptr;  ///< of the first file, where all processes count what they take
};

}  // namespace whittle::libtorch
