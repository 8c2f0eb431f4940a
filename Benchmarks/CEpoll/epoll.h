// Swift's module of the C library leaves this out.
#include <sys/epoll.h>
