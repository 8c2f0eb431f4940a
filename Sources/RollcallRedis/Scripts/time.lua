-- Shared, placed before the scripts that need it: the time at which the script runs, and numbers as text.

-- Redis time in milliseconds since 1970.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- Redis's clock may be set back. A time ahead of it was stored before that, and is read as now.
local function not_ahead(moment)
  return math.min(moment, now)
end

-- Returns whether a write deadline has passed. No deadline is more than `longest` milliseconds ahead: one that is was
-- set before the clock was set back. If `longest` is empty, there is no limit.
local function is_too_late(deadline, longest)
  longest = tonumber(longest)
  return now > deadline or (longest ~= nil and deadline > now + longest)
end

-- Formats a whole number. By default, Lua prints at most 14 digits, and larger numbers with an exponent.
local function whole(number)
  return string.format('%.0f', number)
end
