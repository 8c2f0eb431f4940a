// The contract's calls and answers as values, so that they can be drawn at random and compared.

import RollcallCore
import RollcallModel

enum Call: Hashable, Sendable {
    case heartbeat(LeaseKeeper.Beat, lease: Duration)
    case standing(Incarnation)
    case forget(Incarnation)
    case record([SessionName], of: Incarnation, until: Timestamp)
    case unrecord([SessionName], of: Incarnation)
    case claim(Incarnation, by: Incarnation, limit: Int)
    case sweep(SessionName, of: Incarnation, lastBeat: Timestamp?, until: Timestamp)
    case sweepBatch([SessionName], of: Incarnation, until: Timestamp)
    case write(DeviceWrite)
    case announceReplaced(DeviceWritten.PreviousSession, UserID, DeviceID)
    case presence([UserID], known: KnownWorkers)
    case audit([SessionName], of: Incarnation)
    case signal(TypingSignal)
    case stop(TypingSignal)
    case room(ConversationID, [UserID], withTyping: Bool, mostMembers: Int)
    case members(ConversationID)
    case setMembers([UserID: String], of: ConversationID)
    case setMember(UserID, name: String, of: ConversationID)
    case removeMember(UserID, of: ConversationID)
    case deleteMembers(ConversationID)

    /// Whether its effect depends on a lease that may end at this moment, and the answer does not contain the time.
    var looksAtLeases: Bool {
        if case .forget = self { return true }
        if case .sweepBatch = self { return true }
        return false
    }
}

enum Answer: Hashable, Sendable {
    case done
    case flag(Bool)
    case leases(LeaseSnapshot)
    case standing(WorkerStanding)
    case sessions([SessionName]?)
    case swept(SweepOutcome)
    case written(DeviceWritten)
    case presence(PresenceSnapshot)
    case audit([DeviceStanding])
    case typing(TypingOutcome)
    case stopped(TypingStopOutcome)
    case room(RoomSnapshot)
    case members([UserID: String]?)

    /// The time at which Redis executed it, if the answer contains it.
    var time: Timestamp? {
        switch self {
        case .leases(let snapshot): snapshot.time
        case .standing(let standing): standing.time
        case .written(let written): written.time
        case .room(let snapshot): snapshot.time
        case .done, .flag, .sessions, .swept, .presence, .audit, .typing, .stopped, .members: nil
        }
    }

    /// Without the times of a read in several steps, each of which is slightly later than the last.
    var comparable: Answer {
        guard case .presence(var snapshot) = self else { return self }
        for index in snapshot.records.indices {
            snapshot.records[index].absentVersion = nil
            if !snapshot.records[index].isStored { snapshot.records[index].version = 0 }
        }
        for incarnation in snapshot.standings.keys {
            snapshot.standings[incarnation]?.time = Timestamp(milliseconds: 0)
        }
        return .presence(snapshot)
    }
}

extension StoreContract {
    func answer(_ call: Call) async throws -> Answer {
        switch call {
        case .heartbeat(let beat, let lease): .leases(try await heartbeat(beat, lease: lease))
        case .standing(let incarnation): .standing(try await standing(of: incarnation))
        case .forget(let incarnation): .flag(try await forget(incarnation))
        case .record(let names, let incarnation, let until):
            .flag(try await record(names, of: incarnation, until: until))
        case .claim(let dead, let claimant, let limit):
            .sessions(try await claimSweep(of: dead, by: claimant, limit: limit))
        case .sweep(let name, let dead, let beat, let until):
            .swept(try await sweep(name, of: dead, lastBeat: beat, until: until))
        case .sweepBatch(let names, let dead, let until): .flag(try await sweep(names, of: dead, until: until))
        case .write(let decision): .written(try await write(decision))
        case .presence(let users, let known): .presence(try await presence(of: users, known: known))
        case .audit(let names, let incarnation): .audit(try await audit(names, of: incarnation))
        case .signal(let signal): .typing(try await signalTyping(signal))
        case .stop(let stop): .stopped(try await stopTyping(stop))
        case .room(let conversation, let users, let withTyping, let mostMembers):
            .room(try await room(conversation, users: users, withTyping: withTyping, mostMembers: mostMembers))
        case .members(let conversation): .members(try await members(of: conversation))
        case .unrecord(let names, let incarnation): done(try await unrecord(names, of: incarnation))
        case .announceReplaced(let previous, let user, let device):
            done(try await announceReplaced(previous, user: user, device: device))
        case .setMembers(let members, let conversation): done(try await setMembers(members, of: conversation))
        case .setMember(let user, let name, let conversation):
            done(try await setMember(user, name: name, of: conversation))
        case .removeMember(let user, let conversation): done(try await removeMember(user, of: conversation))
        case .deleteMembers(let conversation): done(try await deleteMembers(of: conversation))
        }
    }

    private func done(_: Void) -> Answer { .done }
}
