-- Shared by scripts that append to the stream of events, after time.lua. `stream` is the key events, or nil if they are off.

-- Appends an entry. The first of a stream is a reset: readers have to read again what they hold, since what came before is
-- not in it. A foreign key under this name costs the entry, and nothing else.
local function append(stream, keep, ...)
  local id = redis.pcall('XADD', stream, 'NOMKSTREAM', 'MAXLEN', '~', keep, '*', ...)
  if id then return end
  redis.call('XADD', stream, '*', 'type', 'reset', 'at', whole(now))
  redis.call('XADD', stream, '*', ...)
end

-- Tells that a user came or went: `status` is online, away or offline.
local function append_status(stream, keep, user, status, version, last_seen)
  append(stream, keep, 'user', user, 'status', status, 'version', whole(version), 'at', whole(now),
    unpack(last_seen > 0 and { 'last_seen', whole(last_seen) } or {}))
end
