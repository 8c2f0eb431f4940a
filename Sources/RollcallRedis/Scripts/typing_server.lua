-- Sets a user as typing on behalf of an app's server, without a session: under a device that no client can name,
-- {http}MARK, with another mark for each time that a server says so.
--
-- KEYS     1 typing:{CONVERSATION}:USER, 2 typing:{CONVERSATION}, also the channel, 3 members:{CONVERSATION},
--          4 kinds:{CONVERSATION}
-- ARGV     1 user, 2 device, 3 expiry (absolute), 4 typing.expiry in milliseconds,
--          5 begin: in place of what a server has said before · renew: only what this device does still
--            end: whatever a server has said
--          6 the kind, empty for typing
-- Reply    { code, TIME }
--          typing, also of an end · not_a_member · late: the expiry has passed, or there is nothing to renew

local user, device, expiry, mode = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[5]
local typist, kind = user .. ' ' .. device, ARGV[6] ~= '' and ARGV[6] or nil

-- This write changes nothing and is allowed at maxmemory. Redis then allows all further writes of the script.
redis.call('ZREM', KEYS[2], '')

local managed, member, name = membership(KEYS[3], user)
if mode ~= 'end' then
  if managed and not member then return { 'not_a_member', now } end
  if now >= expiry then return { 'late', now } end
  if mode == 'renew' and not redis.call('ZSCORE', KEYS[2], typist) then return { 'late', now } end
end

local names = others(redis.call('GET', KEYS[1]) or '', device)
if mode ~= 'renew' then
  local devices = names
  names = {}
  for _, other in ipairs(devices) do
    if string.sub(other, 1, 6) == '{http}' then
      redis.call('ZREM', KEYS[2], user .. ' ' .. other)
      redis.pcall('HDEL', KEYS[4], user .. ' ' .. other)
    else
      names[#names + 1] = other
    end
  end
end
local ends = math.min(expiry, now + longest)
if mode ~= 'end' then
  redis.call('ZADD', KEYS[2], whole(ends), typist)
  redis.call('PEXPIRE', KEYS[2], whole(longest)) -- no entry ends later
  names[#names + 1] = device
  if kind then store_kind(user, device, kind, ends) end
end
local devices = still_typing(user, names)
if #devices > 0 then
  store_typing(user, devices, name)
else
  redis.call('DEL', KEYS[1])
  tell_stopped(user)
end
tidy()
return { 'typing', now }
