#include "run/outcome.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <new>

#include "base/error.h"

namespace whittle {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Outcome from_failure(const BackendFailure& failure) {
    Outcome outcome;
    outcome.kind = failure.unsupported                   ? Outcome::Kind::unsupported
                   : says_out_of_memory(failure.message) ? Outcome::Kind::out_of_memory
                                                         : Outcome::Kind::exception;
    outcome.stage = failure.stage;
    outcome.op = failure.op;
    outcome.message = failure.message;
    return outcome;
}

/// Runs `f`; what it throws becomes the outcome of `stage`.
template <class F>
void guarded(Outcome& outcome, const char* stage, F&& f) {
    try {
        f();
        return;
    } catch (const std::bad_alloc&) {
        outcome.kind = Outcome::Kind::out_of_memory;
        outcome.message = "out of memory";
    } catch (const std::exception& error) {
        outcome.message = error.what();
        outcome.kind = says_out_of_memory(outcome.message) ? Outcome::Kind::out_of_memory : Outcome::Kind::exception;
    } catch (...) {
        outcome.kind = Outcome::Kind::exception;
        outcome.message = "an exception that is not a std::exception";
    }
    outcome.stage = stage;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Replaces what differs between runs of one bug: numbers, addresses, paths, names of values; squeezes white space.
class Normalizer {
  public:
    explicit Normalizer(std::string_view text) : text_(text) {}

    std::string run() {
        while (at_ < text_.size()) step();
        while (!out_.empty() && out_.back() == ' ') out_.pop_back();
        return std::move(out_);
    }

  private:
    void step() {
        const char c = text_[at_];
        if (std::isspace(static_cast<unsigned char>(c))) {
            if (!out_.empty() && out_.back() != ' ') out_ += ' ';
            at_++;
        } else if (c == '%' && at_ + 1 < text_.size() && is_word(text_[at_ + 1])) {
            at_++;
            word();
            out_ += "%_";
        } else if (c == '/' && at_ + 1 < text_.size() && is_word(text_[at_ + 1])) {
            path();
        } else if (std::isdigit(static_cast<unsigned char>(c))) {
            word();
            number();
        } else if (is_word(c)) {
            out_ += without_number(word());
        } else {
            out_ += c;
            at_++;
        }
    }

    std::string_view word() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && is_word(text_[at_])) at_++;
        return text_.substr(begin, at_ - begin);
    }

    /// One '#' for a number, and for a list of them, whose length changes with the rank.
    void number() {
        const auto digit_at = [this](std::size_t i) {
            return i < text_.size() && std::isdigit(static_cast<unsigned char>(text_[i]));
        };
        // A fraction, and an exponent's sign: "1.5e-07".
        while (at_ < text_.size() && digit_at(at_ + 1) &&
               (text_[at_] == '.' || (text_[at_ - 1] == 'e' && (text_[at_] == '-' || text_[at_] == '+')))) {
            at_++;
            word();
        }
        while (!out_.empty() && out_.back() == '-') out_.pop_back();
        if (out_.ends_with("#, "))
            out_.erase(out_.size() - 2);
        else if (out_.ends_with("# "))
            out_.pop_back();
        else
            out_ += '#';
        if (out_.ends_with(' ')) out_.pop_back();
    }

    void path() {
        while (at_ < text_.size() &&
               (is_word(text_[at_]) || std::string_view("/.-+").find(text_[at_]) != std::string_view::npos))
            at_++;
        out_ += "<path>";
    }

    /// conv_12 and conv are the same name to a person: a suffix tells temporaries apart.
    static std::string without_number(std::string_view word) {
        std::size_t end = word.size();
        while (end > 0 && std::isdigit(static_cast<unsigned char>(word[end - 1]))) end--;
        if (end < word.size() && end > 0 && word[end - 1] == '_') end--;
        return std::string(word.substr(0, end));
    }

    std::string_view text_;
    std::string out_;
    std::size_t at_ = 0;
};

std::string_view detail_of(Difference::Kind kind) {
    switch (kind) {
        case Difference::Kind::dtype:
            return "dtype";
        case Difference::Kind::sizes:
            return "sizes";
        case Difference::Kind::nan_or_inf:
            return "nan_or_inf";
        case Difference::Kind::value:
            return "value";
    }
    __builtin_unreachable();
}

}  // namespace

