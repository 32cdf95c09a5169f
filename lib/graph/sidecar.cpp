#include "graph/sidecar.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/files.h"
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
        const bool hashes = std::all_of(tensors.begin(), tensors.end(), [](const auto& entry) {
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
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& x, const auto& y) { return x.first == y.first && same_bits(x.second, y.second); });
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

void SharedTensors::put(const Tensors& tensors, const fs::path& to) {
    const std::lock_guard lock(mutex_);
    auto known = std::ranges::find_if(written_, [&](const Written& written) {
        return std::ranges::all_of(tensors, [&](const auto& needed) { return written.hashes.contains(needed.first); });
    });
    if (known == written_.end()) {
        // Copies of this process, which know nothing of each other, may write there, too.
        const std::string name = "tensors-" + std::to_string(::getpid()) + "-" + std::to_string(written_.size() + 1);
        Written fresh{folder_ / (name + ".safetensors"), {}};
        for (const auto& [hash, tensor] : tensors) fresh.hashes.insert(hash);
        save_safetensors(fresh.file, tensors);
        fs::permissions(fresh.file, fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
        written_.push_back(std::move(fresh));
        known = std::prev(written_.end());
    }
    std::error_code error;
    fs::create_hard_link(known->file, to, error);
    if (error) error.clear(), fs::copy_file(known->file, to, error);
    if (error) throw Error({to.string(), {}}, "cannot be written: " + error.message());
}

}  // namespace whittle
