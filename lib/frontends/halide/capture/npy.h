// Buffers as NumPy's files.
#pragma once

#include <Halide.h>

#include <cstdint>
#include <string>

namespace whittle::halide_capture {

/// The first dimension of Halide varies fastest: it is the first one of the file in Fortran's order, the last one in
/// C's.
enum class NpyOrder : std::uint8_t { fortran, c };

/// A version 1 file. Larger unsigned integers than bytes, which Whittle does not read, are written as signed ones of
/// their bits, which are equal where those are. False where NumPy has no such type, or there are no data.
bool write_npy(const std::string& path, const halide_buffer_t& buffer, NpyOrder order);

/// The same as KIND0.npy, or the next that the folder, which other processes use, too, has not. Returns its name; empty
/// for false.
std::string write_new_npy(const std::string& folder, const std::string& kind, const halide_buffer_t& buffer,
                          NpyOrder order);

}  // namespace whittle::halide_capture
