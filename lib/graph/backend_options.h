// Values of backends' options: what they may be is read, and told when it is something else, alike by all.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "graph/backend.h"

namespace whittle {

/// What stands between ';' in the option `key`; empty parts are none, as is an option that is not there.
std::vector<std::string> option_parts(const BackendOptions& options, const std::string& key);

/// `options` and, beside what they switch off, these passes or directives: the option disable.
BackendOptions switched_off(BackendOptions options, const std::vector<std::string>& names);
/// `options` with only the first `most` applications of a pass: the option pass-limit.
BackendOptions limited_to(BackendOptions options, const std::string& pass, int most);

/// `options` that neither switch off nor limit passes, which another backend may not have.
BackendOptions without_limits(BackendOptions options);

/// As a command line has them: "--backend-option", "KEY=VALUE".
std::vector<std::string> option_words(const BackendOptions& options);
/// Adds "KEY=VALUE" of a command line. Parts of disable and pass-limit may be added one by one. Throws Error for a pair
/// without '=', and for another key that is there already.
void add_option(BackendOptions& options, const std::string& pair);

/// What is thrown for a value that the option cannot have; a word that is close to it among `words` is suggested.
Error wrong_option(const std::string& key, const std::string& found, const std::string& expected,
                   const std::vector<std::string>& words = {});

/// What is thrown for a release that is not installed, which a close spelling does not help: `install` is the command
/// that installs one; empty: nobody knows.
Error no_release(const std::string& release, const std::vector<std::string>& installed, const std::string& install);

/// The position of the option's word among `words`; 0 where it is not given. Throws Error for another word.
std::size_t option_choice(const BackendOptions& options, const std::string& key, const std::vector<std::string>& words);

/// Throws Error unless `text`, a value or a part of one, is an integer from `least` to `most`.
int option_number(const std::string& key, const std::string& text, int least, int most);

/// The option's number from 0 to 1; `otherwise` where it is not given or empty. Throws Error for anything else.
double option_fraction(const BackendOptions& options, const std::string& key, double otherwise);

/// Throws Error unless `name`, a part of the option, is among `known`.
void expect_known(const std::string& key, const std::string& name, const std::vector<std::string>& known);

/// A part NAME=K of the option pass-limit.
struct OptionLimit {
    std::string name;
    int most;
};
/// What can be limited, and the largest number that it can be limited to.
using Limitable = OptionLimit;
/// Throws Error for what is not among `known` and for what is no number, or one below 0 or above the largest.
std::vector<OptionLimit> option_limits(const BackendOptions& options, const std::vector<Limitable>& known);

}  // namespace whittle
