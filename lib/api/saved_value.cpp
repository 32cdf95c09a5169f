#include "api/saved_value.h"

#include <mutex>
#include <unordered_map>

#include "base/error.h"
#include "graph/text.h"

namespace whittle::api {
namespace {

using Writes = std::atomic<std::uint64_t>;

/// Memory that somebody saved; what nobody saved is not counted.
struct SavedMemories {
    std::mutex mutex;
    std::unordered_map<const Storage*, std::weak_ptr<Writes>> writes;

    static SavedMemories& instance() {
        static auto* const memories = new SavedMemories;  // values may outlive what is static
        return *memories;
    }
};

std::shared_ptr<Writes> writes_of(const Storage* storage) {
    SavedMemories& memories = SavedMemories::instance();
    const std::lock_guard lock(memories.mutex);
    std::weak_ptr<Writes>& known = memories.writes[storage];
    if (auto writes = known.lock()) return writes;
    std::shared_ptr<Writes> writes(new Writes(0), [storage](const Writes* mine) {
        SavedMemories& all = SavedMemories::instance();
        {
            const std::lock_guard deleting(all.mutex);
            if (const auto found = all.writes.find(storage); found != all.writes.end() && found->second.expired())
                all.writes.erase(found);
        }
        delete mine;
    });
    known = writes;
    return writes;
}

}  // namespace

SavedValue::SavedValue(whittle::Tensor value)
    : value_(std::move(value)), writes_(writes_of(value_.storage().get())), seen_(writes_->load()) {}

const whittle::Tensor& SavedValue::get(const std::string& by) const {
    if (const std::uint64_t now = writes_->load(); now != seen_)
        throw Error("one of the variables needed for gradient computation has been modified by an inplace operation: " +
                    print(ValueMeta::of(value_)) + ", which " + by + " saved, is at version " + std::to_string(now) +
                    "; expected version " + std::to_string(seen_) + " instead");
    return value_;
}

void note_write(const whittle::Tensor& tensor) {
    SavedMemories& memories = SavedMemories::instance();
    std::shared_ptr<Writes> writes;  // it may become the last one: it dies behind the lock, which its end takes
    const std::lock_guard lock(memories.mutex);
    if (const auto found = memories.writes.find(tensor.storage().get()); found != memories.writes.end())
        if ((writes = found->second.lock())) ++*writes;
}

}  // namespace whittle::api
