// Pieces of short programs in the languages that compilers of ONNX are asked in.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "printers/short_program.h"
#include "text/language.h"

namespace whittle {

using language::javascript, language::numpy, language::plain_python, language::short_cpp;

/// What a program compares: all elements of an output, or, of a large one, the one that is wrong.
struct Compared {
    std::size_t output = 0;
    std::int64_t element = 0;  ///< the first
    std::vector<double> expected = {};
    Tensor tensor;           ///< those elements
    double tolerance = 0;    ///< 0: no difference at all
    std::string sizes = {};  ///< "1x3" where these are wrong: they are compared instead
    bool one() const { return !sizes.empty() || tensor.numel() == 1; }
};
/// Of the output that is wrong, or, where nobody knows, the first; empty where nothing is expected.
Compared compared(const ShortRequest& request);

/// What is expected, as a literal or a list of them: of Python and JavaScript sizes are a text.
std::string expected_text(const Language& language, const Compared& compared);

/// An expression that is true where `got`, one element, is not `expected`; both are names or literals.
std::string wrong_text(const Language& language, const Compared& compared, const std::string& got,
                       const std::string& expected);

/// Those of `data`, a typed array of JavaScript; f32 in as many digits as it has where a difference is allowed.
std::string value_in_javascript(const Compared& compared, const std::string& data);

/// A statement of JavaScript that prints on one line what `values`, of names and expressions, are and what is expected:
/// "disabled: [0, 1], basic: …, expected: [0, 1]"; of several elements that is the variable `expected`.
std::string print_in_javascript(const Compared& compared,
                                const std::vector<std::pair<std::string, std::string>>& values);

/// Each line behind `by`.
std::string indented(const std::string& text, const std::string& by = "  ");

/// "1.30.0" of "1.30.0 (onnxruntime-node, node 20)".
std::string first_word(const std::string& text);

}  // namespace whittle
