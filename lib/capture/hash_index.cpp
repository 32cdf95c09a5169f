#include "capture/hash_index.h"

#include <cstring>

#include "base/error.h"
#include "formats/shared_fields.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

constexpr FileFormat kHashesFormat{
    "whittle.hashes", 1, 0, "Whittle recording of hashes, version 1",
    "The hashes.json of a folder that trace --hashes wrote. The files of rows beside it have the operations."};

}  // namespace

bool HashedValue::is_tensor() const { return type != "int" && type != "float" && type != "bool" && type != "number"; }

std::string HashedValue::text() const { return dtype_from_name(type) ? type + to_string(sizes) : type; }

bool holds_hashes(const fs::path& folder) { return fs::exists(folder / kHashIndex); }

void save_hashes(const fs::path& folder, const HashIndex& index) {
    write_file(folder / kHashIndex, file_text(kHashesFormat, index));
}

HashIndex load_hashes(const fs::path& folder) {
    const fs::path file = folder / kHashIndex;
    Document document(read_file(file), file.string());
    HashIndex index;
    read_file_members(document, kHashesFormat, nullptr, index);
    for (std::size_t i = 0; i < index.processes.size(); ++i) {
        const HashedProcess& process = index.processes[i];
        for (std::size_t k = 0; k < process.forms.size(); ++k)
            if (const auto stack = process.forms[k].stack;
                stack && static_cast<std::size_t>(*stack) >= process.stacks.size())
                document.fail(document.root()["processes"][i]["forms"][k]["stack"],
                              "a position in the list of " + std::to_string(process.stacks.size()) + " stacks");
    }
    return index;
}

nlohmann::ordered_json hashes_schema() { return file_schema<HashIndex>(kHashesFormat); }

HashRows::HashRows(const fs::path& file, std::size_t forms) : file_(MappedFile::open(file)) {
    const auto bytes = file_->bytes();
    const auto fail = [&](std::size_t at, const std::string& what) {
        throw Error({file.string(), "byte " + std::to_string(at)}, what);
    };
    RowFileHeader header{};
    if (bytes.size() < sizeof header || std::memcmp(bytes.data(), kRowMagic, sizeof kRowMagic) != 0)
        fail(0, "found a file of another kind, expected a file with rows that trace --hashes wrote");
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.version != kRowVersion || header.row_size != sizeof(HashRow))
        fail(sizeof header.magic, "found rows of version " + std::to_string(header.version) + ", expected version " +
                                      std::to_string(kRowVersion));
    if (header.rows >= UINT32_MAX || header.rows > (bytes.size() - sizeof header) / sizeof(HashRow))
        fail(sizeof header, "found " + std::to_string((bytes.size() - sizeof header) / sizeof(HashRow)) +
                                " rows, expected " + std::to_string(header.rows));
    size_ = static_cast<std::uint32_t>(header.rows);
    rows_ = reinterpret_cast<const HashRow*>(bytes.data() + sizeof header);
    for (std::uint32_t number = 1; number <= size_; ++number) {
        const std::size_t at = sizeof header + (number - 1) * sizeof(HashRow);
        if (row(number).form > forms || (number == 1 && row(number).form == 0))
            fail(at, "found form " + std::to_string(row(number).form) + ", expected 1 to " + std::to_string(forms));
        for (const std::uint32_t operand : row(number).operands)
            if (operand >= number)
                fail(at, "found a row whose operand is row " + std::to_string(operand) + ", expected an earlier row");
    }
}

}  // namespace whittle
