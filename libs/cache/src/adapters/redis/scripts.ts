import { createHash } from 'node:crypto';

/** A script that runs at once and alone in the server, on one key (so that it runs on a cluster as well). */
export interface Script {
  readonly lua: string;
  /** SHA-1 by which the server knows it. */
  readonly sha: string;
}

const script = (lua: string): Script => ({ lua, sha: createHash('sha1').update(lua).digest('hex') });

/**
 * Stores `<version>|<JSON>` unless a newer version is there.
 * Arguments: version, text, time to live in ms; 0: takes out what is there instead.
 */
export const setVersioned = script(`
local stored = tonumber(string.match(redis.call('GETRANGE', KEYS[1], 0, 31), '^(.-)|'))
if stored and stored > tonumber(ARGV[1]) then return 0 end
if ARGV[3] == '0' then redis.call('DEL', KEYS[1])
else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return 1`);

/** Adds to a counter whose time runs from its first use. Arguments: by, time to live in ms. */
export const increment = script(`
local value = redis.call('INCRBY', KEYS[1], ARGV[1])
if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return value`);

/**
 * Token bucket by the server's clock, so that replicas with different ones agree. It expires when it is full again, or after
 * 30 days. Arguments: capacity, refill per second, cost. Answers whether they were there, and the tokens left as text.
 */
export const takeTokens = script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local capacity, refill, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local before = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens, allowed = capacity, 0
if before[1] then
  tokens = math.min(capacity, tonumber(before[1]) + math.max(0, now - tonumber(before[2])) * refill / 1000)
end
if tokens + 1e-9 >= cost then
  allowed = 1
  tokens = math.max(0, tokens - cost)
end
local left = string.format('%.17g', tokens)
redis.call('HSET', KEYS[1], 'tokens', left, 'at', string.format('%.3f', now))
local full = math.max(1, math.ceil((capacity - tokens) / refill * 1000))
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', math.min(full, 2592000000)))
return { allowed, left }`);

/**
 * Takes a lock. Its fence outlives it by a day, and is never below the microseconds of the server's clock: it grows after
 * the end of a lock, and after the server lost everything. Arguments: holder, term in ms. Answers the fence as text.
 */
export const acquire = script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local known = redis.call('HMGET', KEYS[1], 'holder', 'until', 'fence')
if known[1] and tonumber(known[2]) > now then return false end
local fence = string.format('%.0f', math.max(tonumber(known[3] or 0) + 1, time[1] * 1000000 + time[2]))
redis.call('HSET', KEYS[1], 'holder', ARGV[1], 'until', string.format('%.0f', now + ARGV[2]), 'fence', fence)
redis.call('PEXPIRE', KEYS[1], ARGV[2] + 86400000)
return fence`);

/** Prolongs a lock that is still held by the holder. Arguments: holder, term in ms. */
export const renew = script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local known = redis.call('HMGET', KEYS[1], 'holder', 'until')
if known[1] ~= ARGV[1] or tonumber(known[2]) <= now then return 0 end
redis.call('HSET', KEYS[1], 'until', string.format('%.0f', now + ARGV[2]))
redis.call('PEXPIRE', KEYS[1], ARGV[2] + 86400000)
return 1`);

/** Ends a lock of the holder; its fence stays. Argument: holder. */
export const release = script(`
if redis.call('HGET', KEYS[1], 'holder') ~= ARGV[1] then return 0 end
return redis.call('HDEL', KEYS[1], 'holder', 'until')`);
