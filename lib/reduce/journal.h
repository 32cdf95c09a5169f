// The journal: every answer of an oracle, appended to a file as soon as it is there, so that a search that was killed
// goes on with no query repeated. The search itself is deterministic: told the same answers it asks the same questions.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reduce/oracle.h"

namespace whittle::reduce {

/// Returns the identity of the journal at `file`; nothing where there is none, or no journal. Throws Error when the
/// file cannot be read.
std::optional<std::string> journal_identity(const std::filesystem::path& file);

/// Answers from the journal what it knows, in the order in which it was asked; asks `oracle` the rest and writes it
/// down, except where it was lost. A line that was cut short by a kill is dropped.
class JournalingOracle final : public Oracle {
  public:
    /// A new journal at `file`, or, with `resume`, the one that is there. A new one replaces the old with its first
    /// answer: an oracle that cannot run loses nothing. `identity` is that of the original with its inputs: answers to
    /// another question are never used. Throws Error when the journal is of another identity or damaged, and when
    /// another process is at work on it: it is locked for as long as this lives.
    JournalingOracle(Oracle& oracle, std::filesystem::path file, const std::string& identity, bool resume);
    ~JournalingOracle() override;
    JournalingOracle(const JournalingOracle&) = delete;
    JournalingOracle& operator=(const JournalingOracle&) = delete;

    /// From one thread.
    Observation observe(const Candidate& candidate) override;
    bool prefetch(const Candidate& candidate) override;
    void describe(Failure& failure) const override { oracle_.describe(failure); }
    std::string name() const override { return oracle_.name(); }
    std::string question() const override { return oracle_.question(); }

    /// Answers taken from the journal so far.
    std::size_t replayed() const { return replayed_; }
    /// The search is complete: the file goes.
    void remove();

  private:
    void open_locked();
    void read(const std::string& identity);
    void append(const std::string& line);

    Oracle& oracle_;
    std::filesystem::path file_;
    int descriptor_ = -1;
    std::map<std::string, std::vector<Observation>> known_;  ///< by identity, last answer first
    std::size_t replayed_ = 0;
    std::string header_ = {};  ///< to be written before the first answer
};

}  // namespace whittle::reduce
