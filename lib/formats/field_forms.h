// How members of described structs (fields.h) are in JSON where their type alone does not say it. For headers: no
// JSON library is needed to list fields.
#pragma once

namespace whittle {

/// As the member's type says.
struct Plain {};
/// A number of 0 or more.
struct Count {};
/// A path relative to the file's folder, or to that of the trace, which it does not leave.
struct InFolder {};
/// Of an optional: null where it is empty.
struct OrNull {};
/// A list on one line where others have a line for each entry.
struct OneLine {};
/// A text that matches a regular expression. The schema says so; readers take any text.
struct Matching {
    const char* pattern;
};
/// A text that is not chosen by us but by one of these words. The schema says so; readers take any text.
struct OneOf {
    const char* words;  ///< "schedule lowering pass"
};

}  // namespace whittle
