// Sections of a list of expectations that hold for some versions of a library only.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace whittle::test {

/// "2.14.1" as numbers. What follows a number is left out: "2.6.0+debian" is 2.6.0.
inline std::vector<int> version_numbers(const std::string& version) {
    std::vector<int> numbers;
    std::istringstream in(version);
    for (std::string part; std::getline(in, part, '.');) numbers.push_back(std::atoi(part.c_str()));
    while (!numbers.empty() && numbers.back() == 0) numbers.pop_back();  // 2.0 is 2
    return numbers;
}

/// Which lines of a list count. "[LibTorch < 2]" is the head of lines for versions of LibTorch below 2,
/// "[LibTorch >= 2 < 2.14]" of lines for a range of versions, and "[LibTorch]" of lines for all versions, like those
/// above the first head.
class VersionSections {
  public:
    VersionSections(std::string library, const std::string& version)
        : library_(std::move(library)), version_(version_numbers(version)) {}

    /// Returns whether this line counts; heads do not. Lines must come in order. Throws Error for a malformed head.
    bool counts(const std::string& line) {
        if (!line.starts_with('[')) return holds_;
        std::string inside = line.substr(1);
        const bool closed = inside.ends_with(']');
        if (closed) inside.pop_back();
        std::istringstream words(inside);
        std::string library, comparison, version;
        words >> library;
        if (!closed || library != library_)
            throw Error("found the head '" + line + "', expected one like '[" + library_ + " < 2]'");
        holds_ = true;
        while (words >> comparison) {
            if (!(words >> version) || (comparison != "<" && comparison != ">="))
                throw Error("found the head '" + line + "', expected '<' or '>=' and a version");
            holds_ = holds_ && (version_ < version_numbers(version)) == (comparison == "<");
        }
        return false;
    }

  private:
    std::string library_;
    std::vector<int> version_;
    bool holds_ = true;
};

}  // namespace whittle::test
