// Writes 6,000 records to records.csv. FIXED collects them in a buffer.
#include <fcntl.h>
#include <stdio.h>

int main(void) {
#ifdef FIXED
    FILE *out = fopen("records.csv", "w");
    if (!out) return 1;
#define WRITE fprintf
#else
    int out = open("records.csv", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (out < 0) return 1;
#define WRITE dprintf
#endif
    for (int record = 0; record < 6000; record++) WRITE(out, "%d,channel-%d,%d.%02d\n", record, record % 17, record * 7, record % 100);
}
