#include "frontends/libtorch/capture/hashes.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <mutex>
#include <unordered_set>

#include "frontends/libtorch/capture/element_pass.h"
#include "frontends/libtorch/capture/state.h"

namespace whittle::libtorch {

namespace {

// ---- The elements

/// Elements that do not lie in row-major order, brought into it block by block.
template <std::size_t kWidth>
class Gather {
  public:
    explicit Gather(ElementPass& pass) : pass_(pass) {}
    ~Gather() { pass_.add(block_, used_); }
    Gather(const Gather&) = delete;
    Gather& operator=(const Gather&) = delete;

    void take(const char* from, at::IntArrayRef sizes, at::IntArrayRef strides) {
        if (sizes.empty()) return put(from);
        const auto step = strides[0] * static_cast<std::int64_t>(kWidth);
        for (std::int64_t i = 0; i < sizes[0]; ++i)
            sizes.size() == 1 ? put(from + i * step) : take(from + i * step, sizes.slice(1), strides.slice(1));
    }

  private:
    void put(const char* from) {
        std::memcpy(block_ + used_, from, kWidth);
        used_ += kWidth;
        if (used_ < ElementPass::kBlock) return;
        pass_.add(block_, used_);
        used_ = 0;
    }
    ElementPass& pass_;
    char block_[ElementPass::kBlock];
    std::size_t used_ = 0;
};

template <std::size_t kWidth>
void gather(const at::Tensor& tensor, ElementPass& pass) {
    Gather<kWidth>(pass).take(static_cast<const char*>(tensor.unsafeGetTensorImpl()->data()), tensor.sizes(),
                              tensor.strides());
}

void look_at_elements(const at::Tensor& tensor, HashRow& row) {
    ElementPass pass(static_cast<ElementType>(tensor.scalar_type()));
    const std::size_t width = tensor.element_size();
    if (tensor.numel() == 0) {
    } else if (tensor.is_contiguous())
        pass.add(static_cast<const char*>(tensor.unsafeGetTensorImpl()->data()),
                 static_cast<std::size_t>(tensor.numel()) * width);
    else if (width == 1)
        gather<1>(tensor, pass);
    else if (width == 2)
        gather<2>(tensor, pass);
    else if (width == 4)
        gather<4>(tensor, pass);
    else if (width == 8)
        gather<8>(tensor, pass);
    else
        gather<16>(tensor, pass);
    pass.finish(row);
}

// ---- What values are like

bool is_part_of_form(const c10::IValue& value) {
    if (value.isInt()) return is_form_number(static_cast<std::int64_t>(value.toInt()));
    if (value.isDouble()) return is_form_number(value.toDouble());
    return !value.isComplexDouble();
}

std::uint64_t bits_of(double value) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

std::uint64_t hash_number(const c10::IValue& value) {
    if (value.isInt()) return hash(1, static_cast<std::uint64_t>(value.toInt()));
    if (value.isDouble()) return hash(2, bits_of(value.toDouble()));
    if (value.isBool()) return hash(3, value.toBool());
    return hash(hash(4, bits_of(value.toComplexDouble().real())), bits_of(value.toComplexDouble().imag()));
}
bool is_number(const c10::IValue& value) {
    return value.isInt() || value.isDouble() || value.isBool() || value.isComplexDouble();
}

std::uint64_t hash_text(std::uint64_t key, const std::string& text) {
    for (const char c : text) key = hash(key, static_cast<unsigned char>(c));
    return hash(key, text.size());
}

/// Type and sizes, and how it lies in memory.
std::uint64_t hash_geometry(std::uint64_t key, const at::Tensor& tensor) {
    key = hash(key, static_cast<std::uint64_t>(tensor.scalar_type()));
    for (const std::int64_t size : tensor.sizes()) key = hash(key, static_cast<std::uint64_t>(size));
    for (const std::int64_t stride : tensor.strides()) key = hash(key, static_cast<std::uint64_t>(stride) ^ 0x5555u);
    return key;
}

std::uint64_t hash_meta(std::uint64_t key, const c10::IValue& value) {
    if (value.isTensor()) {
        const at::Tensor& tensor = value.toTensor();
        if (!tensor.defined()) return hash(key, 5);
        if (!is_plain(tensor)) return hash(key, 6);
        return hash_geometry(hash(key, tensor.requires_grad() ? 7 : 8), tensor);
    }
    if (value.isList()) {
        for (const c10::IValue& element : value.toListRef()) key = hash_meta(key, element);
        return hash(key, 9);
    }
    if (value.isTuple()) {
        for (const c10::IValue& element : value.toTupleRef().elements()) key = hash_meta(key, element);
        return hash(key, 10);
    }
    if (value.isString()) return hash_text(key, value.toStringRef());
    if (is_number(value)) return hash(key, is_part_of_form(value) ? hash_number(value) : value.isInt() ? 11 : 12);
    return hash(key, value.isNone() ? 13 : 14);
}

// ---- Forms

void describe(Thread& thread, RecordBuffer& record, c10::ArrayRef<const c10::IValue> values) {
    record.put(static_cast<std::uint16_t>(values.size()));
    for (const c10::IValue& value : values) put_value(thread, record, value);
}

/// `described`: the arguments, as describe() has them; `form.arguments_of` where another form has them.
void write_form(Thread& thread, const records::Form& form, const RecordBuffer* described,
                c10::ArrayRef<const c10::IValue> results) {
    RecordBuffer& record = thread.definition;
    record.start(form);
    if (described)
        record.put_bytes(described->data(), described->size());
    else
        record.put(std::uint16_t{0});
    describe(thread, record, results);
    commit(thread, record);
}

/// Of a row that is no operation.
std::uint32_t form_of(Thread& thread, RowKind kind, std::uint32_t stack, std::uint32_t operands,
                      const c10::IValue* value) {
    std::uint64_t key = hash(hash(static_cast<std::uint64_t>(kind), stack), operands);
    if (value) key = hash_meta(key, *value);
    std::uint32_t& form = thread.hashing.forms[key];
    if (form) return form;
    form = state.next_form.fetch_add(1);
    write_form(thread,
               {.form = form,
                .kind = static_cast<std::uint8_t>(kind),
                .stack = stack,
                .operands = operands,
                .results = value ? 1u : 0u},
               nullptr, value ? c10::ArrayRef<const c10::IValue>(*value) : c10::ArrayRef<const c10::IValue>());
    return form;
}

std::uint32_t append(const HashRow* rows, std::size_t count) {
    const std::uint32_t first = state.rows.append(rows, static_cast<std::uint32_t>(count));
    if (!first) state.recorder.cut(kCutSize);
    return first;
}

// ---- Which row a tensor is

constexpr std::uint64_t kWriter = 2, kUnwritten = 3;  ///< keys of what last wrote to a storage; see row_of()

/// Storages whose memory somebody else may write to, by their numbers.
struct Exposed {
    std::atomic<bool> any{false};
    std::mutex mutex;
    std::unordered_set<std::uint64_t> storages;
};
Exposed& exposed = *new Exposed;

bool is_exposed(const at::Tensor& tensor, std::uint64_t storage) {
    if (!tensor.storage().allocator()) return true;  // from_blob(), from_numpy()
    if (!exposed.any.load(std::memory_order_relaxed)) return false;
    const std::lock_guard lock(exposed.mutex);
    return exposed.storages.contains(storage);
}

std::uint64_t place_key(const at::Tensor& tensor) {
    const std::uint64_t key = hash(version_of(tensor), static_cast<std::uint64_t>(tensor.storage_offset()));
    return hash_geometry(key, tensor);
}

/// Of elements that no operation of the program's made, or whose maker is not known: a parameter, an input.
std::uint32_t value_row(Thread& thread, const at::Tensor& tensor, HashRow& row) {
    const c10::IValue value(tensor);
    auto from = known_elements(tensor, kWriter);
    if (!from) from = known_elements(tensor, hash(place_key(tensor), kUnwritten));
    row.operands[0] = static_cast<std::uint32_t>(from.value_or(0));
    row.form = form_of(thread, RowKind::value, 0, 1, &value);
    return append(&row, 1);
}

/// Of an operand; 0: it is not on the CPU, or otherwise not plain. `written`: the operation writes there, so of memory
/// with nothing in it yet the elements are of no interest.
std::uint32_t row_of(Thread& thread, const at::Tensor& tensor, bool written) {
    if (!is_plain(tensor)) return 0;
    const std::uint64_t storage = storage_of(thread.identities, tensor), key = place_key(tensor);
    const bool open = is_exposed(tensor, storage);
    if (!open)
        if (const auto known = known_elements(tensor, key)) return static_cast<std::uint32_t>(*known);
    if (written)
        if (const auto known = known_elements(tensor, hash(key, kUnwritten))) return static_cast<std::uint32_t>(*known);
    HashRow row{};
    look_at_elements(tensor, row);
    const std::uint64_t as_is = open ? hash(key, row.hash) : key;
    if (open)
        if (const auto known = known_elements(tensor, as_is)) return static_cast<std::uint32_t>(*known);
    const std::uint32_t number = value_row(thread, tensor, row);
    if (open) forget_elements(tensor);  // what lay there is gone
    remember_elements(tensor, as_is, number);
    return number;
}

std::uint32_t row_of_number(Thread& thread, const c10::IValue& value) {
    const std::uint64_t key = hash_number(value);
    Hashing::Number& known = thread.hashing.numbers[key >> 56];
    if (known.key == key && known.row) return known.row;
    HashRow row{};
    row.hash = key;
    row.sum = value.isInt() ? static_cast<double>(value.toInt()) : value.isDouble() ? value.toDouble() : 0;
    row.absolute = std::fabs(row.sum);
    row.largest = static_cast<float>(row.absolute);
    row.form = form_of(thread, RowKind::value, 0, 0, &value);
    known = {key, append(&row, 1)};
    return known.row;
}

/// A number of the program's, of which ATen made a tensor.
bool is_wrapped_number(const at::Tensor& tensor) {
    return is_plain(tensor) && tensor.unsafeGetTensorImpl()->is_wrapped_number() &&
           (tensor.scalar_type() == at::kDouble || tensor.scalar_type() == at::kLong);
}
c10::IValue unwrapped(const at::Tensor& tensor) {
    const void* const data = tensor.unsafeGetTensorImpl()->data();
    if (tensor.scalar_type() == at::kDouble) return *static_cast<const double*>(data);
    return *static_cast<const std::int64_t*>(data);
}

void collect_operands(Thread& thread, const c10::IValue& value, bool written) {
    std::vector<std::uint32_t>& operands = thread.hashing.operands;
    if (value.isTensor()) {
        const at::Tensor& tensor = value.toTensor();
        if (!tensor.defined()) return;
        operands.push_back(is_wrapped_number(tensor) ? row_of_number(thread, unwrapped(tensor))
                                                     : row_of(thread, tensor, written));
    } else if (value.isList()) {
        for (const c10::IValue& element : value.toListRef()) collect_operands(thread, element, written);
    } else if (value.isTuple()) {
        for (const c10::IValue& element : value.toTupleRef().elements()) collect_operands(thread, element, written);
    } else if (is_number(value) && !is_part_of_form(value)) {
        operands.push_back(row_of_number(thread, value));
    }
}

bool is_written(const OpInfo& info, std::size_t argument) { return argument < 64 && info.written >> argument & 1; }

/// A result, or several in a list: their statistics. `tensors` gets what is to be remembered, null for numbers.
void collect_results(const OpInfo& info, const c10::IValue& value, std::vector<HashRow>& rows,
                     std::vector<const at::Tensor*>& tensors) {
    HashRow row{};
    if (value.isTensor() && value.toTensor().defined()) {
        const bool hashed = is_plain(value.toTensor());
        if (hashed && !info.makes_memory) look_at_elements(value.toTensor(), row);
        tensors.push_back(hashed ? &value.toTensor() : nullptr);
    } else if (value.isList()) {
        for (const c10::IValue& element : value.toListRef()) collect_results(info, element, rows, tensors);
        return;
    } else if (value.isTuple()) {
        for (const c10::IValue& element : value.toTupleRef().elements()) collect_results(info, element, rows, tensors);
        return;
    } else if (is_number(value)) {
        row.hash = hash_number(value);
        row.sum = value.isDouble() ? value.toDouble() : value.isInt() ? static_cast<double>(value.toInt()) : 0;
        row.absolute = std::fabs(row.sum);
        row.largest = static_cast<float>(row.absolute);
        tensors.push_back(nullptr);
    } else {
        return;
    }
    rows.push_back(row);
}

void remember_result(Thread& thread, const OpInfo& info, const at::Tensor& tensor, std::uint32_t row) {
    storage_of(thread.identities, tensor);  // what is known belongs to its number
    if (info.writes) {
        forget_elements(tensor);  // tensors that share the memory but not the version counter
        remember_elements(tensor, kWriter, row);
    }
    const std::uint64_t key = place_key(tensor);
    remember_elements(tensor, info.makes_memory ? hash(key, kUnwritten) : key, row);
}

}  // namespace

void start_rows() {
    if (!state.recorder.with_hashes()) return;
    if (!state.rows.start(state.recorder.path(), state.recorder.most_bytes())) state.recorder.cut(kCutDisk);
}

void hash_begin(Thread& thread, const OpInfo& info, c10::ArrayRef<const c10::IValue> inputs) {
    Hashing& hashing = thread.hashing;
    hashing.operands.clear();
    std::uint64_t key = hash(hash(hash(99, info.id), hashing.stack), hashing.under);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        key = hash_meta(key, inputs[i]);
        collect_operands(thread, inputs[i], is_written(info, i));
    }
    hashing.arguments = key;
    if (!hashing.described_by.contains(key)) {
        hashing.described.clear();
        describe(thread, hashing.described, inputs);
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const bool statistics = info.updates_statistics && i >= 3 && i < 5;
        if (is_written(info, i) || statistics) forget_elements(inputs[i]);
    }
}

