// The report as one HTML file that needs nothing else: `explain --html`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace whittle::html {

/// `data` as page_data() makes it. Its main facts stand in the page as tables, too, for readers without JavaScript.
std::string page(const nlohmann::json& data);

}  // namespace whittle::html
