// Only hiredis's protocol reader is used: sockets belong to SwiftNIO.
#include <stddef.h>
#include <hiredis/read.h>
