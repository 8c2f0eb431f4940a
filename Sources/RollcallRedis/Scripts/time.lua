-- Shared, placed before all scripts: the time at which the script runs, and numbers as text.

-- Redis time in milliseconds since 1970.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- Redis's clock may be set back. A stored time ahead of it was stored before that, and counts as now.
local function not_ahead(moment)
  return math.min(moment, now)
end

-- Returns the whole number that a stored text is, at most 2^53: 0 for anything else, which another program has written.
local function number(text)
  return math.min(tonumber(type(text) == 'string' and string.match(text, '^%d+$') or 0), 9007199254740992)
end

-- Formats a whole number. By default, Lua prints at most 14 digits, and larger numbers with an exponent.
local function whole(number)
  return string.format('%.0f', number)
end
