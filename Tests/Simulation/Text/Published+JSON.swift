// What Redis publishes, as bytes: as the scripts and cjson write it, and as a worker parses it.

internal import RedisTwin
internal import RollcallProtocol

extension Published {
    /// The payload, byte for byte as the scripts publish it.
    var payload: [UInt8] {
        switch self {
        case .typing(let change, _): Array(text(of: change).utf8)
        case .presence(let change, let devices): Array(text(of: change, devices).utf8)
        case .person(let change): Array(text(of: change).utf8)
        case .members(let change, _): Array(text(of: change).utf8)
        case .here(let change, _): Array(text(of: change).utf8)
        case .notice(let notice, _): Array(notice.payload.utf8)
        }
    }

    private func text(of change: TypingChange) -> String {
        let user = Self.quoted(change.user.text)
        guard change.typing, let expiresIn = change.expiresIn else {
            return "{\"user\":\(user),\"typing\":false,\"at\":\(change.at.milliseconds)}"
        }
        let name = change.name.map { ",\"name\":" + Self.quoted($0.string) } ?? ""
        let kind = change.kind == .typing ? "" : ",\"kind\":" + Self.quoted(change.kind.rawValue)
        return "{\"user\":\(user),\"typing\":true,\"expires_in\":\(expiresIn),\"at\":\(change.at.milliseconds)"
            + "\(name)\(kind)}"
    }

    private func text(of change: PresenceChange, _ devices: Int) -> String {
        let presence = change.presence
        let lastSeen = presence.lastSeen.map { "\($0.milliseconds)" } ?? "null"
        let at = presence.updatedAt?.milliseconds ?? 0
        let says = Profile.fields.map { field in
            presence.profile[keyPath: field.text].map { ",\"\(field.name)\":" + Self.quoted($0.string) } ?? ""
        }.joined()
        return "{\"user\":\(Self.quoted(presence.user.text)),\"status\":\"\(presence.status.rawValue)\",\"last_seen\":"
            + "\(lastSeen),\"updated_at\":\(at),\"version\":\(presence.version),\"devices\":\(devices),"
            + "\"at\":\(at)\(says)\(Self.text(ofRevision: change.person))}"
    }

    private static func text(ofRevision person: Int64?) -> String {
        person.map { ",\"person\":" + ($0 == 0 ? "null" : "\($0)") } ?? ""
    }

    private func text(of change: PersonChange) -> String {
        var person = Person.Field.allCases.compactMap { field -> String? in
            guard let value = change.person[field]?.string else { return nil }
            let isTime = field == .until || field == .unseen
            return "\"\(field.rawValue)\":" + (isTime ? value : Self.quoted(value))
        }
        person += ["\"blocks\":\(change.person.blocksRevision)", "\"revision\":\(change.person.revision)"]
        let block = change.block.map {
            ",\"\($0.isBlocked ? "block" : "unblock")\":\(Self.quoted($0.user.text)),\"was\":\($0.was)"
        }
        return "{\"user\":\(Self.quoted(change.user.text)),\"person\":{\(person.joined(separator: ","))}\(block ?? ""),"
            + "\"at\":\(change.at.milliseconds)}"
    }

    private func text(of change: MemberChange) -> String {
        switch change {
        case .reset: "{\"reset\":true}"
        case .member(let user, let name, let count):
            "{\"user\":\(Self.quoted(user.text)),\"member\":true,\"name\":\(Self.quoted(name.string))\(Self.text(of: count))}"
        case .removed(let user, let count):
            "{\"user\":\(Self.quoted(user.text)),\"member\":false\(Self.text(of: count))}"
        case .ask(let user): "{\"ask\":\(user.map { Self.quoted($0.text) } ?? "true")}"
        case .people: "{\"people\":true}"
        }
    }

    private func text(of change: HereChange) -> String {
        let rest =
            ",\"count\":\(change.count),\"at\":\(change.at.milliseconds),\"sessions\":\(change.sessions),"
            + "\"exit\":\(change.isOwnExit)}"
        guard let here = change.here else { return "{\"user\":\(Self.quoted(change.user.text)),\"here\":false\(rest)" }
        let name = here.name.map { ",\"name\":" + Self.quoted($0.string) } ?? ""
        let data = here.data.map { ",\"data\":\($0.text)" } ?? ""
        return "{\"user\":\(Self.quoted(change.user.text)),\"here\":true,\"since\":\(here.since.milliseconds)\(name)"
            + ",\"idle\":\(here.isIdle)\(data)\(rest)"
    }

    private static func text(of count: Int?) -> String { count.map { ",\"count\":\($0)" } ?? "" }

    /// Returns a string as cjson writes it, which also escapes slashes.
    private static func quoted(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == 0x22 || $0 == 0x5C || $0 == 0x2F }) else { return "\"\(text)\"" }
        var bytes: [UInt8] = [0x22]
        for byte in text.utf8 {
            if byte == 0x22 || byte == 0x5C || byte == 0x2F { bytes.append(0x5C) }
            bytes.append(byte)
        }
        return String(decoding: bytes + [0x22], as: UTF8.self)
    }
}
