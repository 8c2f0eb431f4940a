#define _GNU_SOURCE
#include "poller.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

enum { BATCH = 1024 };

#ifdef __linux__
#include <sys/epoll.h>

#ifdef __GLIBC__
#if __GLIBC_PREREQ(2, 35)
#define HAS_FINE_WAIT
#endif
#endif

int poller_make(void) { return epoll_create1(EPOLL_CLOEXEC); }

void poller_watch(int poller, int socket, int32_t number, bool known, bool writing) {
    struct epoll_event event = {.events = writing ? EPOLLIN | EPOLLOUT : EPOLLIN, .data.u64 = (uint32_t)number};
    epoll_ctl(poller, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event);
}

// To the microsecond where the kernel can (5.11 and later); elsewhere a wait ends up to a millisecond late.
static int wait_for(int poller, struct epoll_event *ready, int most, int64_t microseconds) {
#ifdef HAS_FINE_WAIT
    static atomic_bool is_missing;  // the same for every thread that finds it out
    if (!is_missing) {
        struct timespec patience = {.tv_sec = microseconds / 1000000, .tv_nsec = microseconds % 1000000 * 1000};
        int count = epoll_pwait2(poller, ready, most, &patience, NULL);
        if (count >= 0 || errno == EINTR) return count;
        is_missing = true;
    }
#endif
    return epoll_wait(poller, ready, most, (int)((microseconds + 999) / 1000));
}

int poller_wait(int poller, poller_event *events, int most, int64_t microseconds) {
    struct epoll_event ready[BATCH];
    int count = wait_for(poller, ready, most < BATCH ? most : BATCH, microseconds);
    for (int i = 0; i < count; i++)
        events[i] = (poller_event){.number = (int32_t)ready[i].data.u64,
                                   .readable = ready[i].events & ~(uint32_t)EPOLLOUT,
                                   .writable = ready[i].events & EPOLLOUT};
    return count < 0 ? 0 : count;
}
#else
#include <sys/event.h>

int poller_make(void) { return kqueue(); }

void poller_watch(int poller, int socket, int32_t number, bool known, bool writing) {
    struct kevent changes[2];
    void *user = (void *)(intptr_t)number;
    EV_SET(&changes[0], socket, EVFILT_READ, EV_ADD, 0, 0, user);
    EV_SET(&changes[1], socket, EVFILT_WRITE, writing ? EV_ADD : EV_DELETE, 0, 0, user);
    kevent(poller, changes, known || writing ? 2 : 1, NULL, 0, NULL);
}

int poller_wait(int poller, poller_event *events, int most, int64_t microseconds) {
    struct kevent ready[BATCH];
    struct timespec patience = {.tv_sec = microseconds / 1000000, .tv_nsec = microseconds % 1000000 * 1000};
    int count = kevent(poller, NULL, 0, ready, most < BATCH ? most : BATCH, &patience);
    for (int i = 0; i < count; i++)
        events[i] = (poller_event){.number = (int32_t)(intptr_t)ready[i].udata,
                                   .readable = ready[i].filter == EVFILT_READ,
                                   .writable = ready[i].filter == EVFILT_WRITE};
    return count < 0 ? 0 : count;
}
#endif
