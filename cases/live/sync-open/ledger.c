// Books 300 entries. FIXED makes them durable together.
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#ifdef FIXED
#define SYNC 0
#else
#define SYNC O_DSYNC
#endif

int main(void) {
    char entry[64];
    int out = open("ledger.bin", O_WRONLY | O_CREAT | O_TRUNC | SYNC, 0644);
    if (out < 0) return 1;
    for (int i = 0; i < 300; i++) {
        memset(entry, i, sizeof entry);
        if (write(out, entry, sizeof entry) != sizeof entry) return 1;
    }
    return fdatasync(out);
}
