// Uses and frees one chunk for each of 8,000 tasks. FIXED keeps it.
#include <string.h>
#include <sys/mman.h>

#define CHUNK 65536

int main(void) {
    char *chunk = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (chunk == MAP_FAILED) return 1;
    for (int task = 0; task < 8000; task++) {
        memset(chunk, task, CHUNK);
#ifndef FIXED
        madvise(chunk, CHUNK, MADV_DONTNEED);
#endif
    }
}
