-- Sets a user as typing on a device until `expiry`.
--
-- KEYS     1 typing:{CONVERSATION}:USER, 2 typing:{CONVERSATION}, also the channel, 3 members:{CONVERSATION}
-- ARGV     1 user, 2 device, 3 expiry (absolute; also the write deadline), 4 typing.expiry in
--          milliseconds, 5 open if the session may type here while the conversation has no members, closed if not,
--          6 the kind, empty for typing, 7 the name that the session's token gives the user, empty for none
-- Reply    { code, TIME }
--          typing: stored and published · not_a_member · late: the expiry has passed

local user, device, expiry, says = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[7] ~= '' and ARGV[7] or nil

local managed, member, name = membership(KEYS[3], user)
if managed and not member or not managed and ARGV[5] ~= 'open' then return { 'not_a_member', now } end
if now >= expiry then return { 'late', now } end

local own = { name = device, kind = ARGV[6] ~= '' and ARGV[6] or nil, ends = math.min(expiry, now + longest) }
local typist, is_older = user .. ' ' .. device, false
-- GT: if signals arrive out of order, the latest end counts.
if redis.call('ZADD', KEYS[2], 'GT', 'CH', whole(own.ends), typist) == 0 then
  local stored = tonumber(redis.call('ZSCORE', KEYS[2], typist))
  if stored > latest then
    redis.call('ZADD', KEYS[2], whole(own.ends), typist)
  else
    is_older = stored > own.ends or not own.kind
    own.ends = stored
  end
end

local text = typing_text({ own }, says)
local before
if is_older then
  before = redis.call('GET', KEYS[1])
else
  before = redis.call('SET', KEYS[1], text, 'PX', whole(own.ends - now), 'GET')
end
if before == text or not before and not is_older then
  tell_typing(user, own, name or says)
else
  -- What is stored of the device stays after an older signal, and a typist keeps the name with which they began.
  local devices, began = read_typing(before or '')
  local stored = take(devices, device)
  if is_older and stored then own.kind = stored.kind end
  if #devices == 0 and not is_older and (not began or began == says) then
    tell_typing(user, own, name or says)
  else
    devices[#devices + 1] = own
    store_typing(user, still_typing(user, devices), began or says, name)
  end
end
redis.call('PEXPIRE', KEYS[2], whole(longest)) -- no entry ends later
return { 'typing', now }
