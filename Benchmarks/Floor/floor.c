// floor: the least that a program over Redis must do, as a lower bound for comparisons.
//
//   floor room     --redis PORT [--ping MS]                       a server for one conversation
//   floor scripts  --redis PORT --script FILE --count N --rooms N  a worker's script, pipelined
//   floor reads    --redis PORT --users N --rounds N              HGETALL of many users, pipelined
//
// The room server only writes one prepared frame to each socket. It trusts every client, has no throttle, no expiry and
// no membership, and stores nothing. A signal is a PUBLISH to Redis, and returns through one subscription. Everything for
// one socket in one turn of the loop is written at once. With --ping, each device is pinged at this interval, evenly
// spread. Clients' frames must be masked with zeros and arrive in one piece: the only client is the benchmark.

#define _GNU_SOURCE
#include <hiredis/hiredis.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 1024, CHUNK = 65536, SWEEPS = 100 };

_Noreturn static void fail(const char *what) {
    fprintf(stderr, "floor: %s%s%s\n", what, errno ? ": " : "", errno ? strerror(errno) : "");
    exit(69);
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// Returns the word after `--name`, or NULL.
static const char *word(int argc, char **argv, const char *name) {
    for (int i = 2; i + 1 < argc; i++)
        if (!strcmp(argv[i], name)) return argv[i + 1];
    return NULL;
}

static long number(int argc, char **argv, const char *name, long otherwise) {
    const char *text = word(argc, argv, name);
    return text ? atol(text) : otherwise;
}

static redisContext *connect_redis(int argc, char **argv) {
    redisContext *redis = redisConnect("127.0.0.1", (int)number(argc, argv, "--redis", 6379));
    if (!redis || redis->err) fail("no Redis there");
    return redis;
}

// MARK: Pipelines

static redisReply *next_reply(redisContext *redis) {
    void *reply;
    if (redisGetReply(redis, &reply) != REDIS_OK) fail("Redis went away");
    if (((redisReply *)reply)->type == REDIS_REPLY_ERROR) {
        errno = 0;
        fail(((redisReply *)reply)->str);
    }
    return reply;
}

// Prints the seconds of each round.
static int reads(int argc, char **argv) {
    redisContext *redis = connect_redis(argc, argv);
    long users = number(argc, argv, "--users", 1000), rounds = number(argc, argv, "--rounds", 1);
    for (long round = 0; round < rounds; round++) {
        double start = seconds();
        for (long user = 0; user < users; user++) redisAppendCommand(redis, "HGETALL presence:{user%ld}", user);
        for (long user = 0; user < users; user++) freeReplyObject(next_reply(redis));
        printf("%.6f\n", seconds() - start);
    }
    return 0;
}

static char *contents(const char *path) {
    FILE *file = path ? fopen(path, "rb") : NULL;
    if (!file) fail("no such script");
    char *text = calloc(1, 1 << 20);
    if (!fread(text, 1, (1 << 20) - 1, file)) fail("an empty script");
    fclose(file);
    return text;
}

static void call(redisContext *redis, const char *sha, long room) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    long long expiry = (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000 + 3000;
    redisAppendCommand(redis,
                       "EVALSHA %s 3 typing:{room%ld}:user%ld typing:{room%ld} members:{room%ld} user%ld phone %lld 3000 open",
                       sha, room, room, room, room, room, expiry);
}

// Prints the seconds of all calls, of which 256 are in flight at a time: no worker can be faster.
static int scripts(int argc, char **argv) {
    redisContext *redis = connect_redis(argc, argv);
    redisAppendCommand(redis, "SCRIPT LOAD %s", contents(word(argc, argv, "--script")));
    redisReply *loaded = next_reply(redis);
    long rooms = number(argc, argv, "--rooms", 100), count = number(argc, argv, "--count", 100000);
    double start = seconds();
    for (long sent = 0, got = 0; got < count; got++) {
        while (sent < count && sent - got < 256) call(redis, loaded->str, sent++ % rooms);
        freeReplyObject(next_reply(redis));
    }
    printf("%.6f\n", seconds() - start);
    return 0;
}

// MARK: The room

typedef struct device {
    int fd, in_room, waiting, space;
    char *out;
} device;

static device **devices, *dirty[CHUNK];
static int most, highest, dirty_count, poller, own_id;
static redisContext *commands, *messages;

// Writes the head of a frame, and returns its size.
static size_t head(char *to, int opcode, size_t length) {
    to[0] = (char)(0x80 | opcode);
    to[1] = (char)(length < 126 ? length : 126);
    if (length < 126) return 2;
    to[2] = (char)(length >> 8);
    to[3] = (char)length;
    return 4;
}

static void write_out(device *to, const char *bytes, size_t length) {
    ssize_t sent = send(to->fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 ? errno != EPIPE && errno != ECONNRESET : sent != (ssize_t)length) fail("a device does not read");
}

static void deliver(device *to, const char *bytes, size_t length) {
    if (to->waiting + (int)length > to->space) {
        to->space = (to->waiting + (int)length) * 2;
        to->out = realloc(to->out, (size_t)to->space);
    }
    if (!to->waiting) {
        if (dirty_count == CHUNK) fail("too many devices for one turn");
        dirty[dirty_count++] = to;
    }
    memcpy(to->out + to->waiting, bytes, length);
    to->waiting += (int)length;
}

static void flush(void) {
    for (int i = 0; i < dirty_count; i++) {
        if (dirty[i]->fd >= 0) write_out(dirty[i], dirty[i]->out, (size_t)dirty[i]->waiting);
        dirty[i]->waiting = 0;
    }
    dirty_count = 0;
}

static void say(device *to, const char *text) {
    char bytes[256];
    size_t start = head(bytes, 1, strlen(text));
    memcpy(bytes + start, text, strlen(text));
    deliver(to, bytes, start + strlen(text));
}

// The server and the typist's socket stand for the user's name.
static int user_of(int fd) { return own_id + fd; }

static void received(device *from, const char *json, size_t size) {
    char payload[160], command[400];
    if (memmem(json, size, "\"type\":\"typing\"", 15)) {
        const char *types = memmem(json, size, "\"typing\":true", 13) ? "true" : "false";
        int length = snprintf(payload, sizeof payload,
                              "{\"user\":\"%09d\",\"typing\":%s,\"expires_in\":3000,\"at\":1700000000000}", user_of(from->fd), types);
        int whole = snprintf(command, sizeof command, "*3\r\n$7\r\nPUBLISH\r\n$13\r\ntyping:{room}\r\n$%d\r\n%s\r\n", length, payload);
        redisAppendFormattedCommand(commands, command, (size_t)whole);
    } else if (memmem(json, size, "\"type\":\"join\"", 13)) {
        from->in_room = 1;
        say(from, "{\"id\":1,\"type\":\"ack\"}");
    } else if (memmem(json, size, "\"type\":\"hello\"", 14)) {
        say(from, "{\"type\":\"welcome\"}");
    }
}

static void published(const char *payload, size_t size) {
    static const char begins[] = "{\"conversation\":\"room\",\"count\":1,\"type\":\"typing\",\"users\":[{\"user\":\"%.9s\"}]}";
    static const char ends[] = "{\"conversation\":\"room\",\"count\":0,\"type\":\"typing\",\"users\":[]}";
    char text[120], bytes[124];
    int typist = atoi(payload + 9);
    int types = memmem(payload, size, "\"typing\":true", 13) != NULL;
    int written = types ? snprintf(text, sizeof text, begins, payload + 9) : snprintf(text, sizeof text, ends);
    size_t start = head(bytes, 1, (size_t)written);
    memcpy(bytes + start, text, (size_t)written);
    for (int fd = 0; fd <= highest; fd++)
        if (devices[fd] && devices[fd]->in_room && user_of(fd) != typist) deliver(devices[fd], bytes, start + (size_t)written);
}

static void leave(device *gone) {
    close(gone->fd);
    devices[gone->fd] = NULL;
    gone->fd = -1; // Not freed: it may still be on the list of this turn.
}

static void read_device(device *from) {
    static char chunk[CHUNK];
    ssize_t count = recv(from->fd, chunk, sizeof chunk, 0);
    if (count <= 0) {
        if (count == 0 || errno != EAGAIN) leave(from);
        return;
    }
    char *at = chunk, *end = chunk + count;
    if (*at == 'G') {
        static const char answer[] = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                                     "Sec-WebSocket-Accept: ICX+Yqv66kxgM0FcWaLWlFLwTAI=\r\n\r\n";
        at = memmem(chunk, (size_t)count, "\r\n\r\n", 4);
        if (!at) fail("a cut request");
        at += 4;
        write_out(from, answer, sizeof answer - 1);
    }
    while (at < end) {
        if (end - at < 6) fail("a cut frame");
        size_t start = 6, length = (unsigned char)at[1] & 0x7F;
        if (length == 126) {
            length = (size_t)((unsigned char)at[2] << 8 | (unsigned char)at[3]);
            start = 8;
        }
        if (at + start + length > end) fail("a cut frame");
        if ((at[0] & 15) == 1) received(from, at + start, length);
        at += start + length;
    }
}

static void read_redis(redisContext *redis) {
    void *reply;
    if (redisBufferRead(redis) != REDIS_OK) fail("Redis went away");
    while (redisGetReplyFromReader(redis, &reply) == REDIS_OK && reply) {
        redisReply *push = reply;
        if (redis == messages && push->elements == 3 && push->element[2]->type == REDIS_REPLY_STRING)
            published(push->element[2]->str, push->element[2]->len);
        freeReplyObject(reply);
    }
}

static void write_redis(redisContext *redis) {
    int done = 0;
    while (!done)
        if (redisBufferWrite(redis, &done) != REDIS_OK) fail("Redis went away");
}

static void watch(int fd, void *data) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = data};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event)) fail("epoll");
}

