// Counts the allocations of the calling thread, by standing before the C library's own malloc.

#ifndef CALLOCATIONS_H
#define CALLOCATIONS_H

#include <stdbool.h>
#include <stdint.h>

/// Whether allocations are counted on this system: with glibc they are.
bool allocations_are_counted(void);

/// How often this thread has allocated so far.
uint64_t allocations_of_thread(void);

#endif
