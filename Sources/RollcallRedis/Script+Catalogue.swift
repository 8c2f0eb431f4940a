// The Lua scripts, one for each decision that must be atomic. The sources are in Scripts/; the header of each file
// lists its keys, arguments and reply. Code that several scripts share is in separate files, which are placed before
// the script.

extension Script {
    /// All scripts of the ``Store``, for a connection to load in advance.
    public static let all = [
        deviceWrite, sweepDevice, sweepClaim, sessionsRecord,
        heartbeat, workerRead, workerForget,
        typingSignal, typingStop, room,
        membersReplace, memberSet, memberRemove, membersDelete,
        userErase, userRevoke,
    ]

    private typealias Source = PackageResources

    static let deviceWrite = Script(
        "device_write", Source.time_lua, Source.presence_record_lua, Source.device_write_lua)
    static let sweepDevice = Script(
        "sweep_device", Source.time_lua, Source.presence_record_lua, Source.sweep_device_lua)
    static let sweepClaim = Script("sweep_claim", Source.time_lua, Source.sweep_claim_lua)
    static let sessionsRecord = Script("sessions_record", Source.time_lua, Source.sessions_record_lua)

    static let heartbeat = Script("heartbeat", Source.time_lua, Source.heartbeat_lua)
    static let workerRead = Script("worker_read", Source.time_lua, Source.worker_read_lua)
    static let workerForget = Script("worker_forget", Source.time_lua, Source.worker_forget_lua)

    static let typingSignal = Script(
        "typing_signal", Source.time_lua, Source.membership_lua, Source.typing_end_lua, Source.typing_set_lua,
        Source.typing_signal_lua)
    static let typingStop = Script(
        "typing_stop", Source.time_lua, Source.membership_lua, Source.typing_end_lua, Source.typing_set_lua,
        Source.typing_ended_lua, Source.typing_stop_lua)
    static let room = Script(
        "room", Source.time_lua, Source.membership_lua, Source.typing_end_lua, Source.room_lua)

    static let membersReplace = Script(
        "members_replace", Source.time_lua, Source.typing_ended_lua, Source.members_replace_lua)
    static let memberSet = Script(
        "member_set", Source.time_lua, Source.membership_lua, Source.typing_ended_lua, Source.member_set_lua)
    static let memberRemove = Script(
        "member_remove", Source.time_lua, Source.membership_lua, Source.typing_ended_lua, Source.member_remove_lua)
    static let membersDelete = Script(
        "members_delete", Source.time_lua, Source.typing_ended_lua, Source.members_delete_lua)

    static let userErase = Script(
        "user_erase", Source.time_lua, Source.presence_record_lua, Source.user_erase_lua)
    static let userRevoke = Script("user_revoke", Source.time_lua, Source.user_revoke_lua)

    private init(_ name: String, _ parts: [UInt8]...) {
        self.init(name: name, source: parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n"))
    }
}
