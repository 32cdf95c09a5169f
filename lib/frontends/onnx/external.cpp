// External data: where the standard lets a tensor's bytes live outside the model file.
// https://github.com/onnx/onnx/blob/main/docs/ExternalData.md
#include <charconv>

#include "frontends/onnx/proto.h"

namespace whittle::onnx_proto {

namespace fs = std::filesystem;

namespace {

std::size_t parse_size(const std::string& key, const std::string& text, const Location& where) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty())
        throw Error(where, "found external data with " + key + " " + in_quotes(text) + ", expected a number of bytes");
    return value;
}

/// True when `path`, resolved, lies inside `folder`, resolved.
bool inside(const fs::path& path, const fs::path& folder) {
    const auto [at_folder, at_path] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
    return at_folder == folder.end() && at_path != path.end();
}

}  // namespace

std::shared_ptr<const MappedFile> ExternalFiles::file(const std::string& location, const Location& where) {
    const auto known = files_.find(location);
    if (known != files_.end()) return known->second;
    if (folder_.empty())
        throw Error(where, "found a tensor with external data, expected a tensor with all data inside the model file");

    const std::string confined = "expected a file in the model's folder";
    if (location.empty() || location.find('\0') != std::string::npos)
        throw Error(where, "found external data at " + in_quotes(location) + ", " + confined);
    const fs::path relative(location);
    for (const fs::path& part : relative)
        if (relative.is_absolute() || part == "..")
            throw Error(where, "found external data at " + in_quotes(location) + ", " + confined,
                        "use a relative path without '..'");
    std::error_code error;
    const fs::path folder = fs::canonical(folder_, error);
    const fs::path path = error ? fs::path() : fs::canonical(folder / relative, error);
    if (error)
        throw Error(where, "found external data at " + in_quotes(location) + " (" + error.message() + "), " + confined);
    if (!inside(path, folder))
        throw Error(where, "found external data at " + in_quotes(location) +
                               ", which is a link to a file outside the model's folder, " + confined);
    if (!fs::is_regular_file(path, error))
        throw Error(where,
                    "found external data at " + in_quotes(location) + ", which is not a regular file, " + confined);
    return files_[location] = MappedFile::open(path);
}

ExternalFiles::View ExternalFiles::view(const onnx::TensorProto& proto, std::size_t needed, const Location& where) {
    std::string location;
    std::optional<std::size_t> offset, length;
    for (const onnx::StringStringEntryProto& entry : proto.external_data()) {
        if (entry.key() == "location") location = entry.value();
        if (entry.key() == "offset") offset = parse_size("offset", entry.value(), where);
        if (entry.key() == "length") length = parse_size("length", entry.value(), where);
    }
    const auto mapped = file(location, where);
    const std::size_t size = mapped->bytes().size(), start = offset.value_or(0);
    if (length && *length != needed)
        throw Error(where, "found external data with length " + std::to_string(*length) + ", expected " +
                               std::to_string(needed) + " bytes for the type and dims of the tensor");
    if (start > size || needed > size - start)
        throw Error(where, "found the file " + in_quotes(location) + " with " + std::to_string(size) +
                               " bytes, expected " + std::to_string(needed) + " bytes of data from offset " +
                               std::to_string(start));
    return {mapped->bytes().subspan(start, needed), mapped};
}

}  // namespace whittle::onnx_proto
