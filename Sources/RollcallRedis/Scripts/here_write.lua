-- Writes that a session is in a conversation, with what data, or that it is not. Of one session, the later decision counts; the
-- lines of others are left alone.
--
-- KEYS     1 here:{CONVERSATION}, also the channel, 2 here:{CONVERSATION}:since, 3 members:{CONVERSATION}
-- ARGV     1 user, 2 device, 3 incarnation, 4 the session's RANDOM, 5 SEQ, 6 active, idle, exit (gone of its own accord), gone,
--          or dead: gone, if the line is that incarnation's, 7 the write deadline, 8 open if the session may be here while the
--          conversation has no members, closed if not, 9 the RANDOM of a session of the device that this one has replaced, empty
--          for none,
--          10 since when the user was here, as far as the session knows, empty before its first write,
--          11 the name that the token gives the user, 12 the data: JSON without space between tokens; both may be empty
-- Reply    { code, TIME, since when the user is here, or null }
--          here: stored, and published if that is seen · gone: no line of the session is left · late: a later decision of the
--          session was written, or the line is another incarnation's · not_a_member: no line is left · expired

local user, device, incarnation, random, sequence, state = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6]

-- This write changes nothing and is allowed at maxmemory. Redis then allows all further writes of the script.
redis.call('HDEL', KEYS[1], '')

if now > tonumber(ARGV[7]) then return { 'expired', now, false } end

local before, lines, own, place = read_lines(redis.call('HGET', KEYS[1], user)), {}, nil, nil
for _, line in ipairs(before) do
  if line.random == random then
    own, place = line, #lines + 1
  elseif line.random ~= ARGV[9] then
    lines[#lines + 1] = line
  end
end

local code = 'gone'
if state == 'dead' then
  if own and own.incarnation ~= incarnation then return { 'late', now, false } end
elseif own and own.sequence > sequence then
  return { 'late', now, redis.call('ZSCORE', KEYS[2], user) }
elseif state ~= 'gone' and state ~= 'exit' then
  local managed, member = membership(KEYS[3], user)
  code = (managed and member or not managed and ARGV[8] == 'open') and 'here' or 'not_a_member'
end

if code == 'here' then
  local name, data = ARGV[11], ARGV[12]
  -- New data moves the line to the end.
  if not own or data ~= '' and data ~= own.data then place = #lines + 1 end
  table.insert(lines, place, {
    text = table.concat({ device, incarnation, random, whole(sequence), state, name, data }, '\t'),
    state = state, name = name, data = data,
  })
end

local was, is = shown(before), shown(lines)
if not is then
  if was then end_here(KEYS[1], KEYS[2], user, state == 'exit') end
  return { code, now, false }
end
local texts = {}
for i, line in ipairs(lines) do texts[i] = line.text end
redis.call('HSET', KEYS[1], user, table.concat(texts, '\n'))

-- An outage may have lost since when the user was here: the sessions remember it.
local since = redis.call('ZSCORE', KEYS[2], user)
local earliest = math.min(since and tonumber(since) or now, tonumber(ARGV[10]) or now, now)
if not since or earliest < tonumber(since) then
  redis.call('ZADD', KEYS[2], whole(earliest), user)
  was = nil
end
-- Readers learn the number of sessions also where nothing else changes: after an outage it tells an exit from a loss.
if was ~= is or #before ~= #lines then
  tell_here(KEYS[1], user, 'true,"since":' .. whole(earliest) .. is, #lines, state == 'exit')
end
return { code, now, whole(earliest) }
