// What Redis answers, as text: written here as Redis stores it, and parsed by the worker's own parsers.

internal import RedisTwin
internal import RollcallProtocol

/// The fields of a hash `presence:{USER}`, and the time of the read.
struct HashText {
    typealias Field = (name: String, value: String)

    let user: UserID
    let time: Timestamp
    let fields: [Field]

    init(_ twin: TwinRedis, _ user: UserID) {
        self.user = user
        time = twin.time
        let record = twin.record(of: user)
        guard let updatedAt = record.updatedAt else {
            fields = []
            return
        }
        var fields = [
            (name: "version", value: "\(record.version)"), (name: "updated_at", value: "\(updatedAt.milliseconds)"),
        ]
        if record.person > 0 { fields.append(("person", "\(record.person)")) }
        if let lastSeen = record.lastSeen { fields.append(("last_seen", "\(lastSeen.milliseconds)")) }
        for field in Profile.fields {
            if let text = record.profile[keyPath: field.text] { fields.append(("\(field.name)", text.string)) }
        }
        for (device, standing) in record.devices { fields.append(("device:\(device)", "\(standing)")) }
        self.fields = fields
    }
}

/// What an audit reads of one session.
struct AuditText {
    private let record: String?
    private let found: DeviceStanding

    init(_ found: DeviceStanding) {
        record = found.record.map { "\($0)" }
        self.found = found
    }

    var standing: DeviceStanding {
        var standing = found
        standing.record = record.flatMap { DeviceRecord(ByteString($0)) }
        return standing
    }
}

extension TwinRedis {
    /// The members of `typing:{CONVERSATION}` that count, by score, with what is said of each.
    func typingMembers(of conversation: ConversationID) -> [RoomSnapshot.TypingMember] {
        let set = typingSets[conversation]?.read(at: time) ?? [:]
        let names = members(of: conversation)
        return set.filter { counts($0.value) }.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map { member, end in
            let typing = typingUsers[TypingUser(conversation: conversation, user: member.user)]?.read(at: time)
            let name = names?[member.user].flatMap { $0.isEmpty ? nil : ByteString($0) }
            return (
                ByteString("\(member.user) \(member.device)"), end, name ?? typing?.name,
                typing?.devices.first { $0.id == member.device }?.kind ?? .typing
            )
        }
    }
}

/// Parses what Redis answers with the worker's own parsers, unless a bug is planted.
struct StoreText {
    let planted: PlantedBug?

    func record(_ hash: HashText, counting living: Set<BytesKey>) -> PresenceRecord {
        var record = PresenceRecord(user: hash.user, readAfter: hash.time)
        for var (name, value) in planted == .keyedByString ? byName(hash.fields) : hash.fields {
            name.withUTF8 { name in
                value.withUTF8 {
                    record.read(UnsafeRawBufferPointer(name), UnsafeRawBufferPointer($0), counting: living)
                }
            }
        }
        if planted == .missingCounts, !record.isStored { record.updatedAt = hash.time }
        return record
    }

    /// The planted bug.
    private func byName(_ fields: [HashText.Field]) -> [HashText.Field] {
        Dictionary(fields.map { ($0.name, $0.value) }) { $1 }.map { ($0.key, $0.value) }
    }

    func typists(_ members: [RoomSnapshot.TypingMember]) -> [RoomSnapshot.Entry] {
        switch planted {
        case .splitsByCharacter:
            RoomSnapshot.typists(members.filter { $0.member.string.split(separator: " ").count == 2 })
        case .keyedByString:
            RoomSnapshot.typists(Dictionary(members.map { ($0.member.string, $0) }) { $1 }.values)
        default:
            RoomSnapshot.typists(members)
        }
    }

    func item(_ member: String) -> ListItem? {
        if planted == .splitsByCharacter, !(3...4).contains(member.split(separator: " ").count) { return nil }
        return ListItem(member: ByteString(member))
    }

    func notice(_ payload: [UInt8]) -> WorkerNotice? {
        let notice = WorkerNotice(payload: payload)
        guard planted == .splitsByCharacter, let name = notice?.session else { return notice }
        return name.memberText.split(separator: " ").count == 3 ? notice : nil
    }
}
