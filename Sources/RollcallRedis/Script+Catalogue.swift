// The Lua scripts, one for each decision that must be atomic. The sources are in Scripts/; the header of each file
// lists its keys, arguments and reply. Code that several scripts share is in separate files, which are placed before
// the script.

internal import CScripts

extension Script {
    /// All scripts of the ``Store``, for a connection to load in advance.
    public static let all = [
        deviceWrite, sweepDevice, sweepClaim, sessionsRecord,
        heartbeat, workerRead, workerForget,
        typingSignal, typingStop, typingServer, hereWrite, room,
        membersReplace, memberSet, memberRemove, membersDelete, accessWrite,
        personWrite, userErase, userRevoke, eventsErase, eventsClaim,
    ]

    static let deviceWrite = Script("device_write", after: "time", "events", "presence_record")
    static let sweepDevice = Script("sweep_device", after: "time", "events", "presence_record")
    static let sweepClaim = Script("sweep_claim", after: "time")
    static let sessionsRecord = Script("sessions_record", after: "time")

    static let heartbeat = Script("heartbeat", after: "time", "events")
    static let workerRead = Script("worker_read", after: "time")
    static let workerForget = Script("worker_forget", after: "time")

    static let typingSignal = Script("typing_signal", after: "time", "membership", "typing_end", "typing_set")
    static let typingStop = Script(
        "typing_stop", after: "time", "membership", "typing_end", "typing_set", "typing_ended")
    static let typingServer = Script(
        "typing_server", after: "time", "membership", "typing_end", "typing_set", "typing_ended")
    static let hereWrite = Script("here_write", after: "time", "membership", "here_line")
    static let room = Script("room", after: "time", "membership", "typing_end")

    static let membersReplace = Script("members_replace", after: "time", "typing_ended", "here_line")
    static let memberSet = Script("member_set", after: "time", "membership", "typing_ended", "here_line")
    static let memberRemove = Script(
        "member_remove", after: "time", "membership", "typing_end", "typing_ended", "here_line")
    static let membersDelete = Script("members_delete", after: "time")
    static let accessWrite = Script("access_write", after: "time")

    static let personWrite = Script("person_write", after: "time", "events", "presence_record")
    static let userErase = Script("user_erase", after: "time", "events", "presence_record")
    static let userRevoke = Script("user_revoke", after: "time")

    static let eventsErase = Script("events_erase")
    static let eventsClaim = Script("events_claim", after: "time")

    private init(_ name: String, after shared: String...) {
        let parts = (shared + [name]).map { part -> String in
            guard let number = Self.files.firstIndex(of: part) else { preconditionFailure("no \(part).lua") }
            return String(cString: lua_script(Int32(number)))
        }
        self.init(name: name, source: parts.joined(separator: "\n"))
    }

    /// In the order of `CScripts.c`.
    private static let files = [
        "access_write", "device_write", "events", "events_claim", "events_erase", "heartbeat", "here_line",
        "here_write",
        "member_remove", "member_set", "members_delete", "members_replace", "membership", "person_write",
        "presence_record", "room",
        "sessions_record", "sweep_claim",
        "sweep_device", "time", "typing_end", "typing_ended", "typing_server", "typing_set", "typing_signal",
        "typing_stop", "user_erase", "user_revoke", "worker_forget", "worker_read",
    ]
}
