#include "frontends/cpp/description.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>

#include "base/error.h"
#include "base/files.h"
#include "formats/document.h"
#include "formats/json_text.h"
#include "tensor/shape.h"

namespace whittle::cpp {
namespace {

namespace fs = std::filesystem;
using Json = Document::Json;

constexpr std::string_view kFormat = "whittle.static", kSection = "whittle_static";
constexpr int kMajor = 1, kMinor = 0;

constexpr std::array<std::string_view, 3> kSiteKinds = {"statement", "branch", "effect"};

std::string range_text(const Range& r) {
    return to_string(std::vector<std::int64_t>{r.line, r.column, r.end_line, r.end_column});
}

template <class Items, class Text>
std::string list_text(const Items& items, Text text_of) {
    std::string text = "[";
    for (const auto& item : items) text += (text.size() > 1 ? ", " : "") + text_of(item);
    return text + "]";
}

std::string function_text(const Function& f) {
    return "{\"name\": " + json_text(f.name) + ", \"range\": " + range_text(f.range) +
           (f.tensors ? ", \"tensors\": true}" : "}");
}
std::string prediction_text(const Prediction& p) {
    return "{\"kind\": " + json_text(std::string(name(p.kind))) + (p.possible ? ", \"possible\": true" : "") +
           ", \"function\": " + std::to_string(p.function) + ", \"range\": " + range_text(p.range) +
           ", \"text\": " + json_text(p.text) + ", \"line\": " + json_text(p.line) +
           ", \"reason\": " + json_text(p.reason) + "}";
}
std::string site_text(const Site& s) {
    return "{\"kind\": " + json_text(std::string(kSiteKinds[static_cast<std::size_t>(s.kind)])) +
           ", \"function\": " + std::to_string(s.function) + ", \"range\": " + range_text(s.range) +
           ", \"text\": " + json_text(s.text) + (s.what.empty() ? "" : ", \"what\": " + json_text(s.what)) + "}";
}

/// Reads one file's description.
class Reader {
  public:
    explicit Reader(const Document& in) : in_(in) {}

    StaticTables read(const Json& value) const {
        StaticTables tables;
        Analysis& analysis = tables.analysis;
        analysis.file = text(value, "file");
        for (const Json& entry : in_.list(in_.member(value, "functions")))
            analysis.functions.push_back({text(entry, "name"), range(entry), flag(entry, "tensors")});
        const std::size_t functions = analysis.functions.size();
        for (const Json& entry : in_.list(in_.member(value, "predictions")))
            analysis.predictions.push_back({predicted_kind(in_.member(entry, "kind")), flag(entry, "possible"),
                                            range(entry), position(entry, functions), text(entry, "text"),
                                            text(entry, "line"), text(entry, "reason")});
        for (const Json& entry : in_.list(in_.member(value, "sites"))) {
            Site site{site_kind(in_.member(entry, "kind")),
                      position(entry, functions),
                      range(entry),
                      text(entry, "text"),
                      {}};
            if (const Json* what = in_.find(entry, "what")) site.what = in_.text(*what);
            tables.sites.push_back(std::move(site));
        }
        return tables;
    }

  private:
    std::string text(const Json& object, std::string_view key) const { return in_.text(in_.member(object, key)); }
    bool flag(const Json& object, std::string_view key) const {
        const Json* value = in_.find(object, key);
        return value && in_.boolean(*value);
    }
    Range range(const Json& object) const {
        const Json& value = in_.member(object, "range");
        const std::vector<std::int64_t> numbers = in_.integers(value);
        const auto fits = [](std::int64_t n) { return n >= 0 && n < (std::int64_t(1) << 31); };
        if (numbers.size() != 4 || !std::all_of(numbers.begin(), numbers.end(), fits))
            in_.fail(value, "four numbers of 0 or more: line, column, last line and last column");
        const auto number = [&](std::size_t i) { return static_cast<int>(numbers[i]); };
        return {number(0), number(1), number(2), number(3)};
    }
    std::size_t position(const Json& object, std::size_t count) const {
        const Json& value = in_.member(object, "function");
        const std::int64_t number = in_.integer(value);
        if (number < 0 || static_cast<std::size_t>(number) >= count)
            in_.fail(value, "an index into the list of " + std::to_string(count) + " functions");
        return static_cast<std::size_t>(number);
    }
    PredictedKind predicted_kind(const Json& value) const {
        const auto known = std::ranges::find(kPredictedKinds, in_.text(value), &NamedKind::name);
        if (known != std::end(kPredictedKinds)) return known->kind;
        in_.fail(value, "a kind of break that can be predicted");
    }
    SiteKind site_kind(const Json& value) const {
        const auto found = std::find(kSiteKinds.begin(), kSiteKinds.end(), in_.text(value));
        if (found == kSiteKinds.end()) in_.fail(value, "statement, branch or effect");
        return static_cast<SiteKind>(found - kSiteKinds.begin());
    }

