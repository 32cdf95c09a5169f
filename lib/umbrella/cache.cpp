#include "umbrella/umbrella.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/kept.h"
#include "base/words.h"
#include "cli/usage.h"
#include "report/show.h"

namespace whittle::umbrella {

namespace {

std::string size_text(std::uintmax_t bytes) { return report::bytes_text(static_cast<std::int64_t>(bytes)); }

std::uintmax_t bytes_of(const std::vector<KeptItem>& items) {
    std::uintmax_t bytes = 0;
    for (const KeptItem& item : items) bytes += item.bytes;
    return bytes;
}

std::string plain_name(const KeptKind& kind) { return std::string(kind.name); }

std::vector<std::string> kind_names() {
    std::vector<std::string> names;
    for (const KeptKind& kind : kept_kinds()) names.push_back(plain_name(kind));
    return names;
}

/// The line of a listing: "ONNX Runtime and the worker for OpenCV, installed by scripts/setup …".
std::string description(const KeptKind& kind) {
    return std::string(kind.what) + (kind.remade ? "" : ", installed by " + std::string(kind.installer));
}

/// Returns the kinds that are remade, or all other kinds, for the help page: "kernels (kernels compiled by Halide); …".
std::string kinds_text(bool remade) {
    std::vector<std::string> all;
    for (const KeptKind& kind : kept_kinds())
        if (kind.remade == remade) all.push_back(plain_name(kind) + " (" + description(kind) + ")");
    return join(all, "; ");
}

nlohmann::json to_json(const KeptKind& kind, const std::vector<KeptItem>& items) {
    nlohmann::json list = nlohmann::json::array();
    for (const KeptItem& item : items) list.push_back({{"path", item.path.string()}, {"bytes", item.bytes}});
    return {
        {"kind", kind.name}, {"what", kind.what}, {"remade", kind.remade}, {"bytes", bytes_of(items)}, {"items", list}};
}

/// Throws Error for a name that no kind has.
std::vector<const KeptKind*> kinds_called(const std::vector<std::string>& names) {
    std::vector<const KeptKind*> kinds;
    for (const std::string& name : names) {
        const auto found = std::ranges::find(kept_kinds(), name, &KeptKind::name);
        if (found == kept_kinds().end())
            throw cli::invalid_value(name, "KIND", "expected one of " + join(kind_names()),
                                     did_you_mean(name, kind_names()));
        kinds.push_back(&*found);
    }
    return kinds;
}

}  // namespace

CacheCommand::CacheCommand()
    : clear_(
          "whittle cache clear", "[KIND…]",
          "Delete the files of each KIND. Default: the kinds that Whittle recreates when needed, in $WHITTLE_CACHE_DIR "
          "(default: ~/.cache/whittle): " +
              kinds_text(true) +
              ". The other kinds are installed software, in $XDG_DATA_HOME/whittle (default: "
              "~/.local/share/whittle), and are deleted only with --force: " +
              kinds_text(false) + ". -n (--dry-run): only print what would be deleted.") {
    clear_.positional("KIND", kinds_, "One of " + join(kind_names()) + ".", false);
    clear_.offers(kind_names);
    clear_.flag("-n,--dry-run", dry_, "Print what would be deleted, and delete nothing.");
    clear_.flag("--force", force_, "Also delete installed software, which must then be installed again.");
    clear_.example("whittle cache clear", "delete compiled kernels");
    clear_.example("whittle cache clear --dry-run releases",
                   "list the installed compiler releases, and delete nothing");
    clear_.example("whittle cache clear --force releases", "delete the installed compiler releases");
    tool.example("whittle cache", "list the files that are kept");
    tool.example("whittle cache clear", "delete compiled kernels");
    tool.command(list_, [this] { return list(list_); });
    tool.command(clear_, [this] { return clear(); });
}

int CacheCommand::list(const cli::Tool& told) const {
    nlohmann::json kinds = nlohmann::json::array();
    std::uintmax_t total = 0;
    for (const KeptKind& kind : kept_kinds()) {
        const std::vector<KeptItem> items = kept_items(kind.name);
        total += bytes_of(items);
        kinds.push_back(to_json(kind, items));
        if (told.shared().json) continue;
        std::printf("%-9s %9s  %s\n", plain_name(kind).c_str(), size_text(bytes_of(items)).c_str(),
                    description(kind).c_str());
        for (const KeptItem& item : items)
            std::printf("%-9s %9s    %s\n", "", size_text(item.bytes).c_str(), item.path.c_str());
    }
    if (told.shared().json)
        cli::print_json({{"kinds", kinds}, {"bytes", total}});
    else
        std::printf("%-9s %9s\n", "total", size_text(total).c_str());
    return 0;
}

void CacheCommand::refuse_installed(const std::vector<const KeptKind*>& wanted) const {
    if (force_ || dry_) return;
    for (const KeptKind* kind : wanted)
        if (!kind->remade && !kept_items(kind->name).empty())
            throw Error("'" + plain_name(*kind) +
                            "' is installed software, which Whittle does not recreate: --force deletes it",
                        "to list the files: " + clear_.command_with("--dry-run") + "; to install them again, use " +
                            std::string(kind->installer));
}

int CacheCommand::clear() const {
    std::vector<const KeptKind*> wanted = kinds_called(kinds_);
    if (kinds_.empty())
        for (const KeptKind& kind : kept_kinds())
            if (kind.remade) wanted.push_back(&kind);
    refuse_installed(wanted);
    std::string text;
    nlohmann::json cleared = nlohmann::json::array();
    for (const KeptKind& kind : kept_kinds()) {
        const std::vector<KeptItem> items = kept_items(kind.name);
        const std::string begin = plain_name(kind) + ": " + size_text(bytes_of(items));
        if (std::ranges::find(wanted, &kind) == wanted.end()) {
            if (kinds_.empty() && !items.empty())
                text += begin + " kept, because Whittle does not recreate these files; to delete the files: " +
                        clear_.called() + " --force " + plain_name(kind) + "\n";
            continue;
        }
        if (!dry_)
            for (const KeptItem& item : items) whittle::clear(item);
        cleared.push_back(to_json(kind, items));
        const bool again = !kind.remade && !items.empty();
        text += begin + (dry_ ? " would be deleted" : " deleted") +
                (again ? "; to install again: " + std::string(kind.installer) : "") + "\n";
        if (dry_)
            for (const KeptItem& item : items) text += "  " + item.path.string() + "\n";
    }
    nlohmann::json json = {{"cleared", cleared}};
    if (dry_) json["dry_run"] = true;
    if (clear_.shared().json)
        cli::print_json(json);
    else
        std::cout << text;
    return 0;
}

}  // namespace whittle::umbrella
