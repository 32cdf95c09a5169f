#include "frontends/pt2/pickle.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"

namespace whittle::pt2 {
namespace {

struct Value;
using Ref = const Value*;

struct Sequence {
    std::vector<Ref> items;
};
struct Dict {
    std::vector<std::pair<Ref, Ref>> items;
};
struct Global {
    std::string name;  ///< "torch._utils _rebuild_tensor_v2"
};
/// A persistent id: elements that lie in an entry of their own.
struct Elements {
    std::string key;
    std::optional<DType> dtype;  ///< nothing: bytes, whose tensors name the type
};
struct Value {
    std::variant<std::monostate, bool, std::int64_t, double, std::string, Sequence, Dict, Global, Elements, Tensor> is;
};

constexpr std::string_view kOrderedDict = "collections OrderedDict", kTensor = "torch._utils _rebuild_tensor_v2",
                           kTypedTensor = "torch._utils _rebuild_tensor_v3", kBytes = "torch.storage UntypedStorage";
/// Of a parameter; the second with attributes that somebody gave it.
constexpr std::string_view kParameters[] = {"torch._utils _rebuild_parameter",
                                            "torch._utils _rebuild_parameter_with_state"};
bool is_parameter(std::string_view name) { return std::ranges::find(kParameters, name) != std::end(kParameters); }
constexpr std::string_view kTorch = "torch ";

/// Of a storage's class, such as "torch FloatStorage".
std::optional<DType> dtype_of_storage(std::string_view name) {
    constexpr std::string_view kClass = "Storage";
    if (!name.starts_with(kTorch) || !name.ends_with(kClass)) return {};
    name.remove_prefix(kTorch.size());
    name.remove_suffix(kClass.size());
    return dtype_with(&DTypeInfo::aten_name, name);
}

/// Of a type itself, "torch float8_e5m2": those of PyTorch 2.1 and later have no storage class.
std::optional<DType> dtype_called(std::string_view name) {
    if (!name.starts_with(kTorch)) return {};
    name.remove_prefix(kTorch.size());
    for (const DType dtype : kAllDTypes)
        if (std::ranges::equal(name, info_of(dtype).torch, {}, {}, [](char c) { return std::tolower(c); }))
            return dtype;
    return {};
}

class Unpickler {
  public:
    Unpickler(const Archive& archive, std::string root)
        : archive_(archive), root_(std::move(root)), text_(archive.text(root_ + "data.pkl")) {}

    Ref read() {
        for (;;) {
            const std::uint8_t code = byte();
            if (code == '.') return pop();
            step(code);
        }
    }

    [[noreturn]] void refuse(const std::string& found) const {
        throw Error({archive_.file(), root_ + "data.pkl: byte " + std::to_string(at_)}, found);
    }

  private:
    template <class T>
    T take() {
        T value;
        if (text_.size() - at_ < sizeof value) refuse("the pickle ends in the middle of a value");
        std::memcpy(&value, text_.data() + at_, sizeof value);
        at_ += sizeof value;
        return value;
    }
    std::uint8_t byte() { return take<std::uint8_t>(); }
    std::string bytes(std::size_t count) {
        if (text_.size() - at_ < count) refuse("the pickle ends in the middle of a string");
        at_ += count;
        return text_.substr(at_ - count, count);
    }
    std::string line() {
        const std::size_t end = text_.find('\n', at_);
        if (end == text_.npos) refuse("the pickle ends in the middle of a line");
        std::string found = bytes(end - at_);
        ++at_;
        return found;
    }

