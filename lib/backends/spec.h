// BackendSpec: what --backend names, as a value. Parsed once, here; printed and stored (records, failures, journals,
// --json) as text(), which parses to the same again.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace whittle {

/// Built in, or exported by a library or described by a folder in one of backend_folders().
struct NamedBackend {
    std::string name;
    bool operator==(const NamedBackend&) const = default;
};
/// A shared library, and the name of one of its backends where it has several.
struct LibraryBackend {
    std::filesystem::path library;
    std::string name = {};
    bool operator==(const LibraryBackend&) const = default;
};
/// A command line that is run for each query (backends/command/command.h), or a worker's, which is asked again and
/// again (backends/command/worker.h).
struct CommandBackendSpec {
    std::string line;
    bool worker = false;
    bool operator==(const CommandBackendSpec&) const = default;
};

/// explain(BACKEND): a backend that wraps another one (backends/debug/explain.cpp).
struct WrappedBackend {
    std::string wrapper, inner;
    bool operator==(const WrappedBackend&) const = default;
};

class BackendSpec {
  public:
    /// Names none.
    BackendSpec() = default;
    /// NAME, PATH/LIB.so[:NAME], cmd:PROGRAM ARGS, worker:PROGRAM ARGS or explain(BACKEND); "" names none.
    BackendSpec(std::string_view text);
    BackendSpec(const std::string& text) : BackendSpec(std::string_view(text)) {}
    BackendSpec(const char* text) : BackendSpec(std::string_view(text)) {}

    bool empty() const;
    std::string text() const;
    const std::variant<NamedBackend, LibraryBackend, CommandBackendSpec, WrappedBackend>& value() const {
        return value_;
    }
    bool operator==(const BackendSpec&) const = default;

    /// The same with each file that it names by a path (a library; words of a command that begin with ./ or ../) as
    /// `moved` gives it.
    BackendSpec with_files(const std::function<std::string(const std::string&)>& moved) const;

  private:
    std::variant<NamedBackend, LibraryBackend, CommandBackendSpec, WrappedBackend> value_;
};

/// The backend that results are compared with; it interprets the graph as it was captured.
inline constexpr std::string_view kReferenceBackend = "eager";
/// Where nobody names a suspect.
inline constexpr std::string_view kDefaultSuspect = "halide";

}  // namespace whittle
