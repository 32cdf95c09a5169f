#include "cli/told_variables.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "base/files.h"
#include "base/pattern.h"

namespace whittle::cli {

namespace {

/// Names that are nobody's business, and what stands for them; the longest first.
class Private {
  public:
    Private() {
        if (const char* home = std::getenv("HOME")) hide_folder(home);
        if (const ::passwd* user = ::getpwuid(::getuid())) {
            hide_folder(user->pw_dir);
            if (std::string_view(user->pw_name) != "root") words_[user->pw_name] = "USER";
        }
        if (const std::string host = host_name(); !host.empty()) words_[host] = "HOST";
    }

    /// Whole words only.
    std::string without(std::string text) const {
        for (const auto& [word, instead] : words_)
            for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at)) {
                const bool whole = (at == 0 || !is_part(text[at - 1])) &&
                                   (at + word.size() == text.size() || !is_part(text[at + word.size()]));
                if (whole) text.replace(at, word.size(), instead);
                at += whole ? instead.size() : word.size();
            }
        return text;
    }

  private:
    struct Longer {
        bool operator()(const std::string& a, const std::string& b) const {
            return a.size() != b.size() ? a.size() > b.size() : a < b;
        }
    };
    static bool is_part(char c) { return std::isalnum(static_cast<unsigned char>(c)); }

    void hide_folder(std::string folder) {
        while (folder.ends_with('/')) folder.pop_back();
        if (!folder.empty()) words_[folder] = "~";
    }

    std::map<std::string, std::string, Longer> words_;
};

/// A variable whose name says that its value is a secret.
bool is_secret(std::string name) {
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
    constexpr std::string_view kWords[] = {"TOKEN",      "KEY",  "SECRET", "PASS",   "PWD",
                                           "CREDENTIAL", "AUTH", "COOKIE", "BEARER", "SIGNATURE"};
    return name.ends_with("_PAT") ||  // a personal access token
           std::ranges::any_of(kWords, [&](std::string_view word) { return name.find(word) != name.npos; });
}

/// Without "user:password@" of addresses.
std::string without_passwords(const std::string& text) {
    static const Pattern user("://[^/@\\s]+@");
    return user.replaced(text, "://(left out)@");
}

}  // namespace

std::string without_private(const std::string& text) {
    static const Private names;
    return names.without(without_passwords(text));
}

std::map<std::string, std::string> told_variables() {
    constexpr std::string_view kPrefixes[] = {"WHITTLE_", "HL_", "OMP_", "MKL_", "TORCH_", "PYTORCH_", "ATEN_"};
    constexpr std::string_view kNames[] = {"PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "NODE_PATH"};
    std::map<std::string, std::string> found;
    for (char** variable = ::environ; *variable; ++variable) {
        const std::string_view setting = *variable;
        const std::size_t equals = setting.find('=');
        if (equals == setting.npos) continue;
        const std::string name(setting.substr(0, equals));
        if (std::ranges::count(kNames, name) ||
            std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return name.starts_with(prefix); }))
            found.emplace("$" + name, is_secret(name) ? "(set)" : setting.substr(equals + 1));
    }
    return found;
}

}  // namespace whittle::cli
