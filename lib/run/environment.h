// What a bug report needs to say of the machine: in records and in the head of repro.cpp. What the build holds
// (version, libraries) is added by whoever knows it.
#pragma once

#include <map>
#include <string>

namespace whittle {

/// "os", "kernel", "cpu", "cores", "memory", "compiler": only what could be found out. Nothing that names the user, the
/// host or a path.
std::map<std::string, std::string> environment();

}  // namespace whittle
