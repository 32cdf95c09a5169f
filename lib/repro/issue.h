// The text of a bug report for the tracker of the compiler that fails.
#pragma once

#include <string>

#include "repro/repro.h"

namespace whittle::repro {

/// Markdown, in the form of the tracker: a line "Title: …", what happens, the program (within the text where it is
/// short, else by its name), how it is built, what it prints, versions. Boxes of the form that only a person can tick
/// stay open.
std::string issue_text(const Repro& repro, const Options& options);

/// What only a person can say of it, a line for each: for who sends it. Of the current release nothing where others
/// were asked and one of them fails, too, or the user states something.
std::string before_sending(const Repro& repro, const Options& options);

}  // namespace whittle::repro