    template <class T>
    void push(T value) {
        values_.push_back({std::move(value)});
        stack_.push_back(&values_.back());
    }
    Ref pop() {
        if (stack_.empty() || (!marks_.empty() && stack_.size() <= marks_.back()))
            refuse("found no value on the stack, expected a value for the operation");
        const Ref top = stack_.back();
        stack_.pop_back();
        return top;
    }
    std::vector<Ref> pop_mark() {
        if (marks_.empty()) refuse("found no mark on the stack, expected a mark before the operation");
        std::vector<Ref> items(stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()), stack_.end());
        stack_.resize(marks_.back());
        marks_.pop_back();
        return items;
    }
    std::vector<Ref> pop_some(std::size_t count) {
        std::vector<Ref> items(count);
        while (count-- > 0) items[count] = pop();
        return items;
    }
    template <class T>
    const T& as(Ref value, const char* expected) const {
        const T* found = std::get_if<T>(&value->is);
        if (!found) refuse(std::string("found a value of another type, expected ") + expected);
        return *found;
    }
    /// The value on top, to be added to. Only this reader has made it.
    template <class T>
    T& top(const char* expected) {
        if (stack_.empty()) refuse("found no value on the stack, expected a value for the operation");
        return const_cast<T&>(as<T>(stack_.back(), expected));
    }

    void step(std::uint8_t code) {
        switch (code) {
            case 0x80:
                return static_cast<void>(byte());  // the protocol
            case '(':
                return marks_.push_back(stack_.size());
            case 'N':
                return push(std::monostate());
            case 0x88:
            case 0x89:
                return push(code == 0x88);
            case 'J':
                return push(std::int64_t{take<std::int32_t>()});
            case 'K':
                return push(std::int64_t{byte()});
            case 'M':
                return push(std::int64_t{take<std::uint16_t>()});
            case 0x8a:
                return push(long_integer());
            case 'G':
                return push(std::bit_cast<double>(__builtin_bswap64(take<std::uint64_t>())));
            case 'X':
                return push(bytes(take<std::uint32_t>()));
            case 'q':
                return put(byte());
            case 'r':
                return put(take<std::uint32_t>());
            case 'h':
                return get(byte());
            case 'j':
                return get(take<std::uint32_t>());
            default:
                return step_of_container(code);
        }
    }

    void step_of_container(std::uint8_t code) {
        switch (code) {
            case '}':
                return push(Dict());
            case ')':
            case ']':
                return push(Sequence());
            case 't':
                return push(Sequence{pop_mark()});
            case 0x85:
            case 0x86:
            case 0x87:
                return push(Sequence{pop_some(code - 0x84u)});
            case 'a':
                return append({pop()});
            case 'e':
                return append(pop_mark());
            case 's':
                return set_items(pop_some(2));
            case 'u':
                return set_items(pop_mark());
            case 'c':
                return global();
            case 'Q':
                return push(elements(pop()));
            case 'R':
                return reduce();
            case 'b':
                return static_cast<void>(pop());  // what an OrderedDict says of itself
            default:
                refuse("found operation code " + std::to_string(code) + ", which state dicts do not use");
        }
    }

