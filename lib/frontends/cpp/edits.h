// Text inserted into a source file: insertions are collected in any order and applied at once. No line is added.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::cpp {

/// Insertions nest as the constructs that they wrap do: at one place what ends stands before what begins; outer
/// constructs, which are collected first, begin first and end last.
class Edits {
  public:
    void begin(std::size_t offset, std::string text) { all_.push_back({offset, true, all_.size(), std::move(text)}); }
    void end(std::size_t offset, std::string text) { all_.push_back({offset, false, all_.size(), std::move(text)}); }
    bool empty() const { return all_.empty(); }

    std::string apply(std::string_view source) const {
        std::vector<Edit> sorted = all_;
        std::sort(sorted.begin(), sorted.end(), [](const Edit& a, const Edit& b) {
            if (a.offset != b.offset) return a.offset < b.offset;
            if (a.begins != b.begins) return b.begins;
            return a.begins ? a.number < b.number : a.number > b.number;
        });
        std::string result;
        std::size_t done = 0;
        for (const Edit& edit : sorted) {
            result.append(source.substr(done, edit.offset - done)).append(edit.text);
            done = edit.offset;
        }
        return result.append(source.substr(done));
    }

  private:
    struct Edit {
        std::size_t offset;
        bool begins;
        std::size_t number;
        std::string text;
    };
    std::vector<Edit> all_;
};

}  // namespace whittle::cpp
