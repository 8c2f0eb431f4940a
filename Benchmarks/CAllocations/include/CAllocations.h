// Counts the allocations of the calling thread, by replacing the C library's malloc.

#ifndef CALLOCATIONS_H
#define CALLOCATIONS_H

#include <stdbool.h>
#include <stdint.h>

/// Whether allocations are counted on this system. They are with glibc.
bool allocations_are_counted(void);

/// The number of allocations by this thread so far.
uint64_t allocations_of_thread(void);

#endif
