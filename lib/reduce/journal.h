// The journal: every answer of an oracle, appended to a file as soon as it is there, so that a search that was killed
// goes on with no query repeated. The search itself is deterministic: told the same answers it asks the same questions.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "reduce/oracle.h"

namespace whittle::reduce {

class Journal {
  public:
    /// A new journal at `file`, or, with `resume`, the one that is there. A new one replaces the old with its first
    /// answer: an oracle that cannot run loses nothing. `identity` is that of the original with its inputs: answers to
    /// another question are never used. Throws Error when the journal is of another identity or damaged, and when
    /// another process is at work on it: it is locked for as long as this lives.
    Journal(std::filesystem::path file, const std::string& identity, bool resume);
    ~Journal();
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;

    bool has(const std::string& candidate) const;
    /// The next answer about a candidate, in the order in which they were given; nothing where there is no more.
    std::optional<Observation> take(const std::string& candidate);
    /// An answer that is not kept yet.
    void add(const std::string& candidate, const Observation& seen);

    /// Answers taken so far.
    std::size_t replayed() const { return replayed_; }
    /// The search is complete: the file goes.
    void remove();

  private:
    void open_locked();
    void read(const std::string& identity);

    std::filesystem::path file_;
    Descriptor descriptor_;
    std::map<std::string, std::vector<Observation>> known_;  ///< by identity, last answer first
    std::size_t replayed_ = 0;
    std::string header_ = {};  ///< to be written before the first answer
};

}  // namespace whittle::reduce