void hash_end(Thread& thread, const OpInfo& info, c10::ArrayRef<const c10::IValue> outputs) {
    Hashing& hashing = thread.hashing;
    std::uint64_t key = hashing.arguments;
    std::vector<HashRow>& rows = hashing.rows;
    std::vector<const at::Tensor*> tensors;
    rows.clear();
    for (const c10::IValue& output : outputs) {
        key = hash_meta(key, output);
        collect_results(info, output, rows, tensors);
    }
    const std::size_t results = rows.size(), operands = hashing.operands.size();
    std::uint32_t& form = hashing.forms[key];
    if (!form) {
        form = state.next_form.fetch_add(1);
        const auto [first, fresh] = hashing.described_by.try_emplace(hashing.arguments, form);
        write_form(thread,
                   {.form = form,
                    .kind = static_cast<std::uint8_t>(RowKind::operation),
                    .op = info.id,
                    .stack = hashing.stack,
                    .under = hashing.under,
                    .operands = static_cast<std::uint32_t>(operands),
                    .results = static_cast<std::uint32_t>(results),
                    .arguments_of = fresh ? 0 : first->second},
                   fresh ? &hashing.described : nullptr, outputs);
    }
    rows.resize(std::max({results, (operands + kRowOperands - 1) / kRowOperands, std::size_t{1}}));
    rows[0].form = form;
    for (std::size_t i = 0; i < operands; ++i) rows[i / kRowOperands].operands[i % kRowOperands] = hashing.operands[i];
    const std::uint32_t first = append(rows.data(), rows.size());
    for (std::size_t i = 0; first && i < results; ++i)
        if (tensors[i]) remember_result(thread, info, *tensors[i], first + static_cast<std::uint32_t>(i));
}

void hash_read(Thread& thread, const at::Tensor& tensor, std::uint32_t stack, bool writable) {
    if (!tensor.defined() || !is_plain(tensor)) return;
    HashRow row{};
    row.operands[0] = row_of(thread, tensor, false);
    row.form = form_of(thread, RowKind::read, stack, 1, nullptr);
    append(&row, 1);
    if (!writable) return;
    const std::uint64_t storage = storage_of(thread.identities, tensor);
    const std::lock_guard lock(exposed.mutex);
    exposed.storages.insert(storage);
    exposed.any = true;
}

std::uint32_t count_nans(const at::Tensor& tensor) {
    HashRow row{};
    look_at_elements(tensor, row);
    return row.nans;
}

}  // namespace whittle::libtorch
