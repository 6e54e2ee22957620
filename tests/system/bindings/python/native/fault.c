/* fault.c: memory whose first access waits for another thread.
 *
 * After fault_arm, the first access to [begin, begin + size) writes a byte to `told` and waits
 * until a byte can be read from `awaited`, or until a timeout; then the access continues. mprotect
 * closes the pages, and the handler of SIGSEGV opens them again. */
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uintptr_t begin_;
static size_t size_;
static int told_, awaited_, milliseconds_;
static volatile sig_atomic_t outcome; /* 0: untouched, 1: released, 2: timeout */
static struct sigaction before;

static void touched(int signal, siginfo_t *info, void *context) {
  (void)context;
  uintptr_t address = (uintptr_t)info->si_addr;
  if (address < begin_ || address >= begin_ + size_) {
    /* a fault elsewhere: it occurs again, with the former handler */
    sigaction(signal, &before, NULL);
    return;
  }
  struct pollfd waited = {awaited_, POLLIN, 0};
  int came = write(told_, "!", 1) == 1 && poll(&waited, 1, milliseconds_) == 1;
  outcome = came ? 1 : 2;
  mprotect((void *)begin_, size_, PROT_READ | PROT_WRITE);
}

int fault_arm(void *begin, size_t size, int told, int awaited, int milliseconds) {
  begin_ = (uintptr_t)begin;
  size_ = size;
  told_ = told;
  awaited_ = awaited;
  milliseconds_ = milliseconds;
  outcome = 0;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = touched;
  action.sa_flags = SA_SIGINFO;
  if (sigaction(SIGSEGV, &action, &before) != 0)
    return -1;
  return mprotect(begin, size, PROT_NONE);
}

int fault_disarm(void) {
  mprotect((void *)begin_, size_, PROT_READ | PROT_WRITE);
  sigaction(SIGSEGV, &before, NULL);
  return outcome;
}
