// How C++, Python and JavaScript spell numbers, strings, lists, data types, names and comments. Code that writes
// programs asks a Language for all of them.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace whittle {

/// A language, as one library or kind of program uses it. A literal reads back as the same value of its data type, a
/// NaN as some NaN.
struct Language {
    enum class Family : std::uint8_t { cpp, python, javascript };
    /// How an f16 or another reduced float is written: as a number, as a number that its type converts, or as its bits.
    enum class Reduced : std::uint8_t { number, converted, bits };

    Family family = Family::cpp;
    std::string_view nan = "NAN", infinity = "INFINITY";
    bool typed = false;            ///< a NaN or infinity that is a double: "double(NAN)"
    std::string_view point = {};   ///< behind the digits of a whole number; empty: a whole number is an integer
    std::string_view single = {};  ///< behind an f32; empty: it is read as an f64
    bool macros = false;           ///< "INT64_MIN"; and each integer of 32 bits or more without a sign has its "u"
    Reduced reduced = Reduced::number;
    char quote = '"';
    std::string (*type)(DType dtype) = nullptr;  ///< the data type: "float", "torch.float32"

    std::string boolean(bool value) const;
    /// "-5", "(-2147483647 - 1)", "4294967295u", "-5n".
    std::string integer(const Scalar& value, DType dtype = DType::i64) const;
    /// The shortest text of a floating-point number: "2.5f", "-0.0", "np.inf".
    std::string number(double value, DType dtype = DType::f64) const;
    /// One of the above.
    std::string value(const Scalar& value, DType dtype) const;

    /// Element `i` of a tensor; complex numbers, too.
    std::string element(const Tensor& contiguous, std::int64_t i) const;
    /// "0, 1, 2": all elements.
    std::string elements(const Tensor& tensor) const;
    /// "[[0, 1], [2, 3]]": a list for each dimension.
    std::string nested(const Tensor& tensor) const;

    /// "[a, b]", "{a, b}".
    std::string list(std::span<const std::string> words) const;
    /// "(a,)", of Python.
    static std::string tuple(std::span<const std::string> words);
    /// "{2, 3}", "(2, 3)".
    std::string sizes(std::span<const std::int64_t> sizes) const;

    /// A string literal on one line.
    std::string quoted(std::string_view text) const;
    /// A string literal of C++, of any length: one piece for each line of `text`.
    std::string quoted_lines(std::string_view text) const;
    /// The text as a comment, broken between words where it gets long.
    std::string comment(std::string_view text) const;
    /// The text as it may stand in a comment of one line.
    static std::string remark(std::string_view text);
    /// The language, as Markdown calls it.
    std::string_view name() const { return family == Family::cpp ? "cpp" : family == Family::python ? "python" : "js"; }
    /// What a comment begins with.
    std::string_view mark() const { return family == Family::python ? "#" : "//"; }

    bool is_keyword(std::string_view name) const;
    /// The name, or, if it is a keyword or one of the words `taken`, the name and "_".
    std::string variable(const std::string& name, std::string_view taken = {}) const;
};

namespace language {

extern const Language cpp,  ///< with the structs of expr/loops_support.h
    array_cpp,              ///< arrays of data
    short_cpp,              ///< programs for readers; reduced floats are Halide's
    torch_cpp,              ///< LibTorch's C++: all numbers are doubles
    api_cpp,                ///< Whittle's Tensor API
    python,                 ///< with PyTorch
    numpy, plain_python,    ///< the standard library alone; data types are letters of struct
    javascript;             ///< data types are typed arrays

}  // namespace language

/// Names in a program, each given once: "x", then "x_1".
class UniqueNames {
  public:
    std::string unique(const std::string& wanted) {
        std::string name = wanted;
        for (int i = 1; !taken_.insert(name).second; ++i) name = wanted + "_" + std::to_string(i);
        return name;
    }

  private:
    std::set<std::string> taken_;
};

/// The language of a program's file.
const Language& language_of(std::string_view file);

}  // namespace whittle
