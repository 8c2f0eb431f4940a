// What the floors share: small C programs that do what must be done and nothing else, to measure against.
#ifndef FLOOR_H
#define FLOOR_H

#include <hiredis/hiredis.h>

int room_server(int argc, char **argv);
int pipelined_scripts(int argc, char **argv);
int pipelined_reads(int argc, char **argv);

// The number after `--name`, else `otherwise`.
long number(int argc, char **argv, const char *name, long otherwise);
// The word after `--name`, else NULL.
const char *word(int argc, char **argv, const char *name);
// Says why, and ends the program.
_Noreturn void fail(const char *what);
double seconds(void);
// A blocking connection to the Redis on this port of this machine.
redisContext *connect_redis(long port);
redisReply *next_reply(redisContext *redis);

#endif
