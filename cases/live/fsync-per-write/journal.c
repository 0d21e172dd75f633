// Appends 300 records to a journal: journal FILE. FIXED syncs once for 100 of them.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef FIXED
#define RECORDS_PER_SYNC 100
#else
#define RECORDS_PER_SYNC 1
#endif

int main(int argc, char **argv) {
    char record[65];
    if (argc != 2) return 2;
    int out = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (out < 0) return 1;
    for (int i = 1; i <= 300; i++) {
        snprintf(record, sizeof record, "%-63d\n", i);
        if (write(out, record, strlen(record)) < 0) return 1;
        if (i % RECORDS_PER_SYNC == 0) fdatasync(out);
    }
}
