#include "frontends/halide/capture/npy.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

namespace whittle::halide_capture {
namespace {

/// NumPy's name of the type; empty: it has none.
std::string npy_type(halide_type_t type) {
    if (type.code == halide_type_uint && type.bits == 1) return "|b1";
    if (type.lanes != 1 || type.code > halide_type_float) return {};
    if (type.bits == 8) return type.code == halide_type_int ? "|i1" : "|u1";
    return (type.code == halide_type_float ? "<f" : "<i") + std::to_string(type.bits / 8);
}

/// Those of the dimensions up to `dimension`, the first of which lies at `from`.
void write_elements(std::ostream& out, const halide_buffer_t& buffer, int dimension, const std::uint8_t* from) {
    const std::ptrdiff_t bytes = (buffer.type.bits + 7) / 8;
    const bool element = dimension < 0, dense = dimension == 0 && buffer.dim[0].stride == 1;
    if (element || dense) {
        out.write(reinterpret_cast<const char*>(from), element ? bytes : bytes * buffer.dim[0].extent);
        return;
    }
    for (int i = 0; i < buffer.dim[dimension].extent; ++i)
        write_elements(out, buffer, dimension - 1, from + i * bytes * buffer.dim[dimension].stride);
}

}  // namespace

bool write_npy(const std::string& path, const halide_buffer_t& buffer, NpyOrder order) {
    const std::string type = npy_type(buffer.type);
    if (type.empty() || !buffer.host) return false;
    std::string shape;
    for (int i = 0; i < buffer.dimensions; ++i)
        shape += std::to_string(buffer.dim[order == NpyOrder::c ? buffer.dimensions - 1 - i : i].extent) + ", ";
    std::string header = "{'descr': '" + type + "', 'fortran_order': " + (order == NpyOrder::c ? "False" : "True") +
                         ", 'shape': (" + shape + "), }";
    constexpr std::size_t kAlignment = 64, kPrefix = 10;
    header += std::string(kAlignment - (kPrefix + header.size() + 1) % kAlignment, ' ') + "\n";
    std::ofstream out(path, std::ios::binary);
    out.write("\x93NUMPY\1\0", 8);
    const std::size_t size = header.size();
    out.put(static_cast<char>(size & 255)).put(static_cast<char>(size >> 8)) << header;
    write_elements(out, buffer, buffer.dimensions - 1, buffer.host);
    return true;
}

std::string write_new_npy(const std::string& folder, const std::string& kind, const halide_buffer_t& buffer,
                          NpyOrder order) {
    for (int number = 0;; ++number) {
        const std::string name = kind + std::to_string(number) + ".npy", path = folder + "/" + name;
        const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (file < 0 && errno == EEXIST) continue;
        if (file < 0) return {};
        ::close(file);
        if (write_npy(path, buffer, order)) return name;
        ::unlink(path.c_str());
        return {};
    }
}

}  // namespace whittle::halide_capture
