// Machine code in memory, from an object file. C++17 only: LLVM 14's headers ask for it.
#pragma once

#include <memory>
#include <string>

namespace whittle::halide {

/// An object file of this machine's format, loaded. Its code goes with it.
class LoadedObject {
  public:
    /// What it needs and does not define is looked for in `library` (if any), then among the process's symbols. Null
    /// and a reason in `error` when something is missing or the object is damaged. `library` must outlive it.
    static std::unique_ptr<LoadedObject> load(const std::string& object, const LoadedObject* library,
                                              std::string& error);
    ~LoadedObject();
    LoadedObject(const LoadedObject&) = delete;

    /// Those of the object as it was compiled: free of the names of symbols, and of the addresses that they were given.
    const std::string& instructions() const { return instructions_; }

    /// Null when it defines no such symbol.
    void* find(const std::string& name) const;

  private:
    struct Memory;
    LoadedObject();
    std::unique_ptr<Memory> memory_;
    std::string instructions_;
};

}  // namespace whittle::halide
