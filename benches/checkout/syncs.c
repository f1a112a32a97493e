/* Between a program and the disk: counts its syncs, and makes each take longer, so that any disk can be a slow one.
 * SYNCS_COUNT names a file of eight bytes, which is the count; SYNCS_DELAY_US is what is added to each. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static _Atomic unsigned long *count;
static long delay_us;
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);

__attribute__((constructor)) static void start(void) {
  real_fsync = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  const char *delay = getenv("SYNCS_DELAY_US");
  if (delay) delay_us = atol(delay);
  const char *path = getenv("SYNCS_COUNT");
  int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (file >= 0) {
    void *page = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (page != MAP_FAILED) count = page;
    close(file);
  }
}

static void before(void) {
  if (count) atomic_fetch_add(count, 1);
  if (delay_us > 0) {
    struct timespec delay = {delay_us / 1000000, delay_us % 1000000 * 1000};
    nanosleep(&delay, NULL);
  }
}

int fsync(int file) {
  before();
  return real_fsync(file);
}

int fdatasync(int file) {
  before();
  return real_fdatasync(file);
}
