// Which Halide this is, and how a file that uses it is built: for the headers of repro.cpp and for reports.
#pragma once

#include <string>
#include <vector>

namespace whittle::halide {

/// "Halide 14.0.0".
std::string version();

/// "Halide 14.0.0, target x86-64-linux-avx…-strict_float".
std::string description();

/// The same with the target of a program that names none: Halide's own choice for this machine.
std::string host_description();

/// 14 for Halide 14.0.0.
int major_version();

/// What follows "g++ -std=c++17 -O1 repro.cpp -o repro": {"-I/usr/include/halide14", "-lHalide14"}.
std::vector<std::string> compile_flags();

}  // namespace whittle::halide
