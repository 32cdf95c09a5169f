#define WHITTLE_API_IMPLEMENTATION
#include "api/later.h"

#include <iostream>
#include <sstream>

#include "api/print_queue.h"
#include "api/session.h"
#include "base/error.h"

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

std::string shown(const Tensor& tensor) {
    std::ostringstream text;
    text << tensor;
    return text.str();
}

}  // namespace

void PrintQueue::add(std::vector<std::string> texts, const TensorList& tensors, const Session& session) {
    for (std::size_t i = 0; i < texts.size(); ++i) {
        pieces_.push_back({std::move(texts[i]), {}});
        if (i == tensors.size()) return;
        // One that has its value is shown now: what is written to it later does not matter.
        if (tensors[i].impl()->session.get() == &session)
            pieces_.push_back({{}, tensors[i]});
        else
            pieces_.push_back({shown(tensors[i]), {}});
    }
}

void PrintQueue::print() {
    const std::vector<Piece> pieces = std::exchange(pieces_, {});
    if (pieces.empty()) return;
    const NotRecording unseen;
    for (const Piece& piece : pieces)
        if (piece.tensor.defined())
            std::cout << piece.tensor;
        else
            std::cout << piece.text;
}

void print_later(const std::string& format, const TensorList& tensors) {
    std::vector<std::string> texts = texts_of(format);
    if (texts.size() != tensors.size() + 1)
        fail(format,
             "found " + std::to_string(tensors.size()) + " tensors for " + std::to_string(texts.size() - 1) + " {}");
    for (const Tensor& tensor : tensors) defined(tensor, "print_later");
    Session* const session = Session::current();
    if (session) return session->print_later(std::move(texts), tensors, __builtin_return_address(0));
    for (std::size_t i = 0; i < texts.size(); ++i) {
        std::cout << texts[i];
        if (i < tensors.size()) std::cout << tensors[i];
    }
}

}  // namespace whittle::api
