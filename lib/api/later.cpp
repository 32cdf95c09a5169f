#define WHITTLE_API_IMPLEMENTATION
#include "api/later.h"

#include <iostream>
#include <sstream>

#include "api/print_queue.h"
#include "api/session.h"
#include "api/stack.h"
#include "base/error.h"
#include "graph/text.h"
#include "ops/core/assertions.h"

namespace whittle::api {
namespace {

[[noreturn]] void fail(const std::string& format, const std::string& what) {
    throw Error("print_later(\"" + format + "\"): " + what);
}

/// The texts before, between and behind the tensors.
std::vector<std::string> texts_of(const std::string& format) {
    std::vector<std::string> texts(1);
    for (std::size_t i = 0; i < format.size(); ++i) {
        const char c = format[i], next = i + 1 < format.size() ? format[i + 1] : '\0';
        if (c != '{' && c != '}') {
            texts.back() += c;
        } else if (next == c) {
            texts.back() += c, ++i;
        } else if (c == '{' && next == '}') {
            texts.emplace_back(), ++i;
        } else {
            fail(format, std::string("found a single '") + c + "', expected {} or " + c + c);
        }
    }
    return texts;
}

std::string tensor_text(const Tensor& tensor) {
    std::ostringstream text;
    text << tensor;
    return text.str();
}

void write(const PrintQueue::Target& target, const std::string& text) {
    if (std::ostream* const* out = std::get_if<std::ostream*>(&target))
        **out << text;
    else
        std::fwrite(text.data(), 1, text.size(), std::get<std::FILE*>(target));
}

}  // namespace

void PrintQueue::add(Target target, std::string text) {
    if (!text.empty()) pieces_.push_back({target, std::move(text), {}});
}

void PrintQueue::add(Target target, const Tensor& tensor, const Session* session) {
    const bool pending = session && tensor.impl()->session.get() == session;
    pieces_.push_back({target, pending ? std::string() : tensor_text(tensor), pending ? tensor : Tensor()});
}

void PrintQueue::add(Target target, const std::vector<std::string>& texts, const TensorList& tensors,
                     const Session* session) {
    for (std::size_t i = 0; i < texts.size(); ++i) {
        add(target, texts[i]);
        if (i < tensors.size()) add(target, tensors[i], session);
    }
}

void PrintQueue::add_check(const Tensor& condition, const Tensor& about, Check check) {
    pieces_.push_back({{}, {}, condition, about, std::move(check)});
}

void PrintQueue::print() {
    const std::vector<Piece> pieces = std::exchange(pieces_, {});
    if (pieces.empty()) return;
    const NotRecording unseen;
    for (const Piece& piece : pieces) {
        if (!piece.check)
            write(piece.target, piece.tensor.defined() ? tensor_text(piece.tensor) : piece.text);
        else if (!demand(piece.tensor, {}).item().to_bool())
            piece.check->fail(demand(piece.about, {}));
    }
}

void PrintQueue::Check::fail(const whittle::Tensor& about) const {
    const std::vector<StackFrame> stack = user_stack({pc});
    throw CheckError(std::string(function) + " failed: " + failed_assertion(message, about) +
                     (stack.empty() ? "" : "\n" + whittle::print(stack)));
}

void print_later(const std::string& format, const TensorList& tensors) {
    const std::vector<std::string> texts = texts_of(format);
    if (texts.size() != tensors.size() + 1)
        fail(format, "found " + std::to_string(tensors.size()) + " tensors for " + std::to_string(texts.size() - 1) +
                         " {}, expected one tensor for each {}");
    for (const Tensor& tensor : tensors) defined(tensor, "print_later");
    Session* const session = Session::current();
    if (session) return session->print_later(texts, tensors, __builtin_return_address(0));
    PrintQueue at_once;
    at_once.add(&std::cout, texts, tensors, nullptr);
    at_once.print();
}

namespace {

using Check = PrintQueue::Check;

void check_at(const Tensor& condition, const Tensor& about, const Check& check) {
    const ValueMeta& meta = defined(condition, "check").meta;
    if (meta.dtype != DType::boolean || meta.numel() != 1)
        throw Error("check(\"" + check.message + "\"): found " + print(meta) + ", expected a boolean of one element");
    if (Session* const session = Session::current()) return session->check_later(condition, about, check);
    if (!demand(condition, {}).item().to_bool()) check.fail(demand(about, {}));
}

template <class T>
void check_at(bool condition, const T& about, const Check& check) {
    if (!condition) check.fail(whittle::Tensor::of(whittle::Scalar(about), whittle::Scalar(about).dtype()));
}

using Bound = std::optional<std::int64_t>;

/// What is compared with bounds of 64 bits: in its own dtype they would wrap, or be rounded.
template <class T>
const T& wide(const T& number) {
    return number;
}
Tensor wide(const Tensor& number) {
    const whittle::DType dtype = defined(number, "constrain_range").meta.dtype;
    if (is_floating(dtype)) return dtype == whittle::DType::f64 ? number : number.to(kDouble);
    const bool narrow = is_integer(dtype) && dtype != whittle::DType::i64 && dtype != whittle::DType::u64;
    return narrow ? number.to(kLong) : number;
}

/// Of numbers and tensors alike: each bound is a check of its own.
template <class T>
void check_range(const T& number, const Bound& least, const Bound& most, Check check) {
    const std::string name = std::exchange(check.message, {});
    const auto each = [&](const auto& condition, const char* bound, std::int64_t value) {
        check.message = name + bound + std::to_string(value);
        check_at(condition, number, check);
    };
    const auto& compared = wide(number);
    if (least) each(compared >= *least, " is at least ", *least);
    if (most) each(compared <= *most, " is at most ", *most);
    if constexpr (std::is_same_v<T, std::int64_t>)
        if (Session* const session = Session::current()) session->constrain(number, {least, most}, check.pc);
}

void check_range(const Scalar& number, const Bound& least, const Bound& most, const Check& check) {
    if (number.symbol()) return check_range(Tensor(number.symbol()), least, most, check);
    if (number.kind() == Scalar::Kind::floating) return check_range(number.to<double>(), least, most, check);
    if (number.kind() == Scalar::Kind::boolean) return check_range(number.to<bool>(), least, most, check);
    check_range(number.to<std::int64_t>(), least, most, check);
}

Check size_at(void* pc) { return {"check_is_size", "a size", pc}; }
Check range_at(void* pc) { return {"constrain_range", "the number", pc}; }

}  // namespace

void check(const Tensor& condition, const std::string& message) {
    check_at(condition, condition, {"check", message, __builtin_return_address(0)});
}
void check(bool condition, const std::string& message) {
    check_at(condition, condition, {"check", message, __builtin_return_address(0)});
}

void check_is_size(const Tensor& number) { check_range(number, 0, {}, size_at(__builtin_return_address(0))); }
void check_is_size(std::int64_t number) { check_range(number, 0, {}, size_at(__builtin_return_address(0))); }
void check_is_size(const Scalar& number) { check_range(number, 0, {}, size_at(__builtin_return_address(0))); }

void constrain_range(const Scalar& number, std::optional<std::int64_t> least, std::optional<std::int64_t> most) {
    check_range(number, least, most, range_at(__builtin_return_address(0)));
}
void constrain_range(const Tensor& number, std::optional<std::int64_t> least, std::optional<std::int64_t> most) {
    check_range(number, least, most, range_at(__builtin_return_address(0)));
}
void constrain_range(std::int64_t number, std::optional<std::int64_t> least, std::optional<std::int64_t> most) {
    check_range(number, least, most, range_at(__builtin_return_address(0)));
}

}  // namespace whittle::api
