// Makes the linker take output_hooks.cpp, whose functions stand before the C library's.
#pragma once

namespace whittle::api {
void link_output_hooks();
}
