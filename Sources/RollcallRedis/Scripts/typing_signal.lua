-- Sets a user as typing on a device until `expiry`.
--
-- KEYS     1 typing:{CONVERSATION}:USER, 2 typing:{CONVERSATION}, also the channel, 3 members:{CONVERSATION},
--          4 kinds:{CONVERSATION}
-- ARGV     1 user, 2 device, 3 expiry (absolute; also the write deadline), 4 typing.expiry in
--          milliseconds, 5 open if the session may type here while the conversation has no members, closed if not,
--          6 the kind, empty for typing
-- Reply    { code, TIME }
--          typing: stored and published · not_a_member · late: the expiry has passed

local user, device, expiry = ARGV[1], ARGV[2], tonumber(ARGV[3])

local managed, member, name = membership(KEYS[3], user)
if managed and not member or not managed and ARGV[5] ~= 'open' then return { 'not_a_member', now } end
if now >= expiry then return { 'late', now } end

local ends, typist, kind = math.min(expiry, now + longest), user .. ' ' .. device, ARGV[6] ~= '' and ARGV[6] or nil
-- GT: if signals arrive out of order, the latest end counts.
if redis.call('ZADD', KEYS[2], 'GT', 'CH', whole(ends), typist) == 0 then
  local stored = tonumber(redis.call('ZSCORE', KEYS[2], typist))
  if stored > latest then
    redis.call('ZADD', KEYS[2], whole(ends), typist)
  elseif stored > ends or not kind then
    ends, kind = stored, kind_of(user, device, stored)
  end
end
if kind then store_kind(user, device, kind, ends) end
local before = redis.call('SET', KEYS[1], device, 'PX', whole(ends - now), 'GET')
if not before or before == device then
  tell_typing(user, ends, name, kind)
else
  local names = others(before, device)
  names[#names + 1] = device
  store_typing(user, still_typing(user, names), name)
end
redis.call('PEXPIRE', KEYS[2], whole(longest)) -- no entry ends later
return { 'typing', now }
