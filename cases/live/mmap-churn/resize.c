// Takes and returns a block of 40 MB for each of 4,000 pictures, and touches its first bytes. FIXED keeps one block.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE (40 << 20)

int main(void) {
    unsigned sum = 0;
    unsigned char *pixels = malloc(SIZE);
    for (int picture = 0; picture < 4000; picture++) {
#ifndef FIXED
        free(pixels);
        pixels = malloc(SIZE);
#endif
        if (!pixels) return 1;
        memset(pixels, picture, 4096);
        sum += pixels[picture % 4096];
    }
    free(pixels);
    printf("%u\n", sum);
}
