// Recordings of hashes, which trace --hashes writes and explain diff --values compares: what each operation of a
// program was, where it was called, what its operands were, and of its results a hash, sums, the largest magnitude and
// the NaNs. hashes.json has the forms of operations, each once; a file of rows beside it has the operations
// (hash_row.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "capture/hash_row.h"
#include "formats/field_forms.h"
#include "graph/graph.h"

namespace whittle {

/// A result.
struct HashedValue {
    static constexpr const char* kName = "value";
    std::string type = {};
    Sizes sizes = {};
    bool hashed = true;
    bool operator==(const HashedValue&) const = default;
    std::string text() const;  ///< "f32[2, 3]", "int"
    bool is_tensor() const;    ///< else a number

    template <class Field>
    static void fields(Field& field) {
        field("type", &HashedValue::type, "The dtype of a tensor; int, float or bool for a number.");
        field.maybe("sizes", &HashedValue::sizes, "", Count{});
        field("hashed", &HashedValue::hashed, "False for a tensor that is not on the CPU, sparse or quantized.");
    }
};

/// What rows have in common: an operation as it is called at one place on operands of one kind.
struct HashForm {
    static constexpr const char* kName = "form";
    std::string kind = {};
    std::string op = {}, under = {}, arguments = {};
    std::optional<std::int64_t> stack = {};
    std::int64_t thread = 0, operands = 0;
    std::vector<HashedValue> results = {};

    bool is_operation() const { return kind == "operation"; }
    bool is_value() const { return kind == "value"; }
    bool is_read() const { return kind == "read"; }

    template <class Field>
    static void fields(Field& field) {
        field("kind", &HashForm::kind,
              "A value is an operand that no recorded operation computed. A read is a place where the program looks at "
              "a tensor.",
              OneOf{"operation value read"});
        field.maybe("op", &HashForm::op, "The op of an operation: aten.add.Tensor");
        field.maybe("under", &HashForm::under,
                    "The node of the backward pass that called the operation, such as AddmmBackward0");
        field.maybe("arguments", &HashForm::arguments, "The types of the arguments, as in: f32[2, 3], f32[3], 1");
        field.maybe("stack", &HashForm::stack, "The position of the user's stack in the list of stacks.", Count{});
        field("thread", &HashForm::thread, "The number of the thread, in order of appearance.", Count{});
        field("operands", &HashForm::operands, "", Count{});
        field("results", &HashForm::results, "");
    }
};

/// What one process did.
struct HashedProcess {
    static constexpr const char* kName = "process";
    static constexpr bool kLines = true;
    std::string command = {};
    std::filesystem::path rows = {};
    bool finished = true;
    std::vector<HashForm> forms = {};
    std::vector<std::vector<StackFrame>> stacks = {};
    std::vector<std::string> notes = {};

    template <class Field>
    static void fields(Field& field) {
        field("command", &HashedProcess::command, "The command line, possibly cut.");
        field("rows", &HashedProcess::rows, "The file of rows, in the same folder.", InFolder{});
        field("finished", &HashedProcess::finished, "Whether the recording goes to the end of the program.");
        field("forms", &HashedProcess::forms,
              "The operations, values and reads to which rows refer, by number from 1.");
        field("stacks", &HashedProcess::stacks, "The user's stacks, innermost frame first.");
        field.maybe("notes", &HashedProcess::notes, "What could not be recorded.");
    }
};

/// hashes.json.
struct HashIndex {
    static constexpr bool kLines = true;
    std::string program = {};
    std::vector<std::string> arguments = {};
    std::map<std::string, std::string> variables = {};
    std::vector<HashedProcess> processes = {};

    template <class Field>
    static void fields(Field& field) {
        field("program", &HashIndex::program, "");
        field("arguments", &HashIndex::arguments, "");
        field("variables", &HashIndex::variables, "Environment variables that can change the results of the program.");
        field("processes", &HashIndex::processes,
              "The processes that used LibTorch, in the order in which they began.");
    }
};

inline constexpr char kHashIndex[] = "hashes.json";

/// Whether trace --hashes wrote the folder.
bool holds_hashes(const std::filesystem::path& folder);
void save_hashes(const std::filesystem::path& folder, const HashIndex& index);
/// Throws Error with file and JSON pointer.
HashIndex load_hashes(const std::filesystem::path& folder);
/// The JSON Schema of hashes.json.
nlohmann::ordered_json hashes_schema();

/// A file of rows.
class HashRows {
  public:
    /// Throws Error naming the file and the byte for one that is no file of rows, or whose rows refer to forms or rows
    /// that there are not.
    HashRows(const std::filesystem::path& file, std::size_t forms);

    std::uint32_t size() const { return size_; }
    const HashRow& row(std::uint32_t number) const { return rows_[number - 1]; }  ///< numbered from 1

  private:
    std::shared_ptr<const MappedFile> file_;
    const HashRow* rows_ = nullptr;
    std::uint32_t size_ = 0;
};

}  // namespace whittle
