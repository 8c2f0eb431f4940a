// Whether an app's server should send a push notification, from what Redis holds of a user's devices.

/// Whether to send a user a push notification now. In doubt it says so: a notification too many is better than none.
package struct Reach: Hashable, Sendable {
    package enum Advice: String, Hashable, Sendable {
        /// The user is looking at a device.
        case skip
        /// The user was there until just now, and may be again: ask again after ``pause``.
        case later
        case push
        /// The user is not to be disturbed, until ``until``.
        case hold
    }

    package static let pause = Duration.seconds(20)
    /// How long a user who does nothing may still be looking.
    fileprivate static let idle = Duration.seconds(60)
    /// How long a user who has gone may be about to return.
    private static let gone = Duration.seconds(30)

    package let user: UserID
    package private(set) var advice = Advice.push
    /// When not to disturb the user ends; `nil` if that is open.
    package private(set) var until: Timestamp?
    /// Whether Redis knows the user and could be asked.
    package private(set) var isKnown = false

    package init(unknown user: UserID) { self.user = user }

    /// - Parameters:
    ///   - standings: of the workers that hold the user's devices. Devices of dead ones count as gone.
    ///   - person: what the user has decided; `nil` if nothing, or if that is not known.
    ///   - time: when the record was read, by Redis's clock.
    package init(
        _ record: PresenceRecord, past standings: [Incarnation: WorkerStanding], _ person: Person?, at time: Timestamp
    ) {
        user = record.user
        let presence = record.presence(past: standings)
        isKnown = record.isStored && !presence.isNeverSeen
        let living = record.devices.values.filter { standings[$0.incarnation]?.isDead != true }
        if living.contains(where: { $0.state == .active && $0.lost == nil }) {
            advice = .skip
        } else if living.contains(where: { $0.mayBeLookedAt(at: time) })
            || presence.lastSeen.map({ time.isWithin(Self.gone, after: $0) }) == true && presence.status == .offline
        {
            advice = .later
        }
        if advice != .skip, let person = person?.current(at: time), person.availability == .dnd {
            (advice, until) = (.hold, person.until)
        }
    }
}

extension DeviceRecord {
    fileprivate func mayBeLookedAt(at time: Timestamp) -> Bool {
        switch state {
        case .active: true
        case .idle: lost != nil || time.isWithin(Reach.idle, after: since)
        case .background, nil: false
        }
    }
}

extension Timestamp {
    /// A moment ahead of the clock, which was set back since, was long ago: "as if now" would say so until the clock is there.
    fileprivate func isWithin(_ duration: Duration, after moment: Timestamp) -> Bool {
        (.milliseconds(-500)..<duration).contains(since(moment))
    }
}

extension Reach: JSONWritable {
    package func write(to json: inout JSONWriter) {
        json.object {
            $0.field("advice", advice.rawValue)
            if advice == .later { $0.field("after", Self.pause.milliseconds) }
            if !isKnown { $0.field("known", false) }
            $0.optionalField("until", until)
            $0.field("user", user)
        }
    }
}
