// Where the program calls Halide.
#pragma once

#include <string>

namespace whittle::halide_capture {

struct Where {
    /// Members of a JSON object: "pc": return addresses as MODULE+OFFSET, the innermost first; or of Python "file" and
    /// "line".
    std::string json;
    std::string key;  ///< the same in each run
};

/// Of the call that returns to `address`.
Where where(void* address);

/// The call comes from one of Whittle's own libraries, whose backend makes schedules, too.
bool is_ours(void* address);

}  // namespace whittle::halide_capture
