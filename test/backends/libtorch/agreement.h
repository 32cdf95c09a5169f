// What a walk of the registry against LibTorch expects: how near values must be, and where the two are known to differ.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/dtype.h"

namespace whittle::test {

/// What is compared of a call, each for itself, so that a known difference hides no other. Unspecified: values that may
/// or may not differ, because LibTorch reads memory that nobody wrote.
enum class Aspect { absent, refused, crashed, results, dtype, sizes, strides, aliasing, values, unspecified };
std::string_view name(Aspect aspect);

struct Disagreement {
    Aspect aspect;
    std::string description;
};

/// One call that is compared.
struct Case {
    std::string_view op;
    DType dtype;
    std::string_view sample;
};

/// A line of test/known-failing/libtorch.txt: "OP | DTYPES | SAMPLES | ASPECT | REASON", where OP and SAMPLES may hold
/// '*', SAMPLES are separated by " ; ", and DTYPES is '*' or names separated by spaces.
struct Exception {
    int line = 0;
    std::string op, reason;
    std::vector<std::string> samples;
    std::set<std::string> dtypes;  ///< empty: all
    Aspect aspect = Aspect::values;
    bool used = false;
};

class Exceptions {
  public:
    /// Throws Error with the line that is malformed.
    explicit Exceptions(const std::string& path);

    /// LibTorch is known to end the process.
    bool crashes(const Case& tried) const;
    /// What is wrong with what was found of one case: a disagreement that no line knows, or a line that knows one that
    /// is not there any more.
    std::vector<std::string> judge(const Case& tried, const std::vector<Disagreement>& found);
    /// Lines for this op that no case needed.
    std::vector<std::string> unused(std::string_view op) const;

  private:
    std::vector<Exception> lines_;
};

/// How many steps of the dtype's number line values of an op may lie apart, and in which measure: a line "OP | DTYPES |
/// ULP", "OP | DTYPES | ULP of largest", "OP | DTYPES | ERROR absolute" or "OP | DTYPES | unspecified" of a file, the
/// last that fits.
struct Nearness {
    double ulp = 0;
    bool of_largest = false;   ///< steps at the largest magnitude of the result: where terms cancel
    double absolute = 0;       ///< an error: where equal numbers are subtracted
    bool unspecified = false;  ///< memory that nobody wrote
};
class NearnessTable {
  public:
    explicit NearnessTable(const std::string& path);
    /// Same bits where no line fits.
    Nearness of(std::string_view op, DType dtype) const;

  private:
    struct Line {
        std::string op;
        std::set<std::string> dtypes;
        Nearness nearness;
    };
    std::vector<Line> lines_;
};

}  // namespace whittle::test
