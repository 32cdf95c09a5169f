// What torch.compile's debug tools write: Python programs that run one graph, and folders of logs with such programs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace whittle::cli {

/// fx_graph_runnable.py, or repro.py of PyTorch's minifier: a Python program that passes a graph to the minifier.
bool is_torch_file(const std::filesystem::path& path);
/// A folder that PyTorch wrote as $TORCH_TRACE.
bool is_torch_log_folder(const std::filesystem::path& path);

/// A graph's file, with the values of its inputs by their names in a safetensors file.
struct TorchGraph {
    std::filesystem::path graph, inputs;
};
/// The graphs of such a file or folder, which a Python interpreter that has PyTorch reads (share/backends/torch): that
/// of $VIRTUAL_ENV, else python3. The files live as long as this process. Warns of settings of PyTorch that the file
/// changes. Throws Error with what the interpreter says where it cannot run the file.
std::vector<TorchGraph> read_torch_file(const std::filesystem::path& path);

}  // namespace whittle::cli
