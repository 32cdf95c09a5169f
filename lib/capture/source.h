// Where a graph's input came from, as the user would write it: a parameter, a member of one, a global, a value that was
// alive at a break. Two inputs with the same source are one placeholder; guards are told in terms of sources.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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
    condition,  ///< of a branch of the program: (n > 2)
    operand,    ///< a number that the program passes to an operation: aten.mul.Tensor other
};

/// A value: a tree whose copies share their base. Its hash is computed once; equal is what has the same parts.
class Source {
  public:
    static Source local(std::string name);
    static Source global(std::string name);
    static Source live(std::int64_t index);
    static Source random(std::int64_t index);
    static Source state(std::string name);
    /// `text` as the program writes it, in this line.
    static Source condition(std::string text, std::int64_t line);
    /// `text`: the operation and its parameter.
    static Source operand(std::string text);
    Source attribute(std::string name) const;
    Source item(std::int64_t index) const;

    SourceKind kind() const { return kind_; }
    /// The innermost name: "x" of L['x'], "weight" of L['self'].weight; empty where a number stands.
    const std::string& name() const { return name_; }
    /// The innermost number: 2 of L['xs'][2], of ___live[2]; the line of a condition; 0 where a name stands.
    std::int64_t index() const { return index_; }
    const Source* base() const { return base_.get(); }
    /// The outermost source: L['self'] of L['self'].weight.
    const Source& root() const { return base_ ? base_->root() : *this; }

    /// The same place in another local: L['a'].x of L['b'].x.
    Source with_root(const std::string& name) const;

    std::size_t hash() const { return hash_; }

    /// TorchDynamo's spelling: "L['self'].weight[0]".
    std::string text() const;
    /// What text() wrote; nothing for other text.
    static std::optional<Source> parse(std::string_view text);
    /// What a placeholder of it is called: "l_self_weight_0".
    std::string placeholder_name() const;
    bool operator==(const Source& other) const;

  private:
    Source(SourceKind kind, std::string name, std::int64_t index, std::shared_ptr<const Source> base = nullptr);

    SourceKind kind_;
    std::string name_;
    std::int64_t index_;
    std::shared_ptr<const Source> base_;
    std::size_t hash_;
};

}  // namespace whittle::capture

template <>
struct std::hash<whittle::capture::Source> {
    std::size_t operator()(const whittle::capture::Source& source) const { return source.hash(); }
};
