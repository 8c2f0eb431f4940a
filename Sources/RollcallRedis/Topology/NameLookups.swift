// Looking up the addresses of a host, apart from connecting to them. The system's resolver may take many seconds, for
// example where a server drops questions for IPv6 addresses, and it cannot be interrupted.

import Dispatch
import NIOConcurrencyHelpers
package import NIOCore
package import NIOPosix

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The look-ups of this process. All who ask for a name at the same time share one, and none waits for another. Usable
/// from any thread.
package enum NameLookups {
    private static let last = NIOLockedValueBox<[RedisLocation.Address: LookUp]>([:])

    /// Returns the addresses of a host.
    ///
    /// - Parameter limit: how long to wait. A look-up that is under way for longer is left behind.
    /// - Returns: a future on this event loop, which may fail with ``NameLookupFailure``.
    package static func addresses(
        of host: String, port: Int, within limit: Duration, on eventLoop: any EventLoop
    ) -> EventLoopFuture<[SocketAddress]> {
        // NIO traps on other numbers.
        guard (0...65_535).contains(port) else {
            return eventLoop.makeFailedFuture(NameLookupFailure(name: host, reason: "there is no port \(port)"))
        }
        if let address = try? SocketAddress(ipAddress: host, port: port) {
            return eventLoop.makeSucceededFuture([address])
        }
        let promise = eventLoop.makePromise(of: [SocketAddress].self)
        let late = eventLoop.scheduleTask(in: TimeAmount(limit)) {
            promise.fail(NameLookupFailure(name: host, reason: "no answer within \(limit)"))
        }
        promise.futureResult.whenComplete { _ in late.cancel() }
        last.withLockedValue { last in
            let name = RedisLocation.Address.host(host, port: port)
            let current = last[name].flatMap { $0.isUnderWay(for: limit) ? $0 : nil } ?? LookUp(of: host, port: port)
            last[name] = current
            current.wait(promise)
        }
        return promise.futureResult
    }
}

/// One look-up: a call of the resolver for each family of addresses, each on a thread of its own.
private final class LookUp: Sendable {
    private typealias Answer = Result<[SocketAddress], NameLookupFailure>

    private struct State {
        var answers: [Int32: Answer] = [:]
        var waiting: [EventLoopPromise<[SocketAddress]>] = []
        var isOver = false

        /// The addresses of both families; the failure if neither has any.
        var answer: Answer {
            let found = [AF_INET6, AF_INET].flatMap { (try? answers[$0]?.get()) ?? [] }
            return found.isEmpty ? answers[AF_INET] ?? .success([]) : .success(found)
        }
    }

    /// How long the addresses of one family wait for those of the other (RFC 8305 §3).
    private static let delay = DispatchTimeInterval.milliseconds(50)

    private let begun = NIODeadline.now()
    private let state = NIOLockedValueBox(State())

    init(of host: String, port: Int) {
        for family in [AF_INET, AF_INET6] {
            DispatchQueue(label: "rollcall-lookup").async {
                self.answered(Self.ask(for: family, of: host, port: port), for: family)
            }
        }
    }

    func isUnderWay(for limit: Duration) -> Bool {
        !state.withLockedValue { $0.isOver } && .now() - begun < TimeAmount(limit)
    }

    func wait(_ promise: EventLoopPromise<[SocketAddress]>) {
        let isOver = state.withLockedValue { state in
            state.waiting.append(promise)
            return state.isOver
        }
        if isOver { end() }
    }

    private func answered(_ answer: Answer, for family: Int32) {
        let count = state.withLockedValue { state in
            state.answers[family] = answer
            return state.answers.count
        }
        if count == 2 { return end() }
        if case .success = answer { DispatchQueue.global().asyncAfter(deadline: .now() + Self.delay) { self.end() } }
    }

    private func end() {
        let (answer, waiting) = state.withLockedValue { state in
            defer { (state.waiting, state.isOver) = ([], true) }
            return (state.answer, state.waiting)
        }
        for promise in waiting { promise.completeWith(answer.mapError { $0 as any Error }) }
    }

    private static func ask(for family: Int32, of host: String, port: Int) -> Answer {
        var hints = addrinfo()
        hints.ai_family = family
        hints.ai_protocol = Int32(IPPROTO_TCP)
        var first: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, nil, &hints, &first)
        guard code == 0 else {
            let isFull = code == EAI_SYSTEM && (errno == EMFILE || errno == ENFILE)
            let reason = isFull ? "the limit of open files is reached" : String(cString: gai_strerror(code))
            return .failure(.init(name: host, reason: reason))
        }
        defer { freeaddrinfo(first) }
        let found = sequence(first: first) { $0?.pointee.ai_next }.compactMap { $0?.pointee.ai_addr }.map { address in
            let place = UnsafeRawPointer(address)
            var found =
                family == AF_INET
                ? SocketAddress(place.loadUnaligned(as: sockaddr_in.self), host: host)
                : SocketAddress(place.loadUnaligned(as: sockaddr_in6.self), host: host)
            found.port = port
            return found
        }
        return .success(found)
    }
}

/// A host's name has no addresses, or the resolver did not answer.
package struct NameLookupFailure: Error, CustomStringConvertible {
    package let name: String
    package let reason: String

    package init(name: String, reason: String) { (self.name, self.reason) = (name, reason) }

    package var description: String { "looking up \(name): \(reason)" }
}

extension ClientBootstrap {
    /// Connects to one of these addresses of a host; tries several in turn (RFC 8305).
    package func connect(
        to host: String, _ port: Int, at addresses: [SocketAddress], on eventLoop: any EventLoop
    ) -> EventLoopFuture<any Channel> {
        resolver(KnownAddresses(addresses: addresses, eventLoop: eventLoop)).connect(host: host, port: port)
    }
}

private struct KnownAddresses: Resolver, Sendable {
    let addresses: [SocketAddress]
    let eventLoop: any EventLoop

    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> { found(.inet) }
    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> { found(.inet6) }
    func cancelQueries() {}

    private func found(_ family: NIOBSDSocket.ProtocolFamily) -> EventLoopFuture<[SocketAddress]> {
        eventLoop.makeSucceededFuture(addresses.filter { $0.protocol == family })
    }
}
