#include "frontends/libtorch/capture_library.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <system_error>

#include "base/error.h"
#include "base/files.h"
#include "base/kept.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "frontends/libtorch/launch.h"

namespace whittle::libtorch {

namespace fs = std::filesystem;

namespace {

constexpr char kLibrary[] = "libwhittle_capture_torch.so";
// What Whittle is tested with: scripts/check-suites runs the tests with the LibTorch of three suites of Debian.
constexpr std::string_view kTested[] = {"1.13", "2.6", "2.14"};

template <std::size_t size>
bool put(char (&field)[size], const std::string& text) {
    if (text.empty() || text.size() >= size) return false;
    text.copy(field, text.size());
    field[text.size()] = 0;
    return true;
}

}  // namespace

bool parse(std::istream& words, TorchFacts& facts) {
    std::string build_id, version, abi, soname;
    return words >> build_id >> version >> abi >> soname && put(facts.build_id, build_id) &&
           put(facts.version, version) && put(facts.abi, abi) && put(facts.soname, soname);
}

namespace {

template <class T>
bool read(std::string_view bytes, std::uint64_t at, T& value) {
    if (at > bytes.size() || bytes.size() - at < sizeof value) return false;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return true;
}

/// The section's text up to its first NUL; "" where there is none.
std::string text_of_section(std::string_view bytes, std::string_view wanted) {
    Elf64_Ehdr header;
    Elf64_Shdr names, section;
    if (!bytes.starts_with(ELFMAG) || !read(bytes, 0, header) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        !read(bytes, header.e_shoff + header.e_shstrndx * sizeof names, names))
        return {};
    const auto text_at = [&](std::uint64_t at) { return at < bytes.size() ? bytes.substr(at) : std::string_view(); };
    for (std::uint64_t i = 0; i < header.e_shnum && read(bytes, header.e_shoff + i * sizeof section, section); ++i) {
        const std::string_view name = text_at(names.sh_offset + section.sh_name);
        if (name.substr(0, name.find('\0')) != wanted) continue;
        const std::string_view text = text_at(section.sh_offset).substr(0, section.sh_size);
        return std::string(text.substr(0, text.find('\0')));
    }
    return {};
}

/// What the library says of itself, see version.cpp; nothing is run of it.
void look_at(const fs::path& path, CaptureLibraries& found) try {
    const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
    std::istringstream words(
        text_of_section({reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()}, kBuiltForSection));
    std::string interface;
    CaptureLibrary library{.torch = {}, .path = path};
    if (words >> interface && interface == capture_interface() && parse(words, library.torch))
        found.usable.push_back(std::move(library));
    else
        found.outdated.push_back(path);
} catch (const Error&) {  // not there, or not to be read: as if it were not there
}

/// Sorted, so that the same one is chosen each time.
void look_in(const fs::path& folder, CaptureLibraries& found) {
    std::vector<fs::path> folders;
    std::error_code failed;
    for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed))
        folders.push_back(entry->path());
    std::ranges::sort(folders);
    for (const fs::path& one : folders)
        if (fs::exists(one / kLibrary, failed)) look_at(one / kLibrary, found);
}

fs::path folder_of_program() {
    std::error_code failed;
    const fs::path program = fs::read_symlink("/proc/self/exe", failed);
    return failed ? fs::path() : program.parent_path();
}

}  // namespace

std::string_view capture_interface() { return WHITTLE_CAPTURE_INTERFACE; }

fs::path capture_folder() {
    const fs::path program = folder_of_program();
    return program.empty() ? program : (program / WHITTLE_CAPTURE_DIR_FROM_BIN).lexically_normal();
}

CaptureLibraries capture_libraries() {
    CaptureLibraries found;
    const fs::path ours = capture_folder();
    std::error_code ignored;
    if (fs::exists(ours / kLibrary, ignored)) look_at(ours / kLibrary, found);
    look_in(ours / "capture", found);
    // Programs may load one from another folder than this one.
    look_in(fs::absolute(kept_folder("capture")), found);
    return found;
}

std::string list_of(const std::vector<CaptureLibrary>& libraries) {
    std::string list;
    for (const CaptureLibrary& library : libraries) {
        if (library.path.string().find('\n') != std::string::npos) continue;
        for (const char* word :
             {library.torch.build_id, library.torch.version, library.torch.abi, library.torch.soname})
            list += std::string(word) + ' ';
        list += library.path.string() + '\n';
    }
    return list;
}

std::string name_of(const TorchFacts& torch) {
    const std::string abi = torch.abi;
    const bool known = std::string_view(torch.version) != "unknown";
    return (known ? "LibTorch " + std::string(torch.version) : "LibTorch of an unknown version") + " (" + torch.soname +
           ", " +
           (abi == "1"   ? "C++11 ABI"
            : abi == "0" ? "pre-C++11 ABI"
                         : "unknown C++ ABI") +
           ")";
}

std::string build_command() {
    std::error_code ignored;
    const fs::path installed = folder_of_program() / WHITTLE_DATA_DIR_FROM_BIN / "scripts" / "build-capture";
    if (fs::exists(installed, ignored)) return shell_quote({installed.lexically_normal().string()});
    for (fs::path folder = folder_of_program(); folder.has_relative_path(); folder = folder.parent_path())
        if (fs::exists(folder / "scripts" / "build-capture", ignored))
            return shell_quote({(folder / "scripts" / "build-capture").string()});
    return "scripts/build-capture";
}

namespace {

/// /opt/libtorch of /opt/libtorch/lib/libtorch_cpu.so. Of a path that is relative to where the program was: a word.
std::string prefix_of(const fs::path& file) {
    if (!file.is_absolute()) return "DIR";
    for (fs::path folder = file.parent_path(); folder.has_relative_path(); folder = folder.parent_path()) {
        if (folder.filename() != "lib" && folder.filename() != "lib64") continue;
        const fs::path prefix = folder.parent_path();
        return prefix.has_relative_path() ? prefix.string() : "/usr";  // /lib is a link into it
    }
    return file.parent_path().string();
}

}  // namespace

std::string why_not_captured(const TorchFacts& torch, const fs::path& file, const CaptureLibraries& libraries) {
    const std::string hint = build_command() + " --torch " + shell_quote({prefix_of(file)});
    if (libraries.usable.empty() && libraries.outdated.empty())
        return "this Whittle was built without LibTorch, so it has no capture library; " + std::string(kHowToGetIt) +
               ", or run " + hint;
    std::string known;
    for (const CaptureLibrary& library : libraries.usable)
        known += (known.empty() ? "" : ", ") + name_of(library.torch);
    std::string text = "the program uses " + file.string() + ", " + name_of(torch) +
                       ", and there is no capture library for this version; found " +
                       (known.empty() ? "no other capture libraries" : "capture libraries for " + known);
    if (!libraries.outdated.empty())
        text += "; " + plural(libraries.outdated.size(), "library is", "libraries are") +
                " of another version of Whittle and must be rebuilt: " + libraries.outdated.front().string();
    return text + "; hint: " + hint;
}

std::string note_of_version(const std::string& version) {
    std::string all;
    for (const std::string_view tested : kTested) {
        if (version.starts_with(std::string(tested) + ".")) return {};
        all += (all.empty() ? "" : ", ") + std::string(tested);
    }
    return "LibTorch " + version + " is untested: Whittle is tested with LibTorch " + all;
}

}  // namespace whittle::libtorch
