// What the files of this folder share: protobuf messages in and out, names made safe, messages about places in a model.
// Internal: the only header here that includes protobuf's.
#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/files.h"
#include "frontends/onnx/tensor_proto.h"
#include "tensor/tensor.h"

namespace whittle::onnx_proto {

/// `text` in quotes for a message: what is not printable ASCII is escaped, what is long is cut.
std::string in_quotes(std::string_view text);

/// `name` when it is UTF-8 without control characters; else an Error at `where`. `what` says whose name it is.
std::string checked_text(const std::string& name, const Location& where, std::string_view what);

/// Parses `bytes` as `message`. Throws Error naming the file when they are not such a message, truncated, nested too
/// deeply or above protobuf's 2 GiB. Memory stays proportional to the bytes.
void parse(std::span<const std::byte> bytes, google::protobuf::MessageLite& message, const std::string& file,
           std::string_view what);

/// "STRING", "UINT32"; the number when the standard does not know it.
std::string data_type_name(int data_type);

DeclaredValues declared_values(const onnx::GraphProto& graph);

/// "sequence(f32)", "optional(string)", "map(i64, f32)"; "f32" of a tensor; empty where the file says nothing.
std::string type_text(const onnx::TypeProto& type);

/// Sizes of a value as the file declares them; named dimensions take their sizes of `dims`. Nothing when one is
/// missing.
std::optional<Sizes> declared_sizes(const onnx::TypeProto& type, const std::map<std::string, std::int64_t>& dims = {});

/// External data: files beside the model, mapped once each.
class ExternalFiles {
  public:
    /// No external data is allowed when `folder` is empty.
    explicit ExternalFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

    struct View {
        std::span<const std::byte> bytes;
        std::shared_ptr<const void> owner;
    };
    /// `needed` bytes as the tensor's external_data entries say. Throws Error at `where` unless the location is a
    /// regular file inside the folder, by a relative path without "..", also after symbolic links, and offset and
    /// length lie within it.
    View view(const onnx::TensorProto& proto, std::size_t needed, const Location& where);
    /// All of the file at `location`. Throws Error as view().
    std::shared_ptr<const MappedFile> file(const std::string& location, const Location& where);

  private:
    std::filesystem::path folder_;
    std::map<std::string, std::shared_ptr<const MappedFile>> files_;
};

/// The tensor, whose raw data it takes over. Sizes are checked against the bytes there are before anything is
/// allocated. Throws Error at `where`.
Tensor take_tensor(onnx::TensorProto& proto, ExternalFiles& external, const Location& where);

/// The same of a tensor of any type, without its name: one of an OpaqueType is bytes (u8) of a TensorProto without a
/// name, external data inside.
NamedTensor take_any_tensor(onnx::TensorProto& proto, ExternalFiles& external, const Location& where);

/// Fills `proto` with the tensor as raw data.
void put_tensor(const Tensor& tensor, const std::string& name, onnx::TensorProto& proto);

/// Fills `proto` with the tensor, whose data is all of the file `location` beside the model.
void put_external_tensor(const Tensor& tensor, const std::string& name, const std::string& location,
                         onnx::TensorProto& proto);

}  // namespace whittle::onnx_proto
