#include "graph/sidecar.h"

#include <algorithm>
#include <fstream>
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
                       const std::function<std::string(const std::string& sidecar)>& text) {
    const fs::path before = sidecar_named_in(path);
    fs::path now;
    if (!tensors.empty()) {
        const Place place = place_for(tensors, path);
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

}  // namespace whittle
