// Descriptions of probed source files: functions, places of the probes and predicted breaks. `trace cc` puts them into
// the object file (section "whittle_static"), so that a program tells what its sources would; `trace` keeps them in
// static.json of its folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "frontends/cpp/analysis.h"

namespace whittle::cpp {

/// One file; its path is absolute.
struct StaticTables {
    Analysis analysis = {};
    std::vector<Site> sites = {};
    bool operator==(const StaticTables&) const = default;
};

/// As one line of JSON. What is not UTF-8 in the source's text is replaced.
std::string description(const StaticTables& tables);

/// The descriptions in an executable or shared library (ELF, 64 bits); none when it was not compiled by `trace cc`, or
/// is no such file. Throws Error for a damaged one.
std::vector<StaticTables> read_program(const std::filesystem::path& program);

/// What they are kept in.
inline constexpr const char* kDescriptions = "static.json";
/// Writes folder/static.json, atomically; returns false when there is nothing to write.
bool save_descriptions(const std::filesystem::path& folder, const std::vector<StaticTables>& files);
/// What was written there, or nothing. Throws Error with file and JSON pointer.
std::vector<StaticTables> load_descriptions(const std::filesystem::path& folder);

}  // namespace whittle::cpp
