// The static tables that a probed file carries: text of C++ that stands in front of it. Layout: probe/probe.h.
#pragma once

#include <string>

#include "frontends/cpp/analysis.h"

namespace whittle::cpp {

/// A C++ string literal that no compiler reads otherwise: printable ASCII, without trigraphs.
std::string cpp_literal(const std::string& text);

/// The whole file to compile: an include of `probe_header`, the tables, and probed.text numbered from line 1 of
/// `probed.analysis.file`. `path` is what the tables call the file.
std::string probed_file(const Probed& probed, const std::string& path, const std::string& probe_header);

}  // namespace whittle::cpp
