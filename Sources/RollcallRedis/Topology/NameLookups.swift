// Looking up the addresses of a host, apart from connecting to them. The system's resolver may take many seconds, for
// example where a server drops questions for IPv6 addresses, and it cannot be interrupted.

import Dispatch
import NIOConcurrencyHelpers
package import NIOCore
import NIOPosix

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The look-ups of this process. All who ask for a name at the same time share one. Each runs on threads of its own, so
/// that it waits for no other one. Usable from any thread.
package final class NameLookups: Sendable {
    package static let shared = NameLookups()

    private typealias Family = Int32
    private typealias Answer = Result<[SocketAddress], NameLookupFailure>

    /// A look-up under way: one call of the resolver for each family of addresses.
    private struct LookUp {
        let number: Int
        let begun = NIODeadline.now()
        var answers: [Family: Answer] = [:]
        var waiting: [EventLoopPromise<[SocketAddress]>] = []

        /// The addresses of both families; the failure if neither has any.
        var answer: Answer {
            let found = [AF_INET6, AF_INET].flatMap { (try? answers[$0]?.get()) ?? [] }
            return found.isEmpty ? answers[AF_INET] ?? .success([]) : .success(found)
        }
    }

    private struct State {
        var lookUps: [RedisLocation.Address: LookUp] = [:]
        var count = 0
    }

    /// How long the addresses of one family wait for those of the other (RFC 8305 §3).
    private static let delay = DispatchTimeInterval.milliseconds(50)

    private let state = NIOLockedValueBox(State())

    /// Returns the addresses of a host.
    ///
    /// - Parameter limit: how long to wait. An older look-up of the same name, which would have failed by now, is left
    ///   behind.
    /// - Returns: a future on this event loop, which may fail with ``NameLookupFailure``.
    package func addresses(
        of host: String, port: Int, within limit: Duration, on eventLoop: any EventLoop
    ) -> EventLoopFuture<[SocketAddress]> {
        if let address = try? SocketAddress(ipAddress: host, port: port) {
            return eventLoop.makeSucceededFuture([address])
        }
        let promise = eventLoop.makePromise(of: [SocketAddress].self)
        let late = eventLoop.scheduleTask(in: TimeAmount(limit)) {
            promise.fail(NameLookupFailure(name: host, reason: "no answer within \(limit)"))
        }
        promise.futureResult.whenComplete { _ in late.cancel() }
        let name = RedisLocation.Address.host(host, port: port)
        let begun: Int? = state.withLockedValue { state in
            let isNew = state.lookUps[name].map { .now() - $0.begun >= TimeAmount(limit) } ?? true
            if isNew {
                state.count += 1
                state.lookUps[name] = LookUp(number: state.count)
            }
            state.lookUps[name]?.waiting.append(promise)
            return isNew ? state.count : nil
        }
        for family in begun == nil ? [] : [AF_INET, AF_INET6] {
            DispatchQueue(label: "rollcall-lookup").async {
                let answer = Self.ask(for: family, of: host, port: port)
                self.answered(answer, for: family, of: name, in: begun ?? 0)
            }
        }
        return promise.futureResult
    }

    private func answered(_ answer: Answer, for family: Family, of name: RedisLocation.Address, in number: Int) {
        let isComplete = state.withLockedValue { state in
            guard state.lookUps[name]?.number == number else { return false }
            state.lookUps[name]?.answers[family] = answer
            return state.lookUps[name]?.answers.count == 2
        }
        if isComplete { return end(name, number) }
        guard case .success = answer else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.delay) { self.end(name, number) }
    }

    private func end(_ name: RedisLocation.Address, _ number: Int) {
        let lookUp = state.withLockedValue { state in
            state.lookUps[name]?.number == number ? state.lookUps.removeValue(forKey: name) : nil
        }
        guard let lookUp else { return }
        for promise in lookUp.waiting { promise.completeWith(lookUp.answer.mapError { $0 as any Error }) }
    }

    private static func ask(for family: Family, of host: String, port: Int) -> Answer {
        var hints = addrinfo()
        hints.ai_family = family
        hints.ai_protocol = Int32(IPPROTO_TCP)
        var first: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, nil, &hints, &first)
        guard code == 0 else { return .failure(.init(name: host, reason: String(cString: gai_strerror(code)))) }
        defer { freeaddrinfo(first) }
        var found: [SocketAddress] = []
        for entry in sequence(first: first, next: { $0?.pointee.ai_next }) {
            guard let address = entry?.pointee.ai_addr else { break }
            let place = UnsafeRawPointer(address)
            var next =
                family == AF_INET
                ? SocketAddress(place.loadUnaligned(as: sockaddr_in.self), host: host)
                : SocketAddress(place.loadUnaligned(as: sockaddr_in6.self), host: host)
            next.port = port
            found.append(next)
        }
        return .success(found)
    }
}

/// A host's name has no addresses, or the resolver did not answer.
package struct NameLookupFailure: Error, CustomStringConvertible {
    package let name: String
    package let reason: String

    package var description: String { "looking up \(name): \(reason)" }
}

/// Addresses that are known already, for NIO, which tries several of them in turn (RFC 8305).
struct KnownAddresses: Resolver, Sendable {
    let addresses: [SocketAddress]
    let eventLoop: any EventLoop

    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> { found(.inet) }
    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> { found(.inet6) }
    func cancelQueries() {}

    private func found(_ family: NIOBSDSocket.ProtocolFamily) -> EventLoopFuture<[SocketAddress]> {
        eventLoop.makeSucceededFuture(addresses.filter { $0.protocol == family })
    }
}
