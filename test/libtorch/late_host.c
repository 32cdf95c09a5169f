/* A host of plug-ins that finds them as programs do: by name, beside itself through its RUNPATH. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        void* plugin = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        if (!plugin) {
            printf("%s\n", dlerror());
            return 3;
        }
        float (*compute)(float);
        *(void**)&compute = dlsym(plugin, "compute");
        printf("%g\n", (double)compute(3));
    }
    return 0;
}
