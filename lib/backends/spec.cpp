#include "backends/spec.h"

#include "base/subprocess.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kCommand = "cmd:", kWorker = "worker:", kLibrary = ".so", kExplain = "explain";

template <class... F>
struct Cases : F... {
    using F::operator()...;
};
template <class... F>
Cases(F...) -> Cases<F...>;

}  // namespace

BackendSpec::BackendSpec(std::string_view text) {
    if (text.starts_with(kExplain) && text.substr(kExplain.size()).starts_with('(') && text.ends_with(')')) {
        const std::size_t begin = kExplain.size() + 1;
        value_ = WrappedBackend{std::string(kExplain), std::string(text.substr(begin, text.size() - begin - 1))};
    } else if (text.starts_with(kCommand)) {
        value_ = CommandBackendSpec{std::string(text.substr(kCommand.size()))};
    } else if (text.starts_with(kWorker)) {
        value_ = CommandBackendSpec{std::string(text.substr(kWorker.size())), true};
    } else if (const std::size_t suffix = text.rfind(".so:"); suffix != std::string_view::npos) {
        const std::size_t end = suffix + kLibrary.size();
        value_ = LibraryBackend{text.substr(0, end), std::string(text.substr(end + 1))};
    } else if (text.find('/') != std::string_view::npos || fs::path(text).extension() == kLibrary) {
        value_ = LibraryBackend{text, {}};
    } else {
        value_ = NamedBackend{std::string(text)};
    }
}

bool BackendSpec::empty() const {
    const auto* named = std::get_if<NamedBackend>(&value_);
    return named && named->name.empty();
}

std::string BackendSpec::text() const {
    return std::visit(Cases{[](const NamedBackend& named) { return named.name; },
                            [](const LibraryBackend& library) {
                                return library.library.string() + (library.name.empty() ? "" : ":" + library.name);
                            },
                            [](const CommandBackendSpec& command) {
                                return std::string(command.worker ? kWorker : kCommand) + command.line;
                            },
                            [](const WrappedBackend& wrapped) { return wrapped.wrapper + "(" + wrapped.inner + ")"; }},
                      value_);
}

BackendSpec BackendSpec::with_files(const std::function<std::string(const std::string&)>& moved) const {
    BackendSpec spec = *this;
    std::visit(
        Cases{[](NamedBackend&) {}, [&](LibraryBackend& library) { library.library = moved(library.library.string()); },
              [&](CommandBackendSpec& command) {
                  std::vector<std::string> words = shell_split(command.line);
                  for (std::string& word : words)
                      if (word.starts_with("./") || word.starts_with("../")) word = moved(word);
                  command.line = shell_quote(words);
              },
              [&](WrappedBackend& wrapped) { wrapped.inner = BackendSpec(wrapped.inner).with_files(moved).text(); }},
        spec.value_);
    return spec;
}

}  // namespace whittle
