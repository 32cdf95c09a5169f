// In place of what reads C++, in a build without Clang.
#include "base/error.h"
#include "frontends/clang/unit.h"

namespace whittle::cpp {
namespace {
[[noreturn]] void refuse() {
    throw Error("this Whittle was built without Clang, which reads C++ sources",
                "install " WHITTLE_CLANG_PACKAGES ", then configure and build Whittle again");
}
}  // namespace

bool clang_available() { return false; }
Analysis analyze(const Unit&) { refuse(); }
Probed add_probes(const Unit&) { refuse(); }

}  // namespace whittle::cpp
