-- Shared by scripts that append to the stream of events, after time.lua. `stream` is the key events, or nil if they are off.

-- Whether Redis took what was to be appended. If not, the hash beside the stream says why, and the next heartbeat of any worker
-- appends a reset as soon as it can: the record is written, and its entry is missing.
local function is_taken(stream, id)
  if type(id) ~= 'table' or not id.err then return true end
  redis.pcall('HSET', stream .. ':state', 'refused', id.err)
  return false
end

local function append_reset(stream)
  return is_taken(stream, redis.pcall('XADD', stream, '*', 'type', 'reset', 'at', whole(now)))
end

-- Appends an entry. The first of a stream is a reset: readers have to read again what they hold, since what came before is
-- not in it. A refusal, or a foreign key under this name, costs the entry, and nothing else.
local function append(stream, keep, ...)
  local id = redis.pcall('XADD', stream, 'NOMKSTREAM', 'MAXLEN', '~', keep, '*', ...)
  if id then return is_taken(stream, id) end
  if append_reset(stream) then is_taken(stream, redis.pcall('XADD', stream, '*', ...)) end
end

-- Tells that a user came or went: `status` is online, away or offline.
local function append_status(stream, keep, user, status, version, last_seen)
  append(stream, keep, 'user', user, 'status', status, 'version', whole(version), 'at', whole(now),
    unpack(last_seen > 0 and { 'last_seen', whole(last_seen) } or {}))
end