std::string_view name(Outcome::Kind kind) {
    switch (kind) {
        case Outcome::Kind::ok:
            return "ok";
        case Outcome::Kind::mismatch:
            return "mismatch";
        case Outcome::Kind::exception:
            return "exception";
        case Outcome::Kind::crash:
            return "crash";
        case Outcome::Kind::timeout:
            return "timeout";
        case Outcome::Kind::out_of_memory:
            return "out_of_memory";
        case Outcome::Kind::unsupported:
            return "unsupported";
    }
    __builtin_unreachable();
}

bool says_out_of_memory(std::string_view words) {
    // std::bad_alloc, LLVM and CUDA, ENOMEM and our tensors, Python, GNU programs, Halide's runtime, the address
    // sanitizer; and Halide's compiler, which protects a stack that it did not get.
    constexpr std::string_view kSayings[] = {"std::bad_alloc",
                                             "out of memory",
                                             "cannot allocate",
                                             "MemoryError",
                                             "memory exhausted",
                                             "halide_malloc returned",
                                             "allocator is out of memory",
                                             "mprotect failed with error Invalid argument"};
    const auto same = [](char a, char b) {
        return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
    };
    return std::any_of(std::begin(kSayings), std::end(kSayings), [&](std::string_view saying) {
        return std::search(words.begin(), words.end(), saying.begin(), saying.end(), same) != words.end();
    });
}

Signature signature_of(const Outcome& outcome) {
    Signature signature{std::string(name(outcome.kind)), outcome.stage, outcome.detail};
    if (outcome.kind == Outcome::Kind::exception) signature.detail = Normalizer(outcome.message).run();
    return signature;
}

Outcome run_in_process(const Graph& graph, std::span<const Tensor> inputs, Backend& backend,
                       const BackendOptions& options) {
    Outcome outcome;
    std::unique_ptr<Executable> executable;
    const auto compile_start = std::chrono::steady_clock::now();
    guarded(outcome, "compile", [&] {
        CompileResult compiled = backend.compile(graph, options);
        if (auto* done = std::get_if<std::unique_ptr<Executable>>(&compiled))
            executable = std::move(*done);
        else if (auto* failure = std::get_if<BackendFailure>(&compiled))
            outcome = from_failure(*failure);
        else if (auto* request = std::get_if<BreakRequest>(&compiled))
            outcome = from_failure({.stage = "compile",
                                    .message = "the backend asks for a graph break: " + request->reason,
                                    .unsupported = true});
        else
            outcome = from_failure(
                {.stage = "compile",
                 .message = "the backend asks to skip the graph: " + std::get<SkipRequest>(compiled).reason,
                 .unsupported = true});
    });
    outcome.compile_seconds = seconds_since(compile_start);
    if (outcome.failed()) return outcome;
    const auto run_start = std::chrono::steady_clock::now();
    guarded(outcome, "run", [&] {
        RunResult result = executable->run(inputs);
        if (auto* values = std::get_if<Values>(&result))
            outcome.outputs = std::move(*values);
        else {
            const double compile_seconds = outcome.compile_seconds;
            outcome = from_failure(std::get<BackendFailure>(result));
            outcome.compile_seconds = compile_seconds;
        }
    });
    outcome.run_seconds = seconds_since(run_start);
    return outcome;
}

Outcome judge(Outcome outcome, std::span<const Tensor> expected, const Accuracy& accuracy, const ExactOutputs& exact) {
    if (outcome.failed()) return outcome;
    const auto mismatch = [&](std::string_view detail, std::string message) {
        outcome.kind = Outcome::Kind::mismatch;
        outcome.stage = "run";
        outcome.detail = detail;
        outcome.message = std::move(message);
    };
    if (outcome.outputs.size() != expected.size()) {
        mismatch("count", "got " + std::to_string(outcome.outputs.size()) + " outputs, expected " +
                              std::to_string(expected.size()));
        return outcome;
    }
    std::optional<std::vector<Tensor>> truth;
    for (std::size_t i = 0; i < expected.size(); i++) {
        const auto difference = compare(outcome.outputs[i], expected[i], accuracy, [&]() -> const Tensor* {
            if (!truth) truth = exact ? exact() : std::vector<Tensor>();
            return i < truth->size() ? &(*truth)[i] : nullptr;
        });
        if (!difference) continue;
        mismatch(detail_of(difference->kind), "output " + std::to_string(i) + " " + difference->description);
        return outcome;
    }
    return outcome;
}

}  // namespace whittle
