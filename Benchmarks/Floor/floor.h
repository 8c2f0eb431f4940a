// Shared by the floors: small C programs that do only what is necessary, as a lower bound for comparisons.
#ifndef FLOOR_H
#define FLOOR_H

#include <hiredis/hiredis.h>

int room_server(int argc, char **argv);
int pipelined_scripts(int argc, char **argv);
int pipelined_reads(int argc, char **argv);

// Returns the number after `--name`, or `otherwise`.
long number(int argc, char **argv, const char *name, long otherwise);
// Returns the word after `--name`, or NULL.
const char *word(int argc, char **argv, const char *name);
// Prints why, and ends the program.
_Noreturn void fail(const char *what);
double seconds(void);
// Opens a blocking connection to the Redis on this port of this machine.
redisContext *connect_redis(long port);
redisReply *next_reply(redisContext *redis);

#endif
