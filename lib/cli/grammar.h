// How a command line is read: which words are options, values and arguments of the tool, and which belong to another
// program.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/pages.h"

namespace whittle::cli {

struct DeclaredOption {
    OptionText text;
    bool flag = false, rest = false, list = false;
    std::function<void(const std::vector<std::string>&)> assign = {};
    std::string implied = {};  ///< the value when none is given
    /// The hint where an unknown option follows this value: whoever typed it took the value for a whole command.
    std::function<std::string(const std::string& value)> behind = {};
};

struct DeclaredArgument {
    std::string name;
    bool required, list;
    std::function<void(const std::vector<std::string>&)> assign;
};

struct Grammar {
    std::string tool = {};  ///< "repro", "repro report"
    std::vector<DeclaredOption> options = {};
    std::vector<DeclaredArgument> arguments = {};
    std::function<void(const std::vector<std::string>&)> dashes = {};  ///< takes what follows `--`; null: nothing does
    /// The hint where a word follows the first argument that should not; null, or an empty hint: the usual one.
    std::function<std::string(const std::string& first, const std::string& word)> extra = {};

    /// The option of that name; null: none.
    const DeclaredOption* called(const std::string& name) const;
    /// How many of the words are ours: those before `--`, an option that takes the rest, and a program as MODEL.
    std::size_t own_of(std::span<const std::string> words) const;
    /// Reads the options among our words into their targets; returns the others. Throws Error for what is no option of
    /// ours, and for values that are missing, too many or wrong.
    std::vector<std::string> read_options(std::span<const std::string> words) const;
    /// Hands the words behind ours to what takes them, or adds them to `positional`. Returns one that is called as an
    /// option of ours, where no `--` says whose it is: it belongs to a program, or to an option that takes the rest.
    std::string read_rest(std::span<const std::string> words, std::vector<std::string>& positional) const;
    /// Throws Error for an argument that is missing, and for one too many, as it stands in the line that was typed.
    void assign_arguments(const std::vector<std::string>& words, std::vector<std::string> typed) const;

  private:
    /// The first word before a `--` that is called as an option of ours; empty: none is.
    std::string first_ours(std::span<const std::string> words) const;
    /// An option whose value is the next word.
    bool takes_next(const std::string& word) const;
    Error unknown(std::span<const std::string> words, const std::string& word) const;
};

/// "--name" of "--name=value".
std::string before_equals(const std::string& word);

}  // namespace whittle::cli
