// Regular expressions of the user's over text that we did not write: RE2, whose time is linear in the text and whose
// stack does not grow with it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}

namespace whittle {

class Pattern {
  public:
    /// RE2's syntax: Perl's without back-references and look-around. Throws Error at `option` that shows the place in
    /// `pattern` where it stops being one.
    Pattern(const std::string& option, const std::string& pattern);
    /// One of our own.
    explicit Pattern(const char* pattern) : Pattern("pattern", pattern) {}
    ~Pattern();
    Pattern(Pattern&&) noexcept;
    Pattern& operator=(Pattern&&) noexcept;

    /// Whether some part of the text matches. What is no UTF-8 matches nothing but `\C`.
    bool found_in(std::string_view text) const;
    /// What its groups matched, where it matches all of the text; a group that took no part is empty.
    std::optional<std::vector<std::string>> groups_of(std::string_view text) const;
    /// The text with `by` for each match; \1 in it is what the first group matched.
    std::string replaced(std::string text, std::string_view by) const;

  private:
    std::unique_ptr<re2::RE2> compiled_;
};

}  // namespace whittle
