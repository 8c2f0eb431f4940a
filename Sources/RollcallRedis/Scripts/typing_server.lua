-- Sets a user as typing on behalf of an app's server, without a session: under a device that no client can name,
-- {http}MARK, with another mark for each time that a server says so.
--
-- KEYS     1 typing:{CONVERSATION}:USER, 2 typing:{CONVERSATION}, also the channel, 3 members:{CONVERSATION}
-- ARGV     1 user, 2 device, 3 expiry (absolute), 4 typing.expiry in milliseconds,
--          5 begin: in place of what a server has said before · renew: only what this device does still
--            end: whatever a server has said
--          6 the kind, empty for typing, 7 the user's name, empty for none
-- Reply    { code, TIME }
--          typing, also of an end · not_a_member · late: the expiry has passed, or there is nothing to renew

local user, device, expiry, mode = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[5]
local typist, says = user .. ' ' .. device, ARGV[7] ~= '' and ARGV[7] or nil

-- This write changes nothing and is allowed at maxmemory. Redis then allows all further writes of the script: it refuses only
-- what begins.
if mode ~= 'begin' then redis.call('ZREM', KEYS[2], '') end

local managed, member, name = membership(KEYS[3], user)
if mode ~= 'end' then
  if managed and not member then return { 'not_a_member', now } end
  if now >= expiry then return { 'late', now } end
  if mode == 'renew' and not redis.call('ZSCORE', KEYS[2], typist) then return { 'late', now } end
end

local before, began = read_typing(redis.call('GET', KEYS[1]) or '')
local devices = {}
take(before, device)
for _, other in ipairs(before) do
  if mode ~= 'renew' and string.sub(other.name, 1, 6) == '{http}' then
    redis.call('ZREM', KEYS[2], user .. ' ' .. other.name)
  else
    devices[#devices + 1] = other
  end
end
if #devices > 0 then says = began or says end
if mode ~= 'end' then
  redis.call('ZADD', KEYS[2], whole(math.min(expiry, now + longest)), typist)
  redis.call('PEXPIRE', KEYS[2], whole(longest)) -- no entry ends later
  devices[#devices + 1] = { name = device, kind = ARGV[6] ~= '' and ARGV[6] or nil }
end
devices = still_typing(user, devices)
if #devices > 0 then
  store_typing(user, devices, says, name)
else
  redis.call('DEL', KEYS[1])
  tell_stopped(user)
end
tidy()
return { 'typing', now }
