-- Shared, stands before every script that needs it: the moment at which the script runs, and numbers as text.

-- Redis TIME in milliseconds since 1970.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- Redis's clock may be set back. A moment that lies ahead of it was stored before that, and is read as now.
local function not_ahead(moment)
  return math.min(moment, now)
end

-- Whether a write comes too late for its deadline. No deadline lies further ahead than `longest` milliseconds: one that
-- does was set before the clock was set back. An empty `longest` is no limit.
local function is_too_late(deadline, longest)
  longest = tonumber(longest)
  return now > deadline or (longest ~= nil and deadline > now + longest)
end

-- A whole number as text. Left to itself Lua prints 14 digits and then an exponent.
local function whole(number)
  return string.format('%.0f', number)
end
