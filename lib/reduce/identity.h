// What a candidate is: one hash of everything that its answer depends on. The cache, the journal and queries that were
// started ahead all know a candidate by it.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "reduce/oracle.h"

namespace whittle::reduce {

class Identity {
  public:
    /// Answers depend on the oracle's question too (Oracle::question()), which is asked for here.
    explicit Identity(const Oracle& oracle);

    /// Hash of the graph as it is printed (names count: a command may look for them), its attributes, its nested
    /// graphs, the inputs and the oracle's configuration; of a file, of its contents. Of a part of one, its nodes say
    /// which.
    std::string operator()(const Case& candidate);

  private:
    void add(std::string& text, const Graph& graph);
    std::string hash_of(const Tensor& tensor);

    struct Known {
        std::weak_ptr<const Storage> storage;
        std::string hash;
    };
    std::string configuration_;
    std::map<std::string, Known> known_;  ///< of tensors, by where they lie: weights come again in every candidate
};

}  // namespace whittle::reduce
