#include "cli/limits.h"

#include <fmt/format.h>

#include <string>

#include "cli/tool.h"
#include "cli/usage.h"

namespace whittle::cli {

void LimitOptions::declare(Tool& tool, const char* what) {
    const std::string subject = what;
    tool.section("Limits");
    tool.option("--timeout", timeout, "S", "Time limit for " + subject + ", in seconds. Default: 60.");
    tool.option(
        "--cpu-limit", cpu, "S",
        "CPU time limit for " + subject + ", in seconds; counts the time of child processes, too. Default: no limit.");
    tool.option("--memory-limit", memory, "MB",
                "Memory limit for " + subject + ", in MB; counts the memory of child processes, too. Default: 4096.");
}

Limits LimitOptions::limits() const {
    require_range("--timeout", timeout, 0.001, 1e9);
    if (cpu) require_range("--cpu-limit", *cpu, 1, 1e9);
    require_range("--memory-limit", memory, 1, 1 << 24);
    Limits limits;
    limits.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(timeout * 1000));
    limits.memory = static_cast<std::size_t>(memory) << 20;
    if (cpu) limits.cpu = std::chrono::seconds(*cpu);
    return limits;
}

std::vector<std::string> LimitOptions::words() const {
    const LimitOptions defaults;
    std::vector<std::string> words;
    if (timeout != defaults.timeout) words.insert(words.end(), {"--timeout", fmt::format("{}", timeout)});
    if (cpu) words.insert(words.end(), {"--cpu-limit", std::to_string(*cpu)});
    if (memory != defaults.memory) words.insert(words.end(), {"--memory-limit", std::to_string(memory)});
    return words;
}

}  // namespace whittle::cli
