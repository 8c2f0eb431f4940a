// What a shard needs besides Redis and its peers.

public import RollcallProtocol

/// Where a shard runs: an event loop of a worker, a simulated process, or a test.
public protocol Host: AnyObject {
    /// The host's monotonic clock.
    var now: Instant { get }
    /// Calls ``Shard/endTick()`` soon, after what has come by then.
    func endTickSoon()
    /// Has ``Shard/timePassed(at:)`` happen then. Only the newest call counts.
    func wake(at instant: Instant)
    /// Starts a new incarnation, under which everything on this worker is written again.
    func assertAnew(_ reason: AssertionReason)
    /// Sweeps these, through the worker's sweeper.
    func sweep(_ items: [HeldItem])
    /// The audit had to have so many records written again.
    func mended(_ records: Int)
    /// A message to this worker came. ``Shard/noticed(_:at:)`` is to be called on each of its shards.
    func received(_ notice: WorkerNotice)
    /// Asks the app's server about access, as ``AccessQueue`` does for this shard. ``Shard/answered(_:at:)`` follows, unless the
    /// question is withdrawn.
    func ask(_ question: AccessQuestion, _ need: AccessQueue.Need)
    func withdraw(_ question: AccessQuestion)
    /// A published change could not be parsed as this type: it is another version's, or not Rollcall's.
    func couldNotRead(_ change: Any.Type)
}

extension Host {
    public func mended(_: Int) {}
    public func ask(_: AccessQuestion, _: AccessQueue.Need) {}
    public func withdraw(_: AccessQuestion) {}
    public func couldNotRead(_: Any.Type) {}
}

/// Why a worker starts a new incarnation although its lease is valid.
public enum AssertionReason: Hashable, Sendable, CaseIterable {
    /// One of several Redis servers lost its data.
    case forgotten
    /// Sessions that may have devices in Redis were dropped to limit memory. The lease of the old incarnation expires,
    /// and a sweep removes the devices.
    case sessionsDropped
}
