/* Takes records from a pipe. `slowly` lets each be followed by a pause, as the archive once asked for. */
#include <string.h>
#include <time.h>
#include <unistd.h>

static void keep_pace(void) {
    struct timespec pause = {.tv_nsec = 25000000};
    nanosleep(&pause, NULL);
}

int main(int count, char **arguments) {
    static char record[8192];
    int slowly = count > 1 && strcmp(arguments[1], "slowly") == 0;
    while (read(0, record, sizeof record) > 0)
        if (slowly)
            keep_pace();
    return 0;
}
