// Sources that this process wrote, built and loaded into it: what a debugger steps through in place of an interpreter
// or of machine code that was made in memory.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace whittle {

class BuiltCode {
  public:
    /// Builds the C++ file as a shared library beside it, with debug information and without optimization, and loads it
    /// for good. `words` follow the file on the compiler's command line. Throws Error with what the compiler or the
    /// loader says.
    explicit BuiltCode(const std::filesystem::path& source, const std::vector<std::string>& words);

    /// Its symbol (extern "C"), as an F: a function type. Throws Error where it has none.
    template <class F>
    F* function(const char* name) const {
        return reinterpret_cast<F*>(symbol(name));
    }

  private:
    void* symbol(const char* name) const;

    std::filesystem::path library_;
    void* handle_ = nullptr;
};

}  // namespace whittle
