/* The agent: finds the service by the file with its number, and keeps account of the calls it makes. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static long counts[1024];

int main(void)
{
    int pid = 0, status, calls = !strcmp("@{mode}", "calls");
    char path[64];
    FILE *file;

    prctl(PR_SET_NAME, "@{agent}");
    fclose(fopen("@{work}/agent.up", "w"));
    while (!pid) {
        if ((file = fopen("@{work}/service.pid", "r"))) {
            if (fscanf(file, "%d\n", &pid) != 1)
                pid = 0;
            fclose(file);
        }
        usleep(20000);
    }
    while (!strcmp("@{mode}", "none"))
        pause();
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *tasks = opendir(path);
    for (struct dirent *entry; tasks && (entry = readdir(tasks));)
        if (entry->d_name[0] != '.') {
            int task = atoi(entry->d_name);
            if (ptrace(PTRACE_SEIZE, task, 0, PTRACE_O_TRACECLONE | PTRACE_O_TRACESYSGOOD) == 0 && calls)
                ptrace(PTRACE_INTERRUPT, task, 0, 0);
        }
    for (int task; (task = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR;) {
        struct user_regs_struct registers;
        int number = 0;
        if (task <= 0 || !WIFSTOPPED(status))
            continue;
        if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
            if (ptrace(PTRACE_GETREGS, task, 0, &registers) == 0)
                counts[registers.orig_rax & 1023]++;
        } else if (status >> 16 == 0) {
            number = WSTOPSIG(status);
        } else if (status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP) {
            ptrace(PTRACE_LISTEN, task, 0, 0);
            continue;
        }
        ptrace(calls ? PTRACE_SYSCALL : PTRACE_CONT, task, 0, number);
    }
    return 0;
}
