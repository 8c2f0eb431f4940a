// The stream of events, as its readers see it. The scripts that write records append to it.

public import RollcallProtocol

extension Store {
    /// Reads the events behind `cursor`, at most `limit` and a reset: also a reset if the cursor is outside of the stream.
    public func events(after cursor: EventID, limit: Int, reply: @escaping Reply<EventsPage>) {
        // In this order, so that no entry is missed that is trimmed in between.
        let gathering = Gathering<RedisValue>(4) { [self] result in
            guard case .success(let values) = result else { return reply(result.map { _ in EventsPage.none }) }
            let ids = values[1...2].compactMap { $0.array?.first?.array?.first?.text.flatMap(EventID.init) }
            let bounds = ids.count == 2 && ids[0] <= ids[1] ? ids[0]...ids[1] : nil
            guard EventsPage.isOutside(cursor, of: bounds) else {
                return reply(.success(EventsPage(values[0], after: cursor)))
            }
            let now = Timestamp(redisTime: values[3]) ?? Timestamp(milliseconds: 0)
            range("XRANGE", "-", "+", limit) { reply($0.map { EventsPage($0, after: .start).afterReset(at: now) }) }
        }
        // Nothing is behind the greatest ID, and Redis refuses to be asked for it.
        let from = cursor < .end ? "(\(cursor)" : "+"
        range("XRANGE", .string(from), "+", limit, reply: gathering.part(0))
        range("XRANGE", "-", "+", 1, reply: gathering.part(1))
        range("XREVRANGE", "+", "-", 1, reply: gathering.part(2))
        commands.send(RedisCommand("TIME"), to: names.events, reply: gathering.part(3))
    }

    private func range(
        _ command: String, _ from: RedisCommand.Argument, _ to: RedisCommand.Argument, _ limit: Int,
        reply: @escaping Reply<RedisValue>
    ) {
        commands.send(
            RedisCommand(command, .string(names.events), from, to, "COUNT", .integer(Int64(limit))), reply: reply)
    }

    /// Claims the delivery of events to the webhook, or renews the claimant's own claim.
    ///
    /// - Parameters:
    ///   - duration: how long the claim lasts; zero gives it back.
    ///   - delivered: the last entry that the claimant has delivered. It counts if the claim is its own, as all that follows.
    ///   - isOffered: whether whoever asks next may have the claim.
    ///   - notes: what the claimant notes of its attempts, for whoever delivers next; `nil` if nothing has changed.
    ///   - reply: `nil` if another holds the claim.
    public func claimDelivery(
        by claimant: String, for duration: Duration, delivered: EventID?, isOffered: Bool, notes: String?,
        reply: @escaping Reply<DeliveryClaim?>
    ) {
        call(
            .eventsClaim, keys: [names.eventsState],
            arguments: [
                .string(claimant), .milliseconds(duration), .string(delivered.map { "\($0)" } ?? ""),
                isOffered ? "1" : "",
                .string(notes ?? ""),
            ],
            reply: reply
        ) { value in
            guard !value.isNull else { return .some(nil) }
            guard let parts = value.array, parts.count == 3, let position = parts[0].readable, let time = parts[1].time,
                let notes = parts[2].readable
            else { return nil }
            return DeliveryClaim(position: EventID(position) ?? .start, time: time, notes: notes)
        }
    }

    /// The newest entry of the stream; ``EventID/start`` if it has none.
    public func latestEvent(reply: @escaping Reply<EventID>) {
        range("XREVRANGE", "+", "-", 1) {
            reply($0.map { $0.array?.first?.array?.first?.text.flatMap(EventID.init) ?? .start })
        }
    }

    /// How many entries the stream has.
    public func eventCount(reply: @escaping Reply<Int64>) {
        commands.send(RedisCommand("XLEN", .string(names.events))) { reply($0.map { $0.integer ?? 0 }) }
    }
}

/// A claim to deliver the events.
public struct DeliveryClaim: Hashable, Sendable {
    /// The last entry that was delivered, by whomever; ``EventID/start`` if none.
    public var position: EventID
    public var time: Timestamp
    /// What the last deliverer noted.
    public var notes: ByteString
}

extension EventsPage {
    fileprivate static let none = EventsPage(events: [], next: .start)

    /// Decodes entries; those of later versions and foreign ones are passed over.
    fileprivate init(_ entries: RedisValue, after cursor: EventID) {
        self.init(events: [], next: cursor)
        for entry in entries.array ?? [] {
            guard let id = entry.array?.first?.text.flatMap(EventID.init) else { continue }
            next = id
            if let fields = entry.array?.last?.array, let event = Event(id, fields) { events.append(event) }
        }
    }
}

extension Event {
    fileprivate init?(_ id: EventID, _ fields: [RedisValue]) {
        let fields = HashFields(fields)
        guard let at = fields.time("at") else { return nil }
        if fields["type"] == "reset" {
            self.init(id: id, content: .reset, at: at)
        } else if fields["type"] == "person" {
            guard let user = fields["user"].flatMap({ try? UserID($0) }), let revision = fields.number("revision"),
                let person = fields["settings"].flatMap({ Person(settings: $0, revision: revision) })
            else { return nil }
            self.init(id: id, content: .person(user, person), at: at)
        } else if let user = fields["user"].flatMap({ try? UserID($0) }), let version = fields.number("version"),
            let status = fields["status"].flatMap(PresenceStatus.init(word:))
        {
            let presence = Presence(
                user: user, status: status, lastSeen: fields.time("last_seen"), updatedAt: at, version: version)
            self.init(id: id, content: .status(presence), at: at)
        } else {
            return nil
        }
    }
}
