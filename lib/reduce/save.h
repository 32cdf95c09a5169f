// Minimized graphs on disk.
#pragma once

#include <filesystem>

#include "frontends/onnx/save.h"
#include "reduce/reductions/case.h"

namespace whittle::reduce {

/// Of a result, which is written after each step of a search: weights inside are held twice more while it is, in a
/// message and in its bytes, and written anew each time. Less than kMostInside.
inline constexpr std::size_t kMostInResult = std::size_t(1) << 28;

/// A part of a file as it stands; a graph by the extension of `path`: .json holds the failure too; .onnx gets
/// PATH.failure.json beside it, and files of weights where they all are more than `most_inside` bytes. Those that only
/// the model had that was there before are removed.
void save_minimized(const Case& minimized, const std::filesystem::path& path, std::size_t most_inside = kMostInResult);

/// Where the result of one of several failures goes, from 1 on: NAME-1.json of NAME.json.
std::filesystem::path numbered_result(const std::filesystem::path& output, std::size_t number,
                                      const std::string& before = "-");

}  // namespace whittle::reduce
