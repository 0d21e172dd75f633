// Counts the lines of a file: count_lines FILE. FIXED reads through a buffer.
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
    long lines = 0;
    if (argc != 2) return 2;
#ifdef FIXED
    FILE *in = fopen(argv[1], "r");
    if (!in) return 1;
    for (int c; (c = getc(in)) != EOF;) lines += c == '\n';
#else
    int in = open(argv[1], O_RDONLY);
    if (in < 0) return 1;
    for (char c; read(in, &c, 1) == 1;) lines += c == '\n';
#endif
    printf("%ld\n", lines);
}
