// Sums a field of 5,000 records. FIXED reads 64 KiB at a time.
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define RECORD 128
#define RECORDS 5000
#ifdef FIXED
#define AT_ONCE 500
#else
#define AT_ONCE 1
#endif

int main(void) {
    static char block[RECORD * AT_ONCE];
    long sum = 0;
    int file = open("records.bin", O_RDWR | O_CREAT, 0644);
    if (file < 0 || ftruncate(file, RECORD * RECORDS)) return 1;
    // Every other record first, as an index would order them.
    for (int first = 0; first < RECORDS; first += AT_ONCE) {
        int record = AT_ONCE > 1 ? first : first * 2 % RECORDS + (first * 2 >= RECORDS);
        lseek(file, (off_t)record * RECORD, SEEK_SET);
        if (read(file, block, sizeof block) != sizeof block) return 1;
        for (int i = 0; i < AT_ONCE; i++) sum += block[i * RECORD];
    }
    printf("%ld\n", sum);
}