static redisContext *open_redis(int argc, char **argv) {
    redisContext *redis = connect_redis(argc, argv);
    fcntl(redis->fd, F_SETFL, O_NONBLOCK);
    redis->flags &= ~REDIS_BLOCK;
    watch(redis->fd, redis);
    return redis;
}

static int open_port(void) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 4096)) fail("the port");
    getsockname(listener, (struct sockaddr *)&address, &size);
    watch(listener, NULL);
    printf("ready edge=ws://127.0.0.1:%d/v1/connect\n", ntohs(address.sin_port));
    fflush(stdout);
    return listener;
}

static void accept_all(int listener) {
    int fd, one = 1;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        if (fd >= most) fail("too many devices");
        devices[fd] = calloc(1, sizeof *devices[fd]);
        devices[fd]->fd = fd;
        if (fd > highest) highest = fd;
        watch(fd, devices[fd]);
    }
}

static void turn(int listener, int patience) {
    static struct epoll_event events[EVENTS];
    int count = epoll_wait(poller, events, EVENTS, patience);
    for (int i = 0; i < count; i++) {
        void *what = events[i].data.ptr;
        if (!what) accept_all(listener);
        else if (what == commands || what == messages) read_redis(what);
        else if (((device *)what)->fd >= 0) read_device(what);
    }
    flush();
    write_redis(commands);
    write_redis(messages);
}

static int room(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN);
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    most = (int)files.rlim_max;
    devices = calloc((size_t)most, sizeof *devices);
    own_id = (int)getpid() % 10000 * 100000;
    poller = epoll_create1(0);
    commands = open_redis(argc, argv);
    messages = open_redis(argc, argv);
    redisAppendCommand(messages, "SUBSCRIBE typing:{room}");
    int listener = open_port();
    long ping = number(argc, argv, "--ping", 0);
    double next = seconds();
    for (int sweep = 0;;) {
        double left = next - seconds();
        if (ping == 0 || left > 0) {
            turn(listener, ping ? (int)(left * 1000) + 1 : -1);
            continue;
        }
        // One hundredth of all devices, selected by socket.
        for (int fd = sweep++ % SWEEPS; fd <= highest; fd += SWEEPS)
            if (devices[fd] && devices[fd]->in_room) write_out(devices[fd], "\x89\0", 2);
        next += (double)ping / 1000 / SWEEPS;
    }
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "room")) return room(argc, argv);
    if (!strcmp(what, "scripts")) return scripts(argc, argv);
    if (!strcmp(what, "reads")) return reads(argc, argv);
    fprintf(stderr, "floor: say room, scripts or reads\n");
    return 64;
}
