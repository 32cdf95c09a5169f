// Where a graph's input came from, as the user would write it: a parameter, a member of one, a global, a value that was
// alive at a break. Two inputs with the same source are one placeholder; guards are told in terms of sources.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace whittle::capture {

enum class SourceKind : std::uint8_t {
    local,      ///< a parameter or local variable of the frame: L['x']
    global,     ///< G['table']
    attribute,  ///< a member: BASE.weight
    item,       ///< an element of a tuple, list or array: BASE[2]
    live,       ///< a value that was alive at the break before this graph: ___live[0]
    random,     ///< a random value drawn before the graph: ___random[0]
    state,      ///< global state of the program: grad mode, default dtype …
};

/// A value: copying shares the base.
class Source {
  public:
    static Source local(std::string name);
    static Source global(std::string name);
    static Source live(std::int64_t index);
    static Source random(std::int64_t index);
    static Source state(std::string name);
    Source attribute(std::string name) const;
    Source item(std::int64_t index) const;

    SourceKind kind() const { return kind_; }
    /// The innermost name: "x" of L['x'], "weight" of L['self'].weight, "2" of L['xs'][2].
    const std::string& name() const { return name_; }
    const Source* base() const { return base_.get(); }
    /// The outermost source: L['self'] of L['self'].weight.
    const Source& root() const { return base_ ? base_->root() : *this; }

    /// The same place in another local: L['a'].x of L['b'].x.
    Source with_root(const std::string& name) const;

    /// TorchDynamo's spelling: "L['self'].weight[0]". Unique: equal text, equal source.
    std::string text() const;
    /// What text() wrote; nothing for other text.
    static std::optional<Source> parse(std::string_view text);
    /// What a placeholder of it is called: "l_self_weight_0".
    std::string placeholder_name() const;
    bool operator==(const Source& other) const { return text() == other.text(); }

  private:
    Source(SourceKind kind, std::string name, std::shared_ptr<const Source> base = nullptr)
        : kind_(kind), name_(std::move(name)), base_(std::move(base)) {}

    SourceKind kind_;
    std::string name_;
    std::shared_ptr<const Source> base_;
};

}  // namespace whittle::capture