    std::int64_t long_integer() {
        const std::size_t count = byte();
        if (count > 8) refuse("found an integer of " + std::to_string(count) + " bytes, expected at most 8 bytes");
        const std::string digits = bytes(count);
        std::uint64_t value = !digits.empty() && (digits.back() & 0x80) ? ~std::uint64_t{0} : 0;
        for (std::size_t i = count; i-- > 0;) value = (value << 8) | static_cast<std::uint8_t>(digits[i]);
        return static_cast<std::int64_t>(value);
    }
    void put(std::uint32_t slot) {
        if (stack_.empty()) refuse("found no value on the stack, expected a value for the operation");
        memo_[slot] = stack_.back();
    }
    void get(std::uint32_t slot) {
        const auto found = memo_.find(slot);
        if (found == memo_.end()) refuse("the pickle reads slot " + std::to_string(slot) + ", which is empty");
        stack_.push_back(found->second);
    }
    void append(const std::vector<Ref>& items) {
        auto& list = top<Sequence>("a list").items;
        list.insert(list.end(), items.begin(), items.end());
    }
    void set_items(const std::vector<Ref>& items) {
        if (items.size() % 2 != 0) refuse("found a key without a value, expected a value for each key");
        auto& dict = top<Dict>("a dictionary").items;
        for (std::size_t i = 0; i < items.size(); i += 2) dict.emplace_back(items[i], items[i + 1]);
    }
    void global() {
        std::string name = line();
        name += ' ' + line();
        const bool known = name == kOrderedDict || name == kTensor || name == kTypedTensor || is_parameter(name) ||
                           name == kBytes || dtype_of_storage(name) || dtype_called(name);
        if (!known)
            refuse("found '" + name + "', expected a known type of tensor: Whittle never runs code in a pickle");
        push(Global{std::move(name)});
    }
    /// ('storage', class, key, device, number of elements).
    Elements elements(Ref id) const {
        const std::vector<Ref>& parts = as<Sequence>(id, "a persistent id").items;
        if (parts.size() != 5 || as<std::string>(parts[0], "a string") != "storage")
            refuse(
                "found a persistent id that does not name a storage, expected ('storage', class, key, device, size)");
        const std::string& name = as<Global>(parts[1], "a storage's class").name;
        const auto dtype = dtype_of_storage(name);
        if (!dtype && name != kBytes) refuse("found a storage of type '" + name + "', which Whittle does not support");
        return {as<std::string>(parts[2], "a storage's key"), dtype};
    }
    void reduce() {
        const std::vector<Ref>& arguments = as<Sequence>(pop(), "arguments").items;
        const std::string& name = as<Global>(pop(), "a function").name;
        if (name == kOrderedDict && arguments.empty()) return push(Dict());
        if (name == kTensor && arguments.size() >= 4)
            return push(tensor(arguments, as<Elements>(arguments[0], "a storage").dtype));
        if (name == kTypedTensor && arguments.size() >= 7)
            return push(tensor(arguments, dtype_called(as<Global>(arguments[6], "a data type").name)));
        if (is_parameter(name) && !arguments.empty()) return push(as<Tensor>(arguments[0], "a tensor"));
        refuse("found a call of '" + name + "' with " + std::to_string(arguments.size()) +
               " arguments, which Whittle does not support");
    }
    Tensor tensor(const std::vector<Ref>& arguments, std::optional<DType> dtype) {
        if (!dtype) refuse("found a tensor without a data type, expected a data type");
        const Elements& from = as<Elements>(arguments[0], "a storage");
        std::shared_ptr<Storage>& storage = storages_[from.key];
        if (!storage) storage = archive_.bytes(root_ + "data/" + from.key);
        const Sizes sizes = integers(arguments[2]), strides = integers(arguments[3]);
        const std::int64_t offset = as<std::int64_t>(arguments[1], "an offset");
        try {
            return {storage, *dtype, sizes, strides, offset};
        } catch (const Error& error) {  // beyond what is stored
            refuse(error.message());
        }
    }
    Sizes integers(Ref list) const {
        Sizes numbers;
        for (const Ref item : as<Sequence>(list, "sizes").items)
            numbers.push_back(as<std::int64_t>(item, "an integer"));
        return numbers;
    }

    const Archive& archive_;
    std::string root_, text_;
    std::size_t at_ = 0;
    std::deque<Value> values_;
    std::vector<Ref> stack_;
    std::vector<std::size_t> marks_;
    std::map<std::uint32_t, Ref> memo_;
    std::map<std::string, std::shared_ptr<Storage>> storages_;
};

}  // namespace

std::map<std::string, Tensor> read_state_dict(const Archive& archive) {
    constexpr std::string_view kPickle = "data.pkl";
    for (const std::string& entry : archive.entries()) {
        if (entry != kPickle && !entry.ends_with("/data.pkl")) continue;
        Unpickler unpickler(archive, entry.substr(0, entry.size() - kPickle.size()));
        const Ref read = unpickler.read();
        const auto* dict = std::get_if<Dict>(&read->is);
        if (!dict) unpickler.refuse("found a value that is not a dictionary, expected a dictionary of named tensors");
        std::map<std::string, Tensor> tensors;
        for (const auto& [key, value] : dict->items) {
            const auto* name = std::get_if<std::string>(&key->is);
            const auto* tensor = std::get_if<Tensor>(&value->is);
            if (!name || !tensor)
                unpickler.refuse("found a dictionary entry that is not a named tensor, expected only named tensors");
            tensors.insert_or_assign(*name, *tensor);
        }
        return tensors;
    }
    throw Error({archive.file(), {}}, "found no data.pkl in the archive, expected a state dict");
}

}  // namespace whittle::pt2
