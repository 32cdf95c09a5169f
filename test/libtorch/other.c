/* A program of another LibTorch than the one that the capture was built for. */
#include <stdio.h>

int other_torch(void);
int main(void) {
    puts("other");
    return other_torch();
}
