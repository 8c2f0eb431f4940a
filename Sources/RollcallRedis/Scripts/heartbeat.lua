-- Claims, renews or ends a worker's lease, and returns all leases.
--
-- KEYS     1 {workers}, 2 {workers}:INCARNATION
-- ARGV     1 mode, 2 incarnation, 3 milliseconds from now to the end of the lease, 4… fields and values of the hash
--          begin: a first lease, refused if the incarnation exists · renew: refused if the lease has expired
--          end: as renew, and the last of this incarnation
-- Reply    { 1 if held, 0 if refused; TIME; each incarnation, followed by the end of its lease }

local mode, incarnation, lease = ARGV[1], ARGV[2], tonumber(ARGV[3])

-- This write changes nothing and is allowed at maxmemory. Redis then allows all further writes of the script.
redis.call('ZREM', KEYS[1], '')

local ends = {} -- of the lease of each incarnation
local stored = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
for i = 1, #stored, 2 do ends[stored[i]] = tonumber(stored[i + 1]) end

-- When a lease was last renewed: the beat in the worker's hash; nil if it is missing.
local function renewed(name)
  local beat = redis.pcall('HGET', KEYS[1] .. ':' .. name, 'beat')
  return type(beat) == 'string' and tonumber(beat) or nil
end

-- Corrects all leases if Redis's clock was set back since the last heartbeat. Otherwise, dead incarnations would keep
-- their leases until the clock catches up. The size of the step is how far the latest beat is ahead of the clock. All
-- leases move back by this step, including expired ones, which would otherwise be valid again. Without a step, a lease
-- that ends later than this one will is simply a longer lease, and its beat is not ahead. A lease without a beat says
-- nothing about the clock.
local back = 0
for name, moment in pairs(ends) do
  if moment > now + lease and moment < math.huge then back = math.max(back, (renewed(name) or now) - now) end
end
if back > 0 then
  for name, moment in pairs(ends) do
    if moment < math.huge then
      local beat = renewed(name)
      ends[name] = moment - back
      redis.call('ZADD', KEYS[1], whole(ends[name]), name)
      if beat then redis.pcall('HSET', KEYS[1] .. ':' .. name, 'beat', whole(beat - back)) end
    end
  end
end

local held
if mode == 'begin' then
  held = not ends[incarnation] and redis.call('EXISTS', KEYS[2]) == 0
else
  held = ends[incarnation] and ends[incarnation] >= now
end

if held then
  -- Writes the hash first: if its key has another type, this fails, the lease is not renewed, and the worker goes on
  -- under another name.
  redis.call('HSET', KEYS[2], 'beat', whole(now), unpack(ARGV, 4))
  ends[incarnation] = now + lease
  redis.call('ZADD', KEYS[1], whole(ends[incarnation]), incarnation)
end

local reply = { held and 1 or 0, now }
for name, moment in pairs(ends) do
  reply[#reply + 1] = name
  reply[#reply + 1] = whole(moment)
end
return reply
