-- Shared, stands before every script that needs it: the moment at which the script runs, and numbers as text.

-- Redis TIME in milliseconds since 1970.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- A whole number as text. Left to itself Lua prints 14 digits and then an exponent.
local function whole(number)
  return string.format('%.0f', number)
end
