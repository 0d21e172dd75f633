/* Writes the rows of each order into a journal. `each` syncs it after each row; else one order in a hundred is synced. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROWS 96

static void save_rows(int journal, int each) {
    static int orders;
    for (int row = 0; row < ROWS; row++) {
        if (write(journal, "a row of the order\n", 19) != 19)
            abort();
        if (each)
            fsync(journal);
    }
    if (++orders % 100 == 0)
        fsync(journal);
}

int main(int count, char **arguments) {
    if (count < 4)
        return 2;
    int server = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(arguments[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(server, (struct sockaddr *)&address, sizeof address) || listen(server, 64))
        return 1;
    int journal = open(arguments[2], O_WRONLY | O_CREAT | O_APPEND, 0600);
    int each = strcmp(arguments[3], "each") == 0;
    for (;;) {
        char order[256];
        int connection = accept(server, NULL, NULL);
        if (read(connection, order, sizeof order) > 0) {
            save_rows(journal, each);
            if (write(connection, "stored\n", 7) != 7)
                return 1;
        }
        close(connection);
    }
}
