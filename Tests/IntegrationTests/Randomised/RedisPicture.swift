// What Redis holds of the test's users and conversations at one moment.

import Foundation
import RollcallModel
import TestSupport

/// Presence and typing in Redis.
struct RedisPicture {
    /// The hash of each user.
    private(set) var presence: [String: [String: String]] = [:]
    /// The sorted set of each conversation: `USER DEVICE`, separated by commas.
    private(set) var sets: [String: String] = [:]
    /// The same from the strings next to the sorted sets.
    private(set) var strings: [String: String] = [:]

    private struct Typists: Decodable {
        let set: String
        let strings: String
    }

    private static let person = """
        local fields, flat = {}, redis.call('HGETALL', KEYS[1])
        for i = 1, #flat, 2 do fields[flat[i]] = flat[i + 1] end
        return cjson.encode(fields)
        """

    private static let conversation = """
        local time = redis.call('TIME')
        local now = time[1] * 1000 + math.floor(time[2] / 1000)
        local set = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. now, '+inf')
        local typists = {}
        for i = 2, #KEYS do
          for device in string.gmatch(redis.call('GET', KEYS[i]) or '', '[^ ]+') do
            typists[#typists + 1] = ARGV[i - 1] .. ' ' .. device
          end
        end
        return cjson.encode({ set = table.concat(set, ','), strings = table.concat(typists, ',') })
        """

    static func taken(
        of users: [UserID], _ conversations: [ConversationID], in redis: TestRedis
    ) async throws -> RedisPicture {
        var picture = RedisPicture()
        for user in users.map(\.text) {
            let json = try await redis.cli("EVAL", person, "1", "presence:{\(user)}")
            picture.presence[user] = try JSONDecoder().decode([String: String].self, from: Data(json.utf8))
        }
        for conversation in conversations.map(\.text) {
            let set = "typing:{\(conversation)}"
            let keys = [set] + users.map { "\(set):\($0)" }
            let json = try await redis.cli(["EVAL", Self.conversation, "\(keys.count)"] + keys + users.map(\.text))
            let typists = try JSONDecoder().decode(Typists.self, from: Data(json.utf8))
            (picture.sets[conversation], picture.strings[conversation]) = (typists.set, typists.strings)
        }
        return picture
    }

    func status(of user: UserID) -> String { presence[user.text]?["status"] ?? "offline" }

    func lastSeen(of user: UserID) -> Timestamp? {
        presence[user.text]?["last_seen"].flatMap { Int64($0) }.map { Timestamp(milliseconds: $0) }
    }

    /// The devices that count, with their states.
    func devices(of user: UserID) -> [String: String] {
        var devices: [String: String] = [:]
        for (field, value) in presence[user.text] ?? [:] where field.hasPrefix("device:") {
            let state = String(value.prefix { $0 != " " })
            if state != "gone" { devices[String(field.dropFirst(7))] = state }
        }
        return devices
    }
}
