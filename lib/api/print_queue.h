// What print_later() keeps until its values are there.
#pragma once

#include <string>
#include <vector>

#include "api/impl.h"

namespace whittle::api {

class PrintQueue {
  public:
    /// `texts` stand before, between and behind the tensors, of which the session's pending ones are kept.
    void add(std::vector<std::string> texts, const TensorList& tensors, const Session& session);
    bool empty() const { return pieces_.empty(); }
    /// Calls f(Tensor&) for each that is kept.
    template <class F>
    void for_each(F&& f) {
        for (Piece& piece : pieces_)
            if (piece.tensor.defined()) f(piece.tensor);
    }
    /// All of it, in order; every tensor has its value.
    void print();
    void clear() { pieces_.clear(); }

  private:
    struct Piece {
        std::string text;
        Tensor tensor;  ///< undefined: the text
    };
    std::vector<Piece> pieces_;
};

}  // namespace whittle::api
