-- Shared by scripts that change who is here, after time.lua. `here` is the key here:{CONVERSATION}, also the channel: of each user,
-- a line for each session that has entered, and one for what apps' servers say, its words separated by tabs. `since` is the key
-- here:{CONVERSATION}:since.

-- Returns the lines of a user, the one that sent data last at the end. Words after the eighth are another version's. What is
-- no line is dropped by the next write of the user. What apps' servers say ends at `ends`, but only whoever was told removes it:
-- until then Redis's clock may have been set.
local function read_lines(text)
  local lines = {}
  for line in string.gmatch(text or '', '[^\n]+') do
    local device, incarnation, random, sequence, state, name, data, ends =
      string.match(line, '^([^\t]+)\t([^\t]+)\t([^\t]+)\t(%d+)\t([^\t]+)\t([^\t]*)\t([^\t]*)\t?(%d*)')
    if device then
      lines[#lines + 1] = {
        text = line, device = device, incarnation = incarnation, random = random, sequence = tonumber(sequence),
        state = state, name = name, data = data, ends = tonumber(ends),
      }
    end
  end
  return lines
end

-- Returns when the last of these lines ends; nil if one of them is a session's.
local function last_end(lines)
  local last
  for _, line in ipairs(lines) do
    if not line.ends then return nil end
    last = math.max(last or 0, line.ends)
  end
  return last
end

-- Returns what is shown of a user with these lines, as JSON; nil if the user is not here.
local function shown(lines)
  if #lines == 0 then return nil end
  local last, idle = lines[#lines], true
  for _, line in ipairs(lines) do
    if line.data ~= '' then last = line end
    if line.state == 'active' then idle = false end
  end
  return (last.name ~= '' and ',"name":' .. cjson.encode(last.name) or '') .. ',"idle":' .. tostring(idle)
    .. (last.data ~= '' and ',"data":' .. last.data or '')
end

-- Publishes how the user is here, with how many sessions, and whether that is because a session left of its own accord.
local function tell_here(here, user, what, sessions, is_exit)
  redis.call('PUBLISH', here, '{"user":' .. cjson.encode(user) .. ',"here":' .. what
    .. ',"count":' .. redis.call('HLEN', here) .. ',"at":' .. whole(now) .. ',"sessions":' .. sessions
    .. ',"exit":' .. tostring(is_exit) .. '}')
end

-- Ends being here for a user. Foreign keys hold nobody.
local function end_here(here, since, user, is_exit)
  if redis.pcall('HDEL', here, user) ~= 1 then return end
  redis.pcall('ZREM', since, user)
  tell_here(here, user, 'false', 0, is_exit or false)
end

-- Ends being here for every user for which `stays` returns false.
local function end_here_unless(here, since, stays)
  for _, user in ipairs(redis.pcall('ZRANGE', since, 0, -1)) do
    if not stays(user) then end_here(here, since, user) end
  end
end
