-- A worker's claim to be alive, and what it learns of the others' for it.
--
-- KEYS     1 {workers}, 2 {workers}:INCARNATION
-- ARGV     1 mode, 2 incarnation, 3 milliseconds from now to the end of the lease, 4… fields and values of the hash
--          begin: a first lease, refused if the incarnation is known · renew: refused if the lease has passed
--          end: as renew, and the last of this incarnation
-- Reply    { 1 if held, 0 if refused; TIME; each incarnation and the end of its lease, one after the other }

local mode, incarnation, lease = ARGV[1], ARGV[2], tonumber(ARGV[3])

-- Changes nothing, and is permitted at maxmemory; after it, so is all that a script does.
redis.call('ZREM', KEYS[1], '')

local ends = tonumber(redis.call('ZSCORE', KEYS[1], incarnation) or nil)
local held
if mode == 'begin' then
  held = not ends and redis.call('EXISTS', KEYS[2]) == 0
else
  held = ends and ends >= now
end

if held then
  -- First the hash: where it is none, the lease is not renewed, and the worker goes on under another name.
  redis.call('HSET', KEYS[2], 'beat', whole(now), unpack(ARGV, 4))
  redis.call('ZADD', KEYS[1], whole(now + lease), incarnation)
end

local reply = { held and 1 or 0, now }
for _, value in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')) do
  reply[#reply + 1] = value
end
return reply
