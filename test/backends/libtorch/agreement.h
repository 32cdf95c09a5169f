// What a walk of the registry against LibTorch expects: how near values must be, and where the two are known to differ.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/core/op.h"
#include "ops/samples/sample.h"
#include "version_sections.h"

namespace whittle::test {

/// What is compared of a call, each for itself, so that a known difference hides no other. Unspecified: values that may
/// or may not differ, because LibTorch reads memory that nobody wrote; layout: strides that do on some processors only.
enum class Aspect { absent, refused, crashed, results, dtype, sizes, strides, aliasing, values, unspecified, layout };
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

/// A line of test/known-failing/libtorch.txt, in a section for versions of LibTorch (version_sections.h): "OPS | DTYPES
/// | SAMPLES | ASPECT | REASON", continued by lines that begin with a space. OPS are separated by spaces, without
/// "aten." and ".default"; SAMPLES by " ; "; both may hold '*'. DTYPES is '*' or names separated by spaces. Every case
/// that fits must differ so. A reason that begins with a quoted text is of what LibTorch refuses: of the cases that fit
/// those whose refusal holds the text, one at least of each op and dtype; beside `unspecified`, of what is said where
/// such memory cannot even be read.
struct Exception {
    int line = 0;
    std::vector<std::string> ops, samples;
    std::set<std::string> dtypes;  ///< empty: all
    Aspect aspect = Aspect::values;
    std::string refusal, reason;
    std::set<std::pair<std::string, std::string>> used = {};  ///< an op of `ops` with a dtype or a sample of the line

    bool fits(const Disagreement& found) const;
};

class Exceptions {
  public:
    /// Throws Error with the line that is malformed.
    Exceptions(const std::string& path, const VersionSections& sections);

    /// The name whose lines are those of the op: its own where a line has it, or else that of its record.
    std::string_view listed(const RegisteredOp& op) const;
    /// LibTorch is known to end the process.
    bool crashes(const Case& tried) const;
    /// LibTorch is known to compute something else, or what nobody specifies.
    bool differs(const Case& tried) const;
    /// What is wrong with what was found of one case: a disagreement that no line knows, or a line that knows one that
    /// is not there any more.
    std::vector<std::string> judge(const Case& tried, const std::vector<Disagreement>& found);
    /// What lines say of this op, of a dtype or of a sample of it and no case needed.
    std::vector<std::string> unused(std::string_view op) const;
    /// What lines say of ops that there are not.
    std::vector<std::string> unknown(const std::vector<std::string>& ops) const;

  private:
    std::string path_;
    std::vector<Exception> lines_;
};

/// What became of `f` in a child: whether LibTorch ended the process.
std::vector<Disagreement> crash(const std::function<void()>& f);

/// LibTorch 1.13 has no 8-bit floats.
bool beyond_libtorch(const Sample& sample);

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
    NearnessTable(const std::string& path, const VersionSections& sections);
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
