#include "symbolize/symbolizer.h"

#include <mutex>

#include "base/error.h"
#include "base/log.h"
#include "base/module.h"

namespace whittle {

namespace {

class NoSymbolizer final : public LineSymbolizer {
  public:
    std::vector<LineInfo> look_up(const std::string&, std::uint64_t) override { return {}; }
};

}  // namespace

std::unique_ptr<LineSymbolizer> make_symbolizer(LineSymbolizer::Paths paths) {
    using Make = LineSymbolizer*(LineSymbolizer::Paths);
    try {
        return std::unique_ptr<LineSymbolizer>(
            module_function<Make>("symbolizer", "whittle_make_llvm_symbolizer")(paths));
    } catch (const Error& error) {
        static std::once_flag told;
        std::call_once(told, [&] {
            log_warning(LogChannel::capture,
                        std::string("cannot read source lines from debug information: ") + error.what());
        });
        return std::make_unique<NoSymbolizer>();
    }
}

}  // namespace whittle
