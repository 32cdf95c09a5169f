// A program that knows nothing of Whittle and loads a plug-in that uses it, as Python and plug-in hosts do: RTLD_LOCAL.
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    void* const plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!plugin) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    int (*use)(void) = 0;
    *(void**)&use = dlsym(plugin, "use_whittle");  // as POSIX has it: ISO C knows no such conversion
    return use ? use() : 2;
}
