// What Redis holds of the test's people, read in one script so that it is one moment's.

import Foundation
import RollcallModel
import TestSupport

/// The presence and the typists in Redis at one moment.
struct RedisPicture: Decodable {
    /// The hash of each user.
    let presence: [String: [String: String]]
    /// For each conversation what its sorted set holds: `USER DEVICE`, with commas between.
    let sets: [String: String]
    /// The same from the strings beside it.
    let strings: [String: String]

    private static let script = """
        local time = redis.call('TIME')
        local now = time[1] * 1000 + math.floor(time[2] / 1000)
        local picture = { presence = {}, sets = {}, strings = {} }
        for user in string.gmatch(ARGV[1], '[^ ]+') do
          local fields, flat = {}, redis.call('HGETALL', 'presence:{' .. user .. '}')
          for i = 1, #flat, 2 do fields[flat[i]] = flat[i + 1] end
          picture.presence[user] = fields
        end
        for room in string.gmatch(ARGV[2], '[^ ]+') do
          local set = redis.call('ZRANGEBYSCORE', 'typing:{' .. room .. '}', '(' .. now, '+inf')
          local typists = {}
          for user in string.gmatch(ARGV[1], '[^ ]+') do
            local devices = redis.call('GET', 'typing:{' .. room .. '}:' .. user) or ''
            for device in string.gmatch(devices, '[^ ]+') do typists[#typists + 1] = user .. ' ' .. device end
          end
          picture.sets[room], picture.strings[room] = table.concat(set, ','), table.concat(typists, ',')
        end
        return cjson.encode(picture)
        """

    static func taken(
        of users: [UserID], _ conversations: [ConversationID], in redis: RedisServer
    ) async throws -> RedisPicture {
        let json = try await redis.cli(
            "EVAL", script, "0", users.map(\.text).joined(separator: " "),
            conversations.map(\.text).joined(separator: " "))
        return try JSONDecoder().decode(RedisPicture.self, from: Data(json.utf8))
    }

    func status(of user: UserID) -> String { presence[user.text]?["status"] ?? "offline" }

    func lastSeen(of user: UserID) -> Timestamp? {
        presence[user.text]?["last_seen"].flatMap { Int64($0) }.map { Timestamp(milliseconds: $0) }
    }

    /// The devices that count, with what they are.
    func devices(of user: UserID) -> [String: String] {
        var devices: [String: String] = [:]
        for (field, value) in presence[user.text] ?? [:] where field.hasPrefix("device:") {
            let state = String(value.prefix { $0 != " " })
            if state != "gone" { devices[String(field.dropFirst(7))] = state }
        }
        return devices
    }
}
