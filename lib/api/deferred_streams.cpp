#define WHITTLE_API_IMPLEMENTATION
#include "api/deferred_streams.h"

#include <array>
#include <iostream>
#include <mutex>
#include <streambuf>
#include <string>

#include "api/session.h"

namespace whittle::api {
namespace {

/// Stands before a stream's own buffer.
class DeferredBuffer final : public std::streambuf {
  public:
    explicit DeferredBuffer(std::ostream& stream) : stream_(stream) {}

    void begin() { own_ = stream_.rdbuf(this); }
    void end() {
        if (stream_.rdbuf() == this) stream_.rdbuf(own_);  // else the program has put another one in
    }
    bool stands_before(const std::ostream& stream) const { return &stream == &stream_ && stream.rdbuf() == this; }

  protected:
    std::streamsize xsputn(const char* text, std::streamsize size) override {
        return waits(text, static_cast<std::size_t>(size)) ? size : own_->sputn(text, size);
    }
    int_type overflow(int_type c) override {
        if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
        const char character = traits_type::to_char_type(c);
        return waits(&character, 1) ? c : own_->sputc(character);
    }
    int sync() override { return own_->pubsync(); }

  private:
    bool waits(const char* text, std::size_t size) {
        Session* const session = Session::current();
        return session && session->defers_output() && session->defer(&stream_, std::string(text, size));
    }

    std::ostream& stream_;
    std::streambuf* own_ = nullptr;
};

std::mutex mutex;
int wanted_by = 0;  // functions that run

/// For the rest of the program: another thread may be about to write.
std::array<DeferredBuffer*, 3>& buffers() {
    static std::array<DeferredBuffer*, 3> all = {new DeferredBuffer(std::cout), new DeferredBuffer(std::cerr),
                                                 new DeferredBuffer(std::clog)};
    return all;
}

}  // namespace

DeferredStreams::DeferredStreams(bool wanted) : wanted_(wanted) {
    if (!wanted_) return;
    const std::lock_guard lock(mutex);
    if (wanted_by++ > 0) return;
    for (DeferredBuffer* buffer : buffers()) buffer->begin();
}

DeferredStreams::~DeferredStreams() {
    if (!wanted_) return;
    const std::lock_guard lock(mutex);
    if (--wanted_by > 0) return;
    for (DeferredBuffer* buffer : buffers()) buffer->end();
}

bool is_deferred(const std::ostream& out) {
    for (const DeferredBuffer* buffer : buffers())
        if (buffer->stands_before(out)) return true;
    return false;
}

}  // namespace whittle::api
