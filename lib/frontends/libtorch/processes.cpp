#include "frontends/libtorch/processes.h"

#include "base/words.h"

namespace whittle::libtorch {
namespace {
std::string called(std::size_t process) { return "process " + std::to_string(process + 1); }
}  // namespace

std::optional<std::size_t> Processes::successor(std::size_t process) const {
    for (std::size_t i = process + 1; i < all_.size(); ++i)
        if (predecessor(i) == process) return i;
    return std::nullopt;
}

std::optional<std::size_t> Processes::predecessor(std::size_t process) const {
    if (all_[process].forked || !all_[process].number) return std::nullopt;
    for (std::size_t i = process; i-- > 0;)
        if (all_[i].number == all_[process].number) return i;
    return std::nullopt;
}

/// The one that forked or started it, as far as that is captured; numbers of the system's are used again, so the last.
std::optional<std::size_t> Processes::maker(std::size_t process) const {
    for (std::size_t i = process; i-- > 0;)
        if (all_[process].parent && all_[i].number == all_[process].parent) return i;
    return std::nullopt;
}

std::int64_t Processes::children(std::size_t process) const {
    std::int64_t count = 0;
    for (std::size_t i = process + 1; i < all_.size(); ++i) count += all_[i].forked && maker(i) == process;
    return count;
}

std::int64_t Processes::started(std::size_t process) const {
    std::int64_t count = 0;
    for (std::size_t i = process + 1; i < all_.size(); ++i)
        count += !all_[i].forked && !predecessor(i) && maker(i).value_or(0) == process;
    return count;
}

std::string Processes::title(std::size_t process, const std::string& forked_at) const {
    const ProcessIdentity& identity = all_[process];
    std::string how;
    if (const auto before = predecessor(process))
        how = "started by exec() in " + called(*before);
    else if (const auto by = maker(process))
        how = (identity.forked ? "forked by " : "started by ") + called(*by) + forked_at;
    if (!identity.forked) how += (how.empty() ? "" : ": ") + identity.command_line;
    return called(process) + (how.empty() ? "" : " (" + how + ")");
}

std::vector<std::string> notes_of_processes(const Processes& processes, std::size_t process,
                                            const OtherProcesses& others) {
    std::vector<std::string> notes;
    const std::int64_t children = processes.children(process), started = processes.started(process);
    if (others.forks) {
        std::string note = "the program forked " + plural(others.forks, "time") + "; ";
        if (children)
            note += plural(children, "child", "children") + " ran LibTorch and " + (children > 1 ? "were" : "was") +
                    " captured, too";
        else
            note += "the children ran " + std::string(others.child_ops ? "" : "no operation of LibTorch");
        if (others.child_ops)
            note += (children ? "; further children ran " : "") + plural(others.child_ops, "operation") +
                    " of LibTorch that were not captured";
        notes.push_back(std::move(note));
    }
    if (const std::uint64_t count = others.started + others.child_execs)
        notes.push_back("the program ran " + plural(count, "other program") + " (" + (count > 1 ? "the first: " : "") +
                        others.first + "), " +
                        (started ? plural(started, "process", "processes") + " of which ran LibTorch and " +
                                       (started > 1 ? "were" : "was") + " captured, too"
                                 : "which did not run LibTorch or could not be captured"));
    return notes;
}

}  // namespace whittle::libtorch