    const Document& in_;
};

/// A structure in the file at this offset; nothing when the file ends before.
template <class T>
std::optional<T> at(std::span<const std::byte> file, std::uint64_t offset) {
    if (offset > file.size() || file.size() - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, file.data() + offset, sizeof value);
    return value;
}

/// The bytes of the section that holds descriptions: see elf(5). Empty when there is none.
std::span<const std::byte> description_section(std::span<const std::byte> file) {
    const auto header = at<Elf64_Ehdr>(file, 0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_shentsize != sizeof(Elf64_Shdr))
        return {};
    const auto section = [&](std::uint64_t i) {
        return at<Elf64_Shdr>(file, header->e_shoff + i * sizeof(Elf64_Shdr));
    };
    const auto names = section(header->e_shstrndx);
    if (!names) return {};
    for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
        const auto found = section(i);
        if (!found) return {};
        const auto name = at<std::array<char, kSection.size() + 1>>(file, names->sh_offset + found->sh_name);
        if (!name || std::string_view(name->data(), kSection.size()) != kSection || name->back() != 0) continue;
        if (found->sh_offset > file.size() || file.size() - found->sh_offset < found->sh_size) return {};
        return file.subspan(found->sh_offset, found->sh_size);
    }
    return {};
}

}  // namespace

std::string description(const StaticTables& tables) {
    return "{\"file\": " + json_text(tables.analysis.file) +
           ", \"functions\": " + list_text(tables.analysis.functions, function_text) +
           ", \"predictions\": " + list_text(tables.analysis.predictions, prediction_text) +
           ", \"sites\": " + list_text(tables.sites, site_text) + "}";
}

std::vector<StaticTables> read_program(const fs::path& program) {
    const auto mapped = MappedFile::open(program);
    std::vector<StaticTables> files;
    std::string line;
    for (const std::byte byte : description_section(mapped->bytes())) {
        const char c = static_cast<char>(byte);
        if (c != 0 && c != '\n') line += c;  // rows are padded with zeros
        if (c != '\n' || line.empty()) continue;
        const Document document(line, program.string() + " (section " + std::string(kSection) + ")");
        files.push_back(Reader(document).read(document.root()));
        line.clear();
    }
    return files;
}

bool save_descriptions(const fs::path& folder, const std::vector<StaticTables>& files) {
    if (files.empty()) return false;
    std::string text = "{\n  \"format\": " + json_quote(kFormat) + ",\n  \"version\": \"" + std::to_string(kMajor) +
                       "." + std::to_string(kMinor) + "\",\n  \"files\": [";
    for (const StaticTables& tables : files)
        text += (&tables == &files.front() ? "\n    " : ",\n    ") + description(tables);
    write_file(folder / kDescriptions, text + "\n  ]\n}\n");
    return true;
}

std::vector<StaticTables> load_descriptions(const fs::path& folder) {
    const fs::path file = folder / kDescriptions;
    if (!fs::exists(file)) return {};
    Document document(read_file(file), file.string());
    document.require_format(kFormat, kMajor, kMinor);
    std::vector<StaticTables> files;
    for (const Json& entry : document.list(document.member(document.root(), "files")))
        files.push_back(Reader(document).read(entry));
    return files;
}

}  // namespace whittle::cpp
