// The processes of a capture, an event file each: which of them came of which, and what is told of that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frontends/libtorch/reader.h"

namespace whittle::libtorch {

/// Numbered from 0, in the order in which they began; people count from 1.
class Processes {
  public:
    explicit Processes(std::vector<ProcessIdentity> all) : all_(std::move(all)) {}

    std::size_t size() const { return all_.size(); }
    /// The program that took this one's place, if it is captured, too.
    std::optional<std::size_t> successor(std::size_t process) const;
    /// Forked by this one, and captured.
    std::int64_t children(std::size_t process) const;
    /// Started by this one, or by what it started, and captured.
    std::int64_t started(std::size_t process) const;
    /// "process 2 (forked by process 1 at app.cpp:30)"; `forked_at`: that place, or "".
    std::string title(std::size_t process, const std::string& forked_at) const;

  private:
    std::optional<std::size_t> predecessor(std::size_t process) const;
    std::optional<std::size_t> maker(std::size_t process) const;

    std::vector<ProcessIdentity> all_;
};

/// What a process did with others, of what is captured of them and what is not.
std::vector<std::string> notes_of_processes(const Processes& processes, std::size_t process,
                                            const OtherProcesses& others);

}  // namespace whittle::libtorch
