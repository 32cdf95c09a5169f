// Stacks of programs that an interpreter runs, without one.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "frontends/libtorch/stack_reader.h"
#include "frontends/libtorch/symbolizer.h"

namespace whittle::libtorch {

inline constexpr const char* kFunctional = "/usr/lib/python3/dist-packages/torch/nn/functional.py";
inline constexpr const char* kModule = "/usr/lib/python3/dist-packages/torch/nn/modules/module.py";

/// As CPython of Debian says, in an environment.
inline const std::vector<LibraryFolder> kLibraries = {
    {LibraryFolder::standard, "/usr/lib/python3.11/"},
    {LibraryFolder::packages, "/usr/lib/python3/dist-packages/"},
    {LibraryFolder::packages, "/home/me/venv/lib/python3.11/site-packages/"}};

/// Stacks of a program that an interpreter runs, innermost places first.
class Interpreted {
  public:
    explicit Interpreted(Language language = Language::python) : language_(language) {
        file.runs_python = language == Language::python;
        if (file.runs_python) file.python_libraries = kLibraries;
    }

    std::uint32_t stack(const std::vector<SourcePlace>& places) {
        const auto number = static_cast<std::uint32_t>(file.stacks.size() + 1);
        for (SourcePlace place : places) {
            place.language = language_;
            file.places[file.places.size() + 1] = place;
            file.stacks[number].push_back(file.places.size());
        }
        return number;
    }
    StackInfo info(const std::vector<SourcePlace>& places, const std::vector<std::string>& functions = {}) {
        const std::uint32_t number = stack(places);
        Symbolizer symbolizer(file);
        return StackReader(file, symbolizer, functions).info(number);
    }

    EventFile file = {};

  private:
    const Language language_;
};

inline SourcePlace mine(const std::string& function, int line, std::uint64_t module = 0) {
    return {.module = module, .line = line, .file = "/home/me/train.py", .function = function, .text = ""};
}

inline SourcePlace library(const std::string& file, const std::string& function, std::uint64_t module = 0) {
    return {.module = module, .line = 1, .file = file, .function = function, .text = ""};
}

}  // namespace whittle::libtorch
