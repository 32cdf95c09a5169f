// Which LibTorch the program has, by what is mapped and by what it says of itself. Its file's name says so only where
// it has a version in it: official distributions call all of them libtorch_cpu.so.
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <string.h>

#include "frontends/libtorch/capture/stub.h"

namespace whittle::libtorch {

namespace {

void read_build_id(const char* notes, size_t size, char* text, size_t room) {
    constexpr size_t kAlign = 4;
    const auto padded = [](size_t length) { return (length + kAlign - 1) / kAlign * kAlign; };
    while (size >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        memcpy(&note, notes, sizeof note);
        const size_t whole = sizeof note + padded(note.n_namesz) + padded(note.n_descsz);
        if (whole > size) return;
        const char* const name = notes + sizeof note;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof ELF_NOTE_GNU &&
            !memcmp(name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) && 2 * note.n_descsz < room) {
            const char* const id = name + padded(note.n_namesz);
            for (size_t i = 0; i < note.n_descsz; ++i)
                snprintf(text + 2 * i, 3, "%02x", static_cast<unsigned>(static_cast<unsigned char>(id[i])));
            return;
        }
        notes += whole;
        size -= whole;
    }
}

/// What the dynamic section says: the soname, and whether the library is one of libc++'s, whose strings and maps are
/// others. glibc has made addresses of the offsets, where the section may be written to.
struct Dynamic {
    const char* soname = nullptr;
    bool libcxx = false;

    Dynamic(const ElfW(Dyn) * entries, ElfW(Addr) base) {
        ElfW(Addr) names = 0;
        for (const auto* entry = entries; entry->d_tag != DT_NULL; ++entry)
            if (entry->d_tag == DT_STRTAB) names = entry->d_un.d_ptr;
        if (!names) return;
        if (names < base) names += base;
        for (const auto* entry = entries; entry->d_tag != DT_NULL; ++entry) {
            const char* const name = reinterpret_cast<const char*>(names + entry->d_un.d_val);
            if (entry->d_tag == DT_SONAME) soname = name;
            if (entry->d_tag == DT_NEEDED && !strncmp(name, "libc++.so", 9)) libcxx = true;
        }
    }
};

/// What the library at `path`, which is loaded, would call by that name.
void* find_in(const char* path, const char* symbol) {
    if (void* found = dlsym(RTLD_DEFAULT, symbol)) return found;
    void* const handle = plain_dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle) return nullptr;
    void* const found = dlsym(handle, symbol);
    dlclose(handle);
    return found;
}

/// A std::map<std::string, std::string> of libstdc++, which keeps its layout: a search tree. A std::string begins with
/// the pointer to its characters, whichever ABI it has.
struct Node {
    int color;
    const Node *parent, *left, *right;
};
struct Map {
    void* compare;
    Node header;
};
const char* value_of(const Map& map, const char* key, size_t string_size) {
    for (const Node* node = map.header.parent; node;) {
        const char* const strings = reinterpret_cast<const char*>(node + 1);
        const char *name = nullptr, *value = nullptr;
        memcpy(&name, strings, sizeof name);
        memcpy(&value, strings + string_size, sizeof value);
        const int order = strcmp(key, name);
        if (order == 0) return value;
        node = order < 0 ? node->left : node->right;
    }
    return nullptr;
}

/// caffe2::GetBuildOptions(), whose header is not installed everywhere. What returns strings of C++11 has a name of its
/// own.
void ask_version(const char* path, TorchFacts& facts) {
    using Options = const Map& (*)();
    constexpr size_t kNewSize = 32, kOldSize = sizeof(char*);
    const auto of_cxx11 = reinterpret_cast<Options>(find_in(path, "_ZN6caffe215GetBuildOptionsB5cxx11Ev"));
    const auto options =
        of_cxx11 ? of_cxx11 : reinterpret_cast<Options>(find_in(path, "_ZN6caffe215GetBuildOptionsEv"));
    if (!options) return;
    strcpy(facts.abi, of_cxx11 ? "1" : "0");
    const char* const version = value_of(options(), "TORCH_VERSION", of_cxx11 ? kNewSize : kOldSize);
    if (version && *version && strlen(version) < sizeof facts.version && !strchr(version, ' '))
        strcpy(facts.version, version);
}

struct Search {
    TorchFacts* facts;
    char* path;
    bool libcxx;
};
int look_at(dl_phdr_info* info, size_t, void* data) {
    auto& search = *static_cast<Search*>(data);
    if (!info->dlpi_name || strcmp(info->dlpi_name, search.path) != 0) return 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& segment = info->dlpi_phdr[i];
        const ElfW(Addr) at = info->dlpi_addr + segment.p_vaddr;
        if (segment.p_type == PT_NOTE && search.facts->build_id[0] == '-')
            read_build_id(reinterpret_cast<const char*>(at), segment.p_memsz, search.facts->build_id,
                          sizeof search.facts->build_id);
        if (segment.p_type != PT_DYNAMIC) continue;
        const Dynamic dynamic(reinterpret_cast<const ElfW(Dyn)*>(at), info->dlpi_addr);
        search.libcxx = dynamic.libcxx;
        if (dynamic.soname && strlen(dynamic.soname) < sizeof search.facts->soname && !strchr(dynamic.soname, ' '))
            strcpy(search.facts->soname, dynamic.soname);
    }
    return 1;
}

}  // namespace

void find_facts(const char* path, TorchFacts& facts) {
    strcpy(facts.build_id, "-");
    strcpy(facts.version, "unknown");
    strcpy(facts.abi, "?");
    const char* const slash = strrchr(path, '/');
    facts.soname[0] = 0;
    strncat(facts.soname, slash ? slash + 1 : path, sizeof facts.soname - 1);  // what is without has its file's name
    char copy[PATH_MAX] = {};
    strncpy(copy, path, sizeof copy - 1);
    Search search{&facts, copy, false};
    dl_iterate_phdr(look_at, &search);
    if (!search.libcxx) ask_version(path, facts);
}

}  // namespace whittle::libtorch
