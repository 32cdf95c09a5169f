// Event files as the capture library writes them, without LibTorch.
#pragma once

#include <string>
#include <vector>

#include "frontends/libtorch/capture/recorder.h"

namespace whittle::libtorch {

/// A tensor in a made-up program; ids of tensor and storage are equal.
struct FakeTensor {
    std::uint64_t id = 1;
    std::vector<std::int64_t> sizes = {3};
    std::uint32_t version = 0;
    std::uint64_t storage = 0;               ///< 0: as id
    std::int8_t dtype = 6;                   ///< c10::ScalarType: float
    std::int64_t offset = 0;                 ///< in the storage
    std::vector<std::int64_t> strides = {};  ///< none: contiguous
    std::string device = "cpu";
    bool conjugated = false;  ///< by a flag
    bool sparse = false;
};

class EventWriter {
  public:
    explicit EventWriter(const std::string& path, std::uint64_t limit = 1 << 20, std::uint64_t flags = kWithData) {
        ok = recorder.start(path.c_str(), path.c_str(), limit, 0, flags);
    }

    void put_tensor(const FakeTensor& tensor) {
        TensorRecord written{};
        written.id = tensor.id;
        written.storage = tensor.storage ? tensor.storage : tensor.id;
        written.offset = tensor.offset;
        written.version = tensor.version;
        written.dtype = tensor.dtype;
        const bool elsewhere = tensor.device != "cpu";
        written.flags = (elsewhere ? kElsewhere : tensor.conjugated ? 0 : kPlain) | kHasStorage | kLeaf;
        if (tensor.sparse) written.storage = 0, written.flags = kSparse | kLeaf;
        written.rank = static_cast<std::uint8_t>(tensor.sizes.size());
        record.put(ValueTag::tensor);
        record.put(written);
        for (const std::int64_t size : tensor.sizes) record.put(size);
        std::int64_t stride = 1;
        std::vector<std::int64_t> strides(tensor.sizes.size());
        for (std::size_t i = strides.size(); i-- > 0; stride *= tensor.sizes[i])
            strides[i] = tensor.sparse ? 0 : stride;
        for (const std::int64_t value : tensor.strides.empty() ? strides : tensor.strides) record.put(value);
        if (!elsewhere && !tensor.sparse) return;
        record.put_text(tensor.sparse ? "Sparse" : "Strided");
        record.put_text(tensor.device);
    }
    bool commit() { return recorder.commit(chunk, record); }

    void define(std::uint32_t op, const char* name, const char* overload, const char* schema, std::uint8_t flags = 0) {
        record.start(records::OpDefinition{.op = op,
                                           .flags = static_cast<std::uint8_t>(flags | kHasSchema),
                                           .name = name,
                                           .overload = overload,
                                           .schema = schema});
        commit();
    }
    void begin_header(std::uint32_t op, std::uint32_t depth, std::size_t values, OpScope scope = OpScope::function,
                      std::int64_t sequence = -1, bool grad_mode = true) {
        record.start(
            records::OpBegin{.op = op, .depth = depth, .scope = scope, .grad_mode = grad_mode, .sequence = sequence});
        record.put(static_cast<std::uint16_t>(values));
    }
    /// The thread has LibTorch's number 0, which all ops name as that of the forward pass.
    void number_thread() {
        record.start(records::Thread{.number = 0, .main = true});
        commit();
    }
    void put_integers(const std::vector<std::int64_t>& integers) {
        for (const std::int64_t integer : integers) {
            record.put(ValueTag::integer);
            record.put(integer);
        }
    }
    void begin(std::uint32_t op, std::uint32_t depth, const std::vector<FakeTensor>& tensors,
               const std::vector<std::int64_t>& integers = {}, OpScope scope = OpScope::function) {
        begin_header(op, depth, tensors.size() + integers.size(), scope);
        for (const FakeTensor& tensor : tensors) put_tensor(tensor);
        put_integers(integers);
        commit();
    }
    /// OP(Tensor self, Tensor[] list, Tensor other, int …)
    void begin_with_list(std::uint32_t op, const FakeTensor& self, const std::vector<FakeTensor>& list,
                         const FakeTensor& other, const std::vector<std::int64_t>& integers) {
        begin_header(op, 0, 3 + integers.size());
        put_tensor(self);
        record.put(ValueTag::list);
        record.put(static_cast<std::uint32_t>(list.size()));
        for (const FakeTensor& tensor : list) put_tensor(tensor);
        put_tensor(other);
        put_integers(integers);
        commit();
    }
    void end(std::uint32_t op, std::uint32_t depth, const std::vector<FakeTensor>& results) {
        record.start(records::OpEnd{.op = op, .depth = depth});
        record.put(static_cast<std::uint16_t>(results.size()));
        for (const FakeTensor& tensor : results) put_tensor(tensor);
        commit();
    }
    void call(std::uint32_t op, const std::vector<FakeTensor>& tensors, const std::vector<FakeTensor>& results,
              const std::vector<std::int64_t>& integers = {}) {
        begin(op, 0, tensors, integers);
        end(op, 0, results);
    }
    void snapshot(const FakeTensor& tensor, const std::vector<float>& values) {
        record.start(records::Snapshot());
        put_tensor(tensor);
        record.put(static_cast<std::uint64_t>(values.size() * sizeof(float)));
        record.put_bytes(values.data(), values.size() * sizeof(float));
        commit();
    }
    void unseen_write(const FakeTensor& tensor) {
        record.start(records::UnseenWrite());
        put_tensor(tensor);
        commit();
    }
    void release(std::uint64_t tensor, std::uint8_t looked_at = 0, std::uint8_t waiting = 0) {
        record.start(records::Release{.tensor = tensor, .looked_at = looked_at, .waiting = waiting});
        commit();
    }
    void raise(const char* exception, std::uint8_t looked_at, std::uint8_t waiting) {
        record.start(records::Raised{.looked_at = looked_at, .waiting = waiting, .name = exception});
        commit();
    }
    void name(std::uint64_t tensor, const char* path, std::uint64_t root = 1) {
        record.start(
            records::Name{.tensor = tensor, .kind = NameKind::parameter, .root = root, .type = "Net", .path = path});
        commit();
    }

    void probe_enter(const char* function) {
        record.start(records::ProbeEnter{.function = function});
        commit();
    }
    void probe_name(const FakeTensor& tensor, const char* name, std::int64_t element = -1, bool parameter = true) {
        record.start(records::ProbeName{.parameter = parameter, .element = element, .name = name});
        put_tensor(tensor);
        commit();
    }
    void probe_value(const char* name, std::int64_t value) {
        record.start(records::ProbeValue{.name = name});
        record.put(ValueTag::integer);
        record.put(value);
        commit();
    }
    void probe_branch(const char* condition, std::uint32_t line, std::int64_t outcome, bool selects = false) {
        record.start(records::ProbeBranch{.line = line,
                                          .column = 9,
                                          .outcome = outcome,
                                          .kind = selects ? BranchKind::selected : BranchKind::taken,
                                          .file = "app.cpp",
                                          .condition = condition});
        commit();
    }
    void probe_leave() {
        record.start(records::ProbeLeave());
        commit();
    }

    bool ok = false;
    Recorder recorder;
    ThreadChunk chunk;
    RecordBuffer record;
};

}  // namespace whittle::libtorch
