// How places in code are told: names of functions, and lines of source files.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace whittle {

/// "f(at::Tensor)" -> "f", "ns::C<int>::g(int) const" -> "ns::C<int>::g".
std::string without_parameters(const std::string& function);

/// "ns::Net<float>::forward" -> "ns::Net::forward".
std::string without_template_arguments(const std::string& function);

/// without_parameters() for people: what demanglers call "main::'lambda0'(int)::operator()(int) const" or
/// "main::{lambda(int)#2}::operator()(int) const" (or only "main::{lambda(int)#2}") is "main::lambda2", the first of a
/// function "main::lambda". Anonymous namespaces go.
std::string readable_function(const std::string& function);

/// "(anonymous namespace)::f" -> "f".
std::string without_anonymous(std::string function);

/// "ns::C::g" -> "g".
std::string unqualified(const std::string& function);

/// Source files, read when they are asked for.
class SourceTexts {
  public:
    /// Line `line` (from 1) without surrounding blanks, or "" when it cannot be read.
    std::string line(const std::string& file, int line);

  private:
    std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace whittle
