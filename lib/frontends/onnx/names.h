// Unique identifiers along a chain of nested graphs. Internal.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "graph/graph.h"

namespace whittle::onnx_proto {

/// Names in use in one graph; those of the graphs around it count too, so that what a nested graph reads from around it
/// can keep its name.
class NameScope {
  public:
    explicit NameScope(const NameScope* outer = nullptr) : outer_(outer) {}

    /// `base`, or base_1, base_2 …: the first that is free. It is taken now.
    std::string take(const std::string& base) {
        if (!taken(base)) return *taken_.insert(base).first;
        int& suffix = next_suffix_[base];
        for (;;) {
            std::string name = base + "_" + std::to_string(++suffix);
            if (!taken(name)) return *taken_.insert(std::move(name)).first;
        }
    }

    /// Nothing has the name after all.
    void release(const std::string& name) {
        taken_.erase(name);
        next_suffix_.erase(name.substr(0, name.rfind('_')));
    }

    bool taken(const std::string& name) const { return taken_.count(name) != 0 || (outer_ && outer_->taken(name)); }

  private:
    const NameScope* outer_;
    std::unordered_set<std::string> taken_;
    std::unordered_map<std::string, int> next_suffix_;
};

}  // namespace whittle::onnx_proto
