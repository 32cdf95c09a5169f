// Naming: where the tensors of a frame come from, in the words of its graphs and guards. A tensor that the frame was
// called with has a place among the arguments; another is called as the variable that holds it, where probes told, or
// gets the next number of its kind. No two inputs of a graph have one source.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "capture/source.h"

namespace whittle::capture {

/// Identity of a tensor object in the program, never reused while it is captured; 0: unknown.
using TensorKey = std::uint64_t;

/// What a tensor is that has no name.
enum class Origin : std::uint8_t {
    argument,  ///< from outside the frame: L['arg0']
    constant,  ///< filled with numbers of the host: L['constant0']
    memory,    ///< made without contents, and filled through a pointer: L['memory0']
    global,    ///< from anywhere: G['tensor_0']
    live,      ///< a result of an earlier graph of the frame: ___live[0]
    random,    ///< drawn before the graph: ___random[0]
};

class Naming {
  public:
    // What the frame tells of its tensors, at any time.
    /// The first that is told stays.
    void know(TensorKey key, const Source& source) { sources_.emplace(key, source); }
    void know_parameter(TensorKey key, const std::string& qualified_name) { parameters_.emplace(key, qualified_name); }
    void know_variable(TensorKey key, const Source& name) { variables_.emplace(key, name); }
    void know_origin(TensorKey key, Origin origin) { origins_.emplace(key, origin); }
    /// The local `before` is called `name` from now on, in every source that was told.
    void rename(const std::string& before, const std::string& name);

    /// As it was told; null where it was not.
    const Source* source(TensorKey key) const;
    /// The qualified name of a parameter; null: it is none.
    const std::string* parameter(TensorKey key) const;

    // The inputs of a graph.
    /// The source of a new input: its own, else its variable's, where no input has that, else a number's.
    Source take(TensorKey key);
    /// The same only where it is `wanted`.
    bool take_if(TensorKey key, const Source& wanted);

    /// How far the numbers are, for going back.
    using Numbers = std::array<std::int64_t, 6>;  ///< by Origin
    const Numbers& numbers() const { return numbers_; }
    void restore(const Numbers& numbers) { numbers_ = numbers; }
    void give_back(const Source& source) { taken_.erase(source); }

    /// Another graph, with inputs of its own.
    void begin_graph();

  private:
    Source candidate(TensorKey key, Numbers& numbers) const;

    std::unordered_map<TensorKey, Source> sources_, variables_;
    std::unordered_map<TensorKey, std::string> parameters_;
    std::unordered_map<TensorKey, Origin> origins_;
    std::unordered_set<Source> taken_;
    Numbers numbers_ = {};
};

}  // namespace whittle::capture
