// A locale with a decimal comma, made for a test: few machines have one installed.
#pragma once

#include <catch2/catch.hpp>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "base/files.h"
#include "base/subprocess.h"

namespace whittle::test {

/// Runs `work` in a copy of this process whose locale writes 0,5, and checks that it returns true. Where localedef (of
/// glibc) cannot make the locale, nothing is checked, and a warning says so.
inline void check_in_comma_locale(const std::function<bool()>& work) {
    const TempDir folder;
    const std::string locale = (folder.path() / "comma").string();
    run_process({"localedef", "-c", "-i", "de_DE", "-f", "UTF-8", locale});
    constexpr int kNoLocale = 77;
    const ProcessResult ran = run_forked([&] {
        ::setenv("LOCPATH", folder.path().c_str(), 1);
        char text[8] = "";
        if (std::setlocale(LC_ALL, "comma")) std::snprintf(text, sizeof text, "%.1f", 0.5);
        if (std::string(text) != "0,5") return kNoLocale;
        return work() ? 0 : 1;
    });
    CAPTURE(ran.err);
    if (ran.exit_code == kNoLocale)
        WARN("no locale with a decimal comma could be made");
    else
        CHECK(ran.exit_code == 0);
}

}  // namespace whittle::test
