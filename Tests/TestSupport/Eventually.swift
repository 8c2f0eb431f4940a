internal import Foundation

// Waits for other processes by polling a condition until a time limit, instead of sleeping for a fixed time.

/// A condition that did not come true in time.
public struct Timeout: Error, CustomStringConvertible {
    public let description: String

    public init(description: String) {
        self.description = description
    }
}

/// Waits until `condition` is true.
///
/// Time in which this process was not scheduled does not count, since other processes may not have run either.
///
/// - Throws: ``Timeout``, naming `what`, after `limit`; any error of `condition`.
public func eventually(
    _ what: String, within limit: Duration = .seconds(30), every pause: Duration = .milliseconds(10),
    _ condition: () async throws -> Bool
) async throws {
    var end = ContinuousClock.now + limit
    while try await !condition() {
        guard ContinuousClock.now < end else { throw Timeout(description: "not within \(limit): \(what)") }
        let due = ContinuousClock.now + pause
        try await Task.sleep(until: due, clock: .continuous)
        let late = ContinuousClock.now - due
        if late > .milliseconds(100) { end += late }
    }
}

/// Whether `make soak` runs, which adds the tests that take long, measure real time, or need programs that `make test` does
/// not install. Such a test has the trait `.enabled(if: isSoaking)`.
public let isSoaking = ProcessInfo.processInfo.environment["SOAK"] != nil
