-- Writes that a session is in a conversation, with what data, or that it is not. Of one session, the later decision counts; the
-- lines of others are left alone. What apps' servers say of a user is written in the same way, under one RANDOM.
--
-- KEYS     1 here:{CONVERSATION}, also the channel, 2 here:{CONVERSATION}:since, 3 members:{CONVERSATION}
-- ARGV     1 user, 2 device, 3 incarnation, 4 the session's RANDOM, 5 SEQ, 6 active, idle, exit (gone of its own accord), gone,
--          or dead: gone, if the line is that incarnation's, 7 the write deadline, 8 open if the session may be here while the
--          conversation has no members, closed if not, 9 the RANDOM of a session of the device that this one has replaced, empty
--          for none,
--          10 since when the user was here, as far as the session knows, empty before its first write,
--          11 the name that the token gives the user, 12 the data: JSON without space between tokens; both may be empty
--          13 for how many milliseconds apps' servers have said it, empty for a session; SEQ is 0 for what they say now, which gets
--          the time as its number, and otherwise that of what they have said,
--          14 the incarnation under which it was written, to write it again unless something else has become of it; or empty
-- Reply    { code, TIME, since when the user is here, or null; with ARGV[13] the SEQ that is stored now, or null, and the
--          incarnation and SEQ that were stored before, if any }
--          here: stored, and published if that is seen · gone: no line of the session is left · late: a later decision of the
--          session was written, or there is none to renew, or the line is another incarnation's · not_a_member: no line is
--          left · expired

local user, device, incarnation, random, sequence, state = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6]

if now > tonumber(ARGV[7]) then return { 'expired', now, false } end

local lasts = tonumber(ARGV[13])
local before, lines, own, place = read_lines(redis.call('HGET', KEYS[1], user)), {}, nil, nil
local is_new = true
for _, line in ipairs(before) do
  if line.random == random or line.random == ARGV[9] or not lasts and line.device == device then is_new = false end
  if line.random == random then
    own, place = line, #lines + 1
  elseif line.random ~= ARGV[9] then
    lines[#lines + 1] = line
  end
end

-- Of what apps' servers say, the caller gets to know its number, and who has held it.
if lasts and sequence == 0 then sequence = math.max(own and own.sequence + 1 or 0, now) end
local function reply(code, since, stored)
  if not lasts then return { code, now, since } end
  return { code, now, since, stored, own and own.incarnation or false, own and whole(own.sequence) or false }
end

local code = 'gone'
if state == 'dead' then
  if own and own.incarnation ~= incarnation then return { 'late', now, false } end
elseif own and own.sequence > sequence
  or ARGV[14] ~= '' and (not own or own.sequence == sequence and own.incarnation ~= ARGV[14])
then
  return reply('late', redis.call('ZSCORE', KEYS[2], user), own and whole(own.sequence) or false)
elseif state ~= 'gone' and state ~= 'exit' then
  local managed, member = membership(KEYS[3], user)
  code = (managed and member or not managed and ARGV[8] == 'open') and 'here' or 'not_a_member'
end

-- This write changes nothing and is allowed at maxmemory. Redis then allows all further writes of the script: it refuses only who
-- begins to be here.
if code ~= 'here' or not is_new then redis.call('HDEL', KEYS[1], '') end

if code == 'here' then
  local name, data = ARGV[11], ARGV[12]
  -- New data moves the line to the end.
  if not own or data ~= '' and data ~= own.data then place = #lines + 1 end
  local words = { device, incarnation, random, whole(sequence), state, name, data, lasts and whole(now + lasts) }
  table.insert(lines, place, {
    text = table.concat(words, '\t'), state = state, name = name, data = data, ends = lasts and now + lasts,
  })
end

local was, is = shown(before), shown(lines)
if not is then
  if was then end_here(KEYS[1], KEYS[2], user, state == 'exit') end
  return reply(code, false, false)
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
-- Readers learn the number of sessions also where nothing else changes: after an outage it tells an exit from a loss. And they
-- learn of another end.
local ends, ended = last_end(lines), last_end(before)
if was ~= is or #before ~= #lines or ends and (not ended or math.abs(ends - ended) > 1000) then
  local rest = ends and ',"expires_in":' .. whole(math.max(0, ends - now)) or ''
  tell_here(KEYS[1], user, 'true,"since":' .. whole(earliest) .. is .. rest, #lines, state == 'exit')
end
return reply(code, whole(earliest), code == 'here' and whole(sequence) or false)
