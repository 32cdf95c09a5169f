#include "base/pattern.h"

#include <re2/re2.h>

#if __has_include(<re2/stringpiece.h>)
#include <re2/stringpiece.h>
#endif

#include "base/error.h"

namespace whittle {

namespace {

// A class of RE2's own; later the standard's.
#if __has_include(<re2/stringpiece.h>)
using Piece = re2::StringPiece;
#else
using Piece = std::string_view;
#endif

}  // namespace

Pattern::Pattern(const std::string& option, const std::string& pattern) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    compiled_ = std::make_unique<re2::RE2>(pattern, options);
    if (compiled_->ok()) return;
    const std::string part = compiled_->error_arg();
    const std::size_t at = part.empty() || part == pattern ? std::string::npos : pattern.find(part);
    const std::string place = at == std::string::npos ? "" : "character " + std::to_string(at + 1);
    throw Error({option, place}, "'" + pattern + "' is not a regular expression: " + compiled_->error(),
                "the syntax is RE2's: no back-references, no look-around");
}

Pattern::~Pattern() = default;
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;

std::optional<std::vector<std::string>> Pattern::groups_of(std::string_view text) const {
    const int count = compiled_->NumberOfCapturingGroups();
    std::vector<Piece> parts(static_cast<std::size_t>(count) + 1);
    const Piece all(text.data(), text.size());
    if (!compiled_->Match(all, 0, all.size(), re2::RE2::ANCHOR_BOTH, parts.data(), count + 1)) return std::nullopt;
    std::vector<std::string> groups;
    for (std::size_t i = 1; i < parts.size(); ++i)
        groups.push_back(parts[i].data() ? std::string(parts[i].data(), parts[i].size()) : "");
    return groups;
}

std::string Pattern::replaced(std::string text, std::string_view by) const {
    re2::RE2::GlobalReplace(&text, *compiled_, Piece(by.data(), by.size()));
    return text;
}

bool Pattern::found_in(std::string_view text) const {
    return re2::RE2::PartialMatch(Piece(text.data(), text.size()), *compiled_);
}

}  // namespace whittle
