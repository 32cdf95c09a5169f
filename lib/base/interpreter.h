// Programs that interpreters run: `python3 train.py` is known by its script, not by the interpreter.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace whittle {

/// What an interpreter is given to run.
struct Interpreted {
    enum class Kind {
        script,
        module_name,  ///< of python3 -m
        code          ///< of python3 -c, sh -c
    };
    Kind kind = Kind::script;
    std::string text = {};  ///< the script's path, the module's name, the code
    bool operator==(const Interpreted&) const = default;
};

/// Of a program with its arguments. Nothing: it is none of the interpreters that are known (Python and shells), or it
/// reads what it runs from its standard input.
std::optional<Interpreted> interpreted(const std::filesystem::path& program, std::span<const std::string> arguments);

/// What a program is called, and told from others by: the script or module of an interpreter, "python3 -c CODE", else
/// its own path.
std::filesystem::path program_identity(const std::filesystem::path& program, std::span<const std::string> arguments);

}  // namespace whittle
