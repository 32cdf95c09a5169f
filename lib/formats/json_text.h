// Pieces of JSON text. Our files are written by hand rather than dumped, because they are meant to be read in diffs:
// one node per line.
#pragma once

#include <string>
#include <string_view>

namespace whittle {

/// With quotes and escapes. Throws Error when the text is not UTF-8, which JSON cannot hold.
std::string json_quote(std::string_view text);

/// The same of a text that may be anything: what is not UTF-8 is replaced.
std::string json_text(std::string_view text);

/// The shortest number that reads back as the same double, never in the form of an integer; NaN and infinities, for
/// which JSON has no numbers, as {"float": "nan"}, {"float": "inf"}, {"float": "-inf"}.
std::string json_number(double value);

bool is_utf8(std::string_view text);

/// The text with every byte that is not UTF-8 replaced by U+FFFD: for other programs' words, which are only shown.
std::string as_utf8(std::string_view text);
/// As text or an attribute of HTML; as_utf8().
std::string html_escaped(std::string_view text);
/// Other programs' words as one line for a report: as_utf8, control characters as blanks, not much more than `limit`
/// bytes, whole words where there are several.
std::string as_line(std::string_view text, std::size_t limit = 500);

}  // namespace whittle
