// The specializations of one compiled function: which of them fits a call, and if none does, why not.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "capture/guard.h"

namespace whittle::capture {

/// What a call found at its sources, in order: its arguments and the global state. For one thread.
class FoundInputs {
  public:
    FoundInputs() = default;
    FoundInputs(std::initializer_list<std::pair<Source, Found>> entries) : entries_(entries) {}

    void add(Source source, Found found) { entries_.emplace_back(std::move(source), std::move(found)); }
    /// Null where nothing is there. Guards are checked in the order of the inputs that they are about: the search goes
    /// on where the last one ended, and is done at the first look then.
    const Found* find(const Source& source) const;

    auto begin() const { return entries_.begin(); }
    auto end() const { return entries_.end(); }

  private:
    std::vector<std::pair<Source, Found>> entries_;
    mutable std::size_t next_ = 0;
};

/// When sizes may vary without a recompile.
enum class DynamicSizes : std::uint8_t {
    automatic,  ///< a size that was seen with a second value
    always,     ///< every size of at least 2
    never,
};

/// The graphs that a call ran, in order, by identity.
using Graphs = std::vector<const void*>;

/// Bounds of a size, both included.
struct SizeRange {
    std::optional<std::int64_t> least = {}, most = {};
    bool holds(std::int64_t size) const { return (!least || size >= *least) && (!most || size <= *most); }
};

class FrameCache {
  public:
    explicit FrameCache(std::size_t limit, DynamicSizes dynamic = DynamicSizes::automatic)
        : limit_(limit), dynamic_(dynamic) {}

    struct Entry {
        std::vector<Guard> guards;             ///< in the order of their checks
        std::vector<SizeSymbol> symbols = {};  ///< sizes that may vary …
        std::vector<std::int64_t> sizes = {};  ///< … and what they were in the call that it was made for
        std::uint64_t id = 0;                  ///< never used again
        std::int64_t hits = 0;
        std::optional<Graphs> graphs = {};  ///< that the first call ran
        std::vector<Guard> dropped = {};    ///< scalars that turned out not to matter
        std::vector<Guard> latent = {};     ///< bounds of sizes that may be the program's own
    };

    struct Lookup {
        std::optional<std::size_t> entry = {};  ///< its guards hold; nothing: the limit is reached
        bool added = false;                     ///< it is new
        std::optional<Guard> failed = {};       ///< of the newest entry, where entries existed and none fitted …
        GuardFailure reason = {};               ///< … with what was found
        std::string advice = {};
        std::optional<std::size_t> like = {};  ///< an entry that fits but for scalars
        bool limited() const { return !entry; }
    };
    /// Finds the first entry whose guards hold; else adds one, up to the limit.
    Lookup look_up(const FoundInputs& inputs, const std::vector<StackFrame>& stack = {});

    /// What the call ran. Returns the recompile that there was, if any: graphs other than those that the entry stands
    /// for. A scalar matters only if another value of it makes other graphs: where it did not, its guard is dropped,
    /// and comes back when some value does. So it is with bounds that may be guards.
    struct Outcome {
        std::optional<Violation> recompile = {};
        std::vector<Guard> dropped = {}, restored = {};  ///< of earlier graphs
    };
    Outcome ran(const Lookup& lookup, const FoundInputs& inputs, const Graphs& graphs);

    /// Capture came to rely on it while the entry's first call ran, or a later one: what its graphs ask of sizes that
    /// may vary, state that its code reads.
    void rely_on(std::size_t entry, Guard guard);
    /// What operations ask of a size, as it seems from the numbers that they were called with, which may follow from
    /// the size: it becomes a guard when a call with a size that it refuses makes other graphs, and is forgotten when
    /// such a call makes the same.
    void may_rely_on(std::size_t entry, Guard guard);
    /// The size may vary from the start. What is made for a size in `range` is for sizes in it only.
    void mark_dynamic(const Source& source, std::size_t dim, const SizeRange& range = {});
    bool is_marked(const Source& source, std::size_t dim) const;

    /// A local that guards are about is called `name` from now on.
    void rename(const std::string& before, const std::string& name);
    const std::vector<Entry>& entries() const { return entries_; }

  private:
    Entry specialize(const FoundInputs& inputs, const std::vector<StackFrame>& stack);
    void add_size_guards(Entry& entry, const std::vector<StackFrame>& stack) const;
    /// The entry stood for other graphs, for these guards of it came into force.
    void split(Entry& entry, const FoundInputs& inputs, const Graphs& graphs);
    std::optional<Violation> refused_size(Entry& entry, const FoundInputs& inputs, const Graphs& graphs, bool other);
    void learn_sizes(const FoundInputs& inputs);

    std::size_t limit_;
    DynamicSizes dynamic_;
    std::vector<Entry> entries_;
    std::uint64_t next_id_ = 0;
    std::unordered_map<Source, ValueMeta> seen_;             ///< first meta of a tensor
    std::unordered_map<Source, std::vector<bool>> varying_;  ///< which of its sizes have varied
    /// Those that mark_dynamic() was told of.
    std::unordered_map<Source, std::vector<std::optional<SizeRange>>> marked_;
    std::unordered_set<Source> relied_on_;  ///< scalars that made other graphs
};

}  // namespace whittle::capture
