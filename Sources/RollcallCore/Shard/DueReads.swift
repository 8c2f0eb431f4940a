// Reads of Redis that are due. They are requested in batches at the end of a tick, each user and room once.

struct DueReads {
    /// Users whose channel is confirmed, or whose read is requested again on its confirmation.
    private var watches: Set<Watch> = []
    /// Users whose next read waits for the next heartbeat.
    private var waiting: Set<Watch> = []
    /// Rooms with a published change that this version cannot read.
    private var rooms: Set<Room> = []

    var count: Int { watches.count + waiting.count + rooms.count }

    var hasWatches: Bool { !watches.isEmpty }

    mutating func insert(_ watch: Watch) {
        watches.insert(watch)
    }

    mutating func insert(_ several: [Watch]) {
        watches.formUnion(several)
    }

    mutating func insert(_ watch: Watch, _ next: Watch.NextRead) {
        switch next {
        case .none: break
        case .now: watches.insert(watch)
        case .withHeartbeat: waiting.insert(watch)
        }
    }

    mutating func insert(_ room: Room) {
        rooms.insert(room)
    }

    /// Makes those due that waited for the heartbeat.
    mutating func heartbeatCame() {
        watches.formUnion(waiting)
        waiting = []
    }

    /// Cancels the reads of a user that is no longer watched.
    mutating func forget(_ watch: Watch) {
        watches.remove(watch)
        waiting.remove(watch)
    }

    /// Removes and returns the users to read, by number.
    mutating func takeWatches() -> [Watch] {
        defer { watches = [] }
        return watches.sorted { $0.number < $1.number }
    }

    /// Removes and returns the rooms to read, by number. Some may have closed since.
    mutating func takeRooms() -> [Room] {
        guard !rooms.isEmpty else { return [] }
        defer { rooms = [] }
        return rooms.sorted { $0.number < $1.number }
    }
}
