// Where code lies: the file is told of segments that stacks have addresses in.
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "frontends/libtorch/capture/state.h"
#include "frontends/libtorch/torch_names.h"

namespace whittle::libtorch {

bool in_torch_code(std::uintptr_t address) {
    return std::any_of(state.torch_code.begin(), state.torch_code.end(),
                       [&](const auto& segment) { return address >= segment.first && address < segment.second; });
}

namespace {

/// The C and C++ libraries, and ours.
bool is_runtime_file(std::string_view file) {
    for (const std::string_view known : {"libstdc++.so", "libwhittle_capture", "libc.so", "libc-2."})
        if (file.substr(0, known.size()) == known) return true;
    return false;
}

int write_mapping(dl_phdr_info* info, size_t, void* pointer) {
    Thread& thread = *static_cast<Thread*>(pointer);
    if (state.mapped_at == info->dlpi_adds) return 1;  // none since the last time
    state.seen_adds = info->dlpi_adds;
    const char* name = info->dlpi_name && info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
    char resolved[4096] = {};
    if (::readlink(name, resolved, sizeof resolved - 1) > 0 && resolved[0] == '/') name = resolved;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& segment = info->dlpi_phdr[i];
        if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X)) continue;
        const std::uint64_t low = info->dlpi_addr + segment.p_vaddr, high = low + segment.p_memsz;
        if (!state.mapped.insert(low).second) continue;
        RecordBuffer record;
        record.start(records::Mapping{.low = low, .high = high, .base = info->dlpi_addr, .path = name});
        commit(thread, record);
        if (state.started) continue;
        const char* slash = std::strrchr(name, '/');
        const std::string_view file = slash ? slash + 1 : name;
        if (is_libtorch_file(file) || is_runtime_file(file)) state.torch_code.emplace_back(low, high);
    }
    return 0;
}

}  // namespace

void write_mappings(Thread& thread) {
    std::lock_guard lock(state.mapping_mutex);
    ::dl_iterate_phdr(write_mapping, &thread);
    state.mapped_at = state.seen_adds;
    state.started = true;
}

}  // namespace whittle::libtorch
