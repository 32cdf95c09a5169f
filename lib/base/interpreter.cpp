#include "base/interpreter.h"

#include <algorithm>
#include <string_view>

#include "base/hash.h"
#include "base/words.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

struct Interpreter {
    std::string_view name;        ///< "python" of python3.11
    std::string_view take_value;  ///< letters of options
    bool is_python = false;       ///< else a shell
};

constexpr Interpreter kInterpreters[] = {
    {"python", "WX", true}, {"pypy", "WX", true}, {"bash", "oO"}, {"dash", "o"},
    {"ksh", "o"},           {"sh", "o"},          {"zsh", "o"},
};

/// Null: it is none. Behind the name stand a version and a letter of the build: "python3.13t", "python3-dbg".
const Interpreter* interpreter_called(std::string_view file) {
    constexpr std::string_view kBuilds[] = {"", "d", "m", "t", "-dbg"};
    for (const Interpreter& known : kInterpreters) {
        if (!file.starts_with(known.name)) continue;
        std::string_view build = file.substr(known.name.size());
        build.remove_prefix(std::min(build.find_first_not_of("0123456789."), build.size()));
        if (std::ranges::find(kBuilds, build) != std::end(kBuilds)) return &known;
    }
    return nullptr;
}

/// The code; of more than fits, the begin of its first line and a hash that no other code has: "import tor… #1b2c3d4e".
std::string code_title(const std::string& code) {
    constexpr std::size_t kColumns = 40, kDigits = 8;
    const std::string text = code.substr(std::min(code.find_first_not_of(" \t\r\n"), code.size()));
    const std::string shown = shortened(text.substr(0, text.find('\n')), kColumns);
    return shown == code ? code : shown + " #" + content_hash(code).substr(0, kDigits);
}

}  // namespace

std::optional<Interpreted> interpreted(const fs::path& program, std::span<const std::string> arguments) {
    using enum Interpreted::Kind;
    constexpr std::string_view kLongTakeValue[] = {"--check-hash-based-pycs", "--init-file", "--rcfile"};
    const Interpreter* const known = interpreter_called(program.filename().string());
    if (!known) return std::nullopt;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& word = arguments[i];
        const auto next = [&](Interpreted::Kind kind) -> std::optional<Interpreted> {
            if (i + 1 == arguments.size()) return std::nullopt;
            return Interpreted{kind, arguments[i + 1]};
        };
        if (word == "--") return next(script);
        if (word == "-") return std::nullopt;
        if (word.starts_with("--")) {
            if (std::ranges::find(kLongTakeValue, word) != std::end(kLongTakeValue)) ++i;
            continue;
        }
        const bool is_option = word.starts_with('-') || (word.starts_with('+') && !known->is_python);
        if (!is_option) return Interpreted{script, word};
        for (std::size_t k = 1; k < word.size(); ++k) {
            const bool is_module = word[k] == 'm' && known->is_python, is_code = word[k] == 'c';
            const bool has_value = known->take_value.find(word[k]) != std::string_view::npos;
            if (!is_module && !is_code && !has_value) continue;
            const std::string attached = known->is_python ? word.substr(k + 1) : "";  // a shell has letters there
            if (attached.empty() && has_value) ++i;
            if (has_value) break;
            const Interpreted::Kind kind = is_module ? module_name : code;
            return attached.empty() ? next(kind) : Interpreted{kind, attached};
        }
    }
    return std::nullopt;
}

fs::path program_identity(const fs::path& program, std::span<const std::string> arguments) {
    const std::optional<Interpreted> runs = interpreted(program, arguments);
    if (!runs) return program;
    if (runs->kind != Interpreted::Kind::code) return runs->text;
    return program.filename().string() + " -c " + code_title(runs->text);
}

}  // namespace whittle
