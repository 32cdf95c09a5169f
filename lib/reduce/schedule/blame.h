// blame_schedule(): which part of Halide makes the directives of a minimized program fail. The program is run with
// these directives alone, and with parts of Halide switched off by environment variables.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "reduce/schedule/llvm_pass.h"
#include "reduce/schedule/minimize.h"

namespace whittle::reduce {

struct ScheduleBlame {
    enum class Component : std::uint8_t {
        schedule,  ///< Halide says itself what is wrong with it
        race,      ///< it passes on one thread
        llvm,      ///< it passes without optional passes of LLVM
        target,    ///< it passes without features of the processor
        lowering,  ///< it fails with all of these switched off
    };
    Component component = Component::lowering;
    std::string what = {};  ///< the pass, the features
    LlvmPass pass = {};     ///< of LLVM
    struct Try {
        std::string what = {}, variable = {};  ///< "one thread", "HL_NUM_THREADS=1"
        bool fails = false;
    };
    std::vector<Try> tries = {};
};

/// Of what is minimized, or fails without any directive.
ScheduleBlame blame_schedule(const ScheduleRequest& request, const MinimizedSchedule& done);

std::string to_text(const ScheduleBlame& blame);
/// The commands that show what the pass does to its module, which `file` holds.
std::string module_text(const ScheduleBlame& blame, const std::filesystem::path& file);
nlohmann::json to_json(const ScheduleBlame& blame);

}  // namespace whittle::reduce
