// A plug-in of host.c, to be compiled with optimization: the call in the last place of say() is then a jump, whose
// return address lies in the host.
#include <iostream>

extern "C" void say(const char* text) {
    std::cout << text << ' ' << 42 << ' ' << 2.5;
    std::cout.put('\n');
}
