#include "base/process_folder.h"

#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <utility>

namespace whittle {
namespace {

std::mutex mutex;

std::vector<std::pair<pid_t, std::filesystem::path>>& folders() {
    static auto* const all = new std::vector<std::pair<pid_t, std::filesystem::path>>;  // used while a process ends
    return *all;
}

}  // namespace

ProcessFolder::ProcessFolder(std::filesystem::path folder) : folder_(std::move(folder)), process_(::getpid()) {
    const std::lock_guard lock(mutex);
    folders().emplace_back(process_, folder_);
}

ProcessFolder::~ProcessFolder() {
    if (process_ != ::getpid()) return;  // a copy: another thread may have held the lock
    const std::lock_guard lock(mutex);
    std::erase(folders(), std::pair(process_, folder_));
}

std::vector<std::filesystem::path> ProcessFolder::all() {
    std::vector<std::filesystem::path> own;
    const std::unique_lock lock(mutex, std::try_to_lock);
    if (!lock) return own;  // a copy of a process in which another thread held it
    for (const auto& [process, folder] : folders())
        if (process == ::getpid()) own.push_back(folder);
    return own;
}

}  // namespace whittle
