-- A user stops typing on a device: what began there and ends no later than `expiry` is over. The others are told even
-- if nothing was stored any more, since the stop at expiry follows Redis's own.
--
-- KEYS     1 typing:{CONVERSATION}:USER, 2 typing:{CONVERSATION}, also the channel, 3 members:{CONVERSATION}
-- ARGV     1 user, 2 device, 3 the expiry of the last signal of which this is the stop (absolute),
--          4 typing.expiry in milliseconds
-- Reply    { code, TIME }
--          stopped: published, as true if the user types on another device still · late: typing began anew since

local user, device, expiry = ARGV[1], ARGV[2], tonumber(ARGV[3])
local member = user .. ' ' .. device

local ends = tonumber(redis.call('ZSCORE', KEYS[2], member) or nil)
if ends and ends > expiry and ends <= latest then return { 'late', now } end

redis.call('ZREM', KEYS[2], member) -- permitted at maxmemory; after it, so is all that a script does
tidy()
local devices = still_typing(user, others(redis.call('GET', KEYS[1]) or '', device))
if #devices > 0 then
  local _, _, name = membership(KEYS[3], user)
  store_typing(user, devices, name)
else
  redis.call('DEL', KEYS[1])
  tell_stopped(user)
end
return { 'stopped', now }
