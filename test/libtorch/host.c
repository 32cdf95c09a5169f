/* A C program that loads a C++ plug-in: with RTLD_LOCAL its libstdc++ is seen by nobody else. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        void* plugin = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        if (!plugin) {
            puts(dlerror());
            return 1;
        }
        void (*say)(const char*) = NULL;
        *(void**)&say = dlsym(plugin, "say");
        say("plug-in");
        dlclose(plugin);
    }
    return 5;
}
