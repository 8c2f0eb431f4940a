// Waiting for very many sockets at once, as the kernel offers it: epoll or kqueue, neither of which Swift sees alike.
#ifndef POLLER_H
#define POLLER_H

#include <stdbool.h>
#include <stdint.h>

// What has become of a socket, which is known by a number of its user's.
typedef struct {
    int32_t number;
    bool readable, writable;
} poller_event;

// A descriptor for the functions below, to be closed; less than zero, and errno, if there can be none.
int poller_make(void);

// Watches a socket for what can be read, and while `writing`, for room to write. `known` from the second time on.
void poller_watch(int poller, int socket, int32_t number, bool known, bool writing);

// Waits until something is ready, at most so long, and tells of at most `most`; returns of how many.
int poller_wait(int poller, poller_event *events, int most, int64_t microseconds);

#endif
