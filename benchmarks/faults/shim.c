/* Calls of the system that fail, or end the process, when a program asks for the n-th of them.

   Loaded with LD_PRELOAD, so that the writers of Arrow, HDF5 and safetensors meet the same faults
   as those of Python. Nothing happens before fault_arm(), and nothing outside of its folder. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WRITE = 1, RENAME = 2, SYNC = 4, OPEN = 8 };

static char home[PATH_MAX];
static int watched, error_number, signal_number, for_good;
static long wanted, seen;

/* Watch calls below `folder`: the `nth` one fails with `error`, all later writes and opens
   too where that is `onward`, or meets the signal `ending` just before it is carried out. 0 counts only. */
void fault_arm(const char *folder, int calls, long nth, int error, int ending, int onward) {
    snprintf(home, sizeof home, "%s/", folder);
    error_number = error;
    signal_number = ending;
    for_good = onward;
    wanted = nth;
    seen = 0;
    watched = calls;
}

long fault_seen(void) { return seen; }

static int lies_there(const char *path) {
    char whole[2 * PATH_MAX];
    if (path == NULL) return 0;
    if (path[0] != '/') {
        char here[PATH_MAX];
        if (getcwd(here, sizeof here) == NULL) return 0;
        snprintf(whole, sizeof whole, "%s/%s", here, path);
    } else {
        snprintf(whole, sizeof whole, "%s/", path);
    }
    return strncmp(whole, home, strlen(home)) == 0;
}

static int is_open_there(int descriptor) {
    char name[64], path[PATH_MAX];
    snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(name, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return path[0] == '/' && lies_there(path); /* pipes have no path */
}

static int fails(int call) {
    if (!(watched & call)) return 0;
    long number = __sync_add_and_fetch(&seen, 1);
    /* On a full disk names can still be changed. */
    int later = for_good && wanted && number > wanted && (call & (WRITE | OPEN));
    int due = number == wanted || later;
    if (!due) return 0;
    if (signal_number) {
        kill(getpid(), signal_number);
        return 0;
    }
    errno = error_number;
    return 1;
}

#define WATCHED(call, there) (watched && (there) && fails(call))
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *bytes, size_t n) {
    static __typeof__(&write) real;
    if (!real) real = REAL(write);
    return WATCHED(WRITE, is_open_there(fd)) ? -1 : real(fd, bytes, n);
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at) {
    return WATCHED(WRITE, is_open_there(fd)) ? -1 : REAL(pwrite)(fd, bytes, n, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at) {
    return WATCHED(WRITE, is_open_there(fd)) ? -1 : REAL(pwrite64)(fd, bytes, n, at);
}

ssize_t writev(int fd, const struct iovec *parts, int n) {
    return WATCHED(WRITE, is_open_there(fd)) ? -1 : REAL(writev)(fd, parts, n);
}

int ftruncate64(int fd, off64_t length) {
    return WATCHED(WRITE, is_open_there(fd)) ? -1 : REAL(ftruncate64)(fd, length);
}

int fsync(int fd) { return WATCHED(SYNC, is_open_there(fd)) ? -1 : REAL(fsync)(fd); }

int fdatasync(int fd) { return WATCHED(SYNC, is_open_there(fd)) ? -1 : REAL(fdatasync)(fd); }

int rename(const char *from, const char *to) {
    return WATCHED(RENAME, lies_there(to)) ? -1 : REAL(rename)(from, to);
}

int renameat(int from_folder, const char *from, int folder, const char *to) {
    return WATCHED(RENAME, lies_there(to)) ? -1 : REAL(renameat)(from_folder, from, folder, to);
}

int link(const char *from, const char *to) {
    return WATCHED(RENAME, lies_there(to)) ? -1 : REAL(link)(from, to);
}

int linkat(int from_folder, const char *from, int folder, const char *to, int flags) {
    if (WATCHED(RENAME, lies_there(to))) return -1;
    return REAL(linkat)(from_folder, from, folder, to, flags);
}

int mkdir(const char *path, mode_t mode) {
    return WATCHED(OPEN, lies_there(path)) ? -1 : REAL(mkdir)(path, mode);
}

/* Reading goes on: what is damaged there is another kind of fault. */
static int is_to_write(int flags) { return (flags & (O_WRONLY | O_RDWR | O_CREAT)) != 0; }

#define MODE(last)                                                                                 \
    mode_t mode = 0;                                                                               \
    if (flags & (O_CREAT | O_TMPFILE)) {                                                           \
        va_list more;                                                                              \
        va_start(more, last);                                                                      \
        mode = va_arg(more, mode_t);                                                               \
        va_end(more);                                                                              \
    }

int open(const char *path, int flags, ...) {
    MODE(flags)
    if (is_to_write(flags) && WATCHED(OPEN, lies_there(path))) return -1;
    return REAL(open)(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    MODE(flags)
    if (is_to_write(flags) && WATCHED(OPEN, lies_there(path))) return -1;
    return REAL(open64)(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
    MODE(flags)
    if (is_to_write(flags) && WATCHED(OPEN, lies_there(path))) return -1;
    return REAL(openat)(folder, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...) {
    MODE(flags)
    if (is_to_write(flags) && WATCHED(OPEN, lies_there(path))) return -1;
    return REAL(openat64)(folder, path, flags, mode);
}
