// What Whittle keeps in the user's folders from one run to the next: one table of its kinds, which `whittle cache`
// lists and clears. Every folder that is kept is one of these.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle {

struct KeptKind {
    std::string_view name;            ///< "kernels"
    std::string_view what;            ///< a noun phrase
    bool remade;                      ///< Whittle makes it again when it is needed; else the user had it installed
    std::string_view installer = {};  ///< the command that installs it; of what is remade, empty
};
std::span<const KeptKind> kept_kinds();

/// The folder of the kind of that name, which need not be there: below WHITTLE_CACHE_DIR, $XDG_CACHE_HOME/whittle or
/// ~/.cache/whittle what is remade, and what is installed below $XDG_DATA_HOME/whittle or ~/.local/share/whittle
/// (https://specifications.freedesktop.org/basedir-spec). Releases lie in the folders of backends, each in
/// releases/VERSION. Empty: nothing of the kind is kept.
std::filesystem::path kept_folder(std::string_view kind);

/// What is there of a kind: the cache of kernels, one capture library, one backend, one release.
struct KeptItem {
    std::filesystem::path path;
    std::uintmax_t bytes = 0;
    std::vector<std::filesystem::path> parts = {};  ///< that belong to it and go with it
};
/// In order of their paths. Never throws for what lies in the folders; what cannot be read is not there.
std::vector<KeptItem> kept_items(std::string_view kind);

/// Removes the item's parts. Other processes may use them meanwhile: a kernel is compiled again, a library stays
/// loaded. Throws Error naming what cannot be removed.
void clear(const KeptItem& item);

}  // namespace whittle
