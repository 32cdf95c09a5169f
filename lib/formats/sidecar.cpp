#include "formats/sidecar.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "tensor/safetensors.h"

namespace whittle {

namespace fs = std::filesystem;

namespace {

using Tensors = std::map<std::string, Tensor>;

/// What Whittle wrote there: all its keys are content hashes, where a user's own file, such as model.safetensors, has
/// names.
std::optional<Tensors> ours(const fs::path& sidecar) {
    try {
        Tensors tensors = load_safetensors(sidecar);
        const bool hashes = std::ranges::all_of(tensors, [](const auto& entry) {
            return entry.first.size() >= 16 && entry.first.find_first_not_of("0123456789abcdef") == std::string::npos;
        });
        if (hashes) return tensors;
    } catch (const Error&) {
    }
    return std::nullopt;
}

/// Whether a JSON in the folder other than `path` names the file (a copy of a graph keeps the name).
bool others_need(const fs::path& sidecar, const fs::path& path) {
    const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored))
        if (entry.path().extension() == ".json" && entry.path().filename() != path.filename() &&
            sidecar_named_in(entry.path()).filename() == sidecar.filename())
            return true;
    return false;
}

bool equal(const Tensors& a, const Tensors& b) {
    return std::ranges::equal(
        a, b, [](const auto& x, const auto& y) { return x.first == y.first && same_bits(x.second, y.second); });
}

struct Place {
    fs::path file;
    bool written = false;  ///< it holds these tensors already
};

/// A file of the folder that has them all, by their hashes.
std::optional<fs::path> shared_place(const Tensors& tensors, const fs::path& path) {
    const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
    std::error_code ignored;
    std::set<fs::path> found;  // in order of name
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
        if (entry.path().extension() != ".safetensors") continue;
        const std::optional<Tensors> there = ours(entry.path());
        if (there && std::ranges::all_of(tensors, [&](const auto& needed) { return there->contains(needed.first); }))
            found.insert(entry.path());
    }
    return found.empty() ? std::nullopt : std::optional(*found.begin());
}

/// NAME.safetensors, or the first of NAME.2.safetensors … that nobody else needs, nor `path` as it is now.
Place place_for(const Tensors& tensors, const fs::path& path) {
    const fs::path current = sidecar_named_in(path);
    for (int i = 1;; ++i) {
        fs::path candidate = path;
        candidate.replace_extension((i > 1 ? '.' + std::to_string(i) : "") + ".safetensors");
        std::error_code ignored;
        if (!fs::exists(candidate, ignored)) return {candidate};
        const std::optional<Tensors> there = ours(candidate);
        if (!there || others_need(candidate, path)) continue;
        if (equal(*there, tensors)) return {candidate, true};
        if (candidate.filename() != current.filename()) return {candidate};
    }
}

}  // namespace

fs::path sidecar_named_in(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::string head(512, '\0');
    in.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(in.gcount()));
    static constexpr std::string_view member = "\"tensors\": \"";
    const std::size_t begin = head.find(member);
    if (begin == std::string::npos) return {};
    const std::size_t end = head.find('"', begin + member.size());
    if (end == std::string::npos) return {};
    const fs::path name = head.substr(begin + member.size(), end - begin - member.size());
    return path.parent_path() / name.filename();
}

void save_with_tensors(const fs::path& path, const Tensors& tensors,
                       const std::function<std::string(const std::string& sidecar)>& text, bool shares) {
    const fs::path before = sidecar_named_in(path);
    fs::path now;
    if (!tensors.empty()) {
        const std::optional<fs::path> shared = shares ? shared_place(tensors, path) : std::nullopt;
        const Place place = shared ? Place{*shared, true} : place_for(tensors, path);
        now = place.file;
        if (!place.written) save_safetensors(now, tensors);
    }
    write_file(path, text(now.filename().string()));
    // The tensors of what was here before, when nothing needs them any more.
    std::error_code ignored;
    if (!before.empty() && before.filename() != now.filename() && before.extension() == ".safetensors" &&
        fs::is_regular_file(before, ignored) && ours(before) && !others_need(before, path))
        fs::remove(before, ignored);
}

const SharedTensors::Written* SharedTensors::find(const Tensors& tensors) const {
    const auto found = std::ranges::find_if(written_, [&](const Written& written) {
        return std::ranges::all_of(tensors, [&](const auto& needed) { return written.hashes.contains(needed.first); });
    });
    return found == written_.end() ? nullptr : &*found;
}

void SharedTensors::look_around() {
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_, ignored)) {
        // save_safetensors() renames: what has this name is whole.
        if (entry.path().extension() != ".safetensors" || !seen_.insert(entry.path()).second) continue;
        Written other{entry.path(), {}};
        if (const std::optional<Tensors> there = ours(entry.path()))
            for (const auto& [hash, tensor] : *there) other.hashes.insert(hash);
        written_.push_back(std::move(other));
    }
}

void SharedTensors::put(const Tensors& tensors, const fs::path& to) {
    const std::lock_guard lock(mutex_);
    const Written* known = find(tensors);
    if (!known) look_around(), known = find(tensors);
    if (!known) {
        std::string hashes;
        for (const auto& [hash, tensor] : tensors) hashes += hash;
        const fs::path file = folder_ / ("tensors-" + content_hash(hashes) + ".safetensors");
        save_safetensors(file, tensors);
        fs::permissions(file, fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
        look_around(), known = find(tensors);
        WHITTLE_CHECK(known, "the tensors file just written is missing");
    }
    link_or_copy(known->file, to);
}

}  // namespace whittle
