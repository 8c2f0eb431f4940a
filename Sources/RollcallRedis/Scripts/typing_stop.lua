-- Ends a user's typing on a device if it ends no later than `expiry`. The stop is published even if nothing is stored:
-- a worker sends one at the expiry, when Redis has already expired the entry.
--
-- KEYS     1 typing:{CONVERSATION}:USER, 2 typing:{CONVERSATION}, also the channel, 3 members:{CONVERSATION}
-- ARGV     1 user, 2 device, 3 the expiry of the last signal that this ends (absolute),
--          4 typing.expiry in milliseconds
-- Reply    { code, TIME }
--          stopped: published, with "typing":true if the user still types on another device
--          late: the user has started to type again

local user, device, expiry = ARGV[1], ARGV[2], tonumber(ARGV[3])
local typist = user .. ' ' .. device

local ends = tonumber(redis.call('ZSCORE', KEYS[2], typist) or nil)
if ends and ends > expiry and ends <= latest then return { 'late', now } end

redis.call('ZREM', KEYS[2], typist) -- permitted at maxmemory; after it, so is all that a script does
tidy()
local devices, says = read_typing(redis.call('GET', KEYS[1]) or '')
take(devices, device)
devices = still_typing(user, devices)
if #devices > 0 then
  local _, _, name = membership(KEYS[3], user)
  store_typing(user, devices, says, name)
else
  redis.call('DEL', KEYS[1])
  tell_stopped(user)
end
return { 'stopped', now }
