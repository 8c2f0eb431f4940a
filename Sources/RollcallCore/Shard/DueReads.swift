// Reads of Redis that are due. They are requested in batches at the end of a tick, each user and room once.

struct DueReads: Sendable {
    /// Users whose channel is confirmed, or whose read is requested again on its confirmation.
    private var watches: Set<WatchKey> = []
    /// Users whose read failed; the next heartbeat retries them.
    private var failed: Set<WatchKey> = []
    /// Rooms with a published change that this version cannot read.
    private var rooms: Set<RoomKey> = []

    var count: Int { watches.count + failed.count + rooms.count }

    var hasWatches: Bool { !watches.isEmpty }

    mutating func insert(_ watch: WatchKey) {
        watches.insert(watch)
    }

    mutating func insert(_ several: [WatchKey]) {
        watches.formUnion(several)
    }

    mutating func insert(_ room: RoomKey) {
        rooms.insert(room)
    }

    /// Schedules a failed read for the next heartbeat.
    mutating func retryLater(_ watch: WatchKey) {
        failed.insert(watch)
    }

    /// Makes all failed reads due.
    mutating func retryFailed() {
        watches.formUnion(failed)
        failed = []
    }

    /// Cancels the reads of a user that is no longer watched.
    mutating func forget(_ watch: WatchKey) {
        watches.remove(watch)
        failed.remove(watch)
    }

    /// Removes and returns the users to read, in slot order.
    mutating func takeWatches() -> [WatchKey] {
        defer { watches = [] }
        return watches.sorted { $0.index < $1.index }
    }

    /// Removes and returns the rooms to read, in slot order. Some may have closed since.
    mutating func takeRooms() -> [RoomKey] {
        guard !rooms.isEmpty else { return [] }
        defer { rooms = [] }
        return rooms.sorted { $0.index < $1.index }
    }
}
