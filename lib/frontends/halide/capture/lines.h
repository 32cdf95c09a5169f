// The file of a process: a line of JSON for each thing that happens.
#pragma once

#include <string>

namespace whittle::halide_capture {

/// A line of the file; nothing where none was asked for.
void write_line(const std::string& json);
/// As a string of JSON.
std::string quote(const std::string& text);
/// {"event": WHAT, "of": DIRECTIVE, "needs": DIRECTIVE, "text": TEXT}
void write_event(const std::string& what, int of, int needs, const std::string& text);

}  // namespace whittle::halide_capture
