/* fault.c: memory whose first use waits for somebody.
 *
 * After fault_arm, the first access to [begin, begin + size) writes a byte to `told` and waits
 * until a byte can be read from `awaited`, or until the time is over; then the access goes on.
 * Pages are closed by mprotect and opened again by the handler of SIGSEGV. */
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
static volatile sig_atomic_t outcome; /* 0: untouched, 1: somebody came, 2: nobody came */
static struct sigaction before;

static void touched(int signal, siginfo_t *info, void *context) {
  (void)context;
  uintptr_t address = (uintptr_t)info->si_addr;
  if (address < begin_ || address >= begin_ + size_) {
    sigaction(signal, &before, NULL); /* somebody else's fault: it happens again, without us */
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
