// Connections to a server while the route changes to another server.

import NIOCore
import NIOEmbedded
import Synchronization
import TestSupport
import Testing

@testable import RollcallRedis

@Suite("A connection whose route changes", .timeLimit(.minutes(1)))
struct MovingRouteTests {
    /// Long enough that the test notices if anything waits for it.
    private let patient = ConnectionSettings(connectTimeout: .seconds(600))

    @Test func `gives up at once a server that accepts and says nothing`() async throws {
        let certificates = try TestCertificates()
        let redis = try await SecureRedis(certificates.first, of: certificates)
        let stalled = try await Listener()
        let tls = try TLSClient(trusting: certificates)
        let route = try MovingRoute(to: stalled.url.replacing("redis:", with: "rediss:"), tls)
        let commands = try await Commands(of: redis.redis, along: route, settings: patient)
        try await eventually("it waits for TLS") { stalled.acceptedCount == 1 }
        try route.move(to: redis.url, tls)
        try await commands.connected()
        #expect(commands.events == ["connected"])
        try await eventually("nothing is left of the attempt") { stalled.openCount == 0 }
        #expect(stalled.acceptedCount == 1)
        try await commands.close()
        try await stalled.close()
    }

    @Test func `gives up an attempt when it is closed`() async throws {
        let stalled = try await Listener()
        let tls = try TLSClient(trusting: try TestCertificates())
        let commands = try await Commands(
            along: try MovingRoute(to: stalled.url.replacing("redis:", with: "rediss:"), tls), settings: patient)
        try await eventually("it waits for TLS") { stalled.openCount == 1 }
        try await commands.close()
        try await eventually("nothing is left of the attempt") { stalled.openCount == 0 }
        try await stalled.close()
    }

    @Test func `does not set out for where the route led when it was asked`() async throws {
        let redis = try await RedisServer()
        let stalled = try await Listener()
        let route = try MovingRoute(to: stalled.url)
        let answer = Commands.loop.makePromise(of: Void.self)
        route.hold(until: answer.futureResult)
        let commands = try await Commands(of: redis, along: route, settings: patient)
        try await eventually("it asks") { route.questions == 1 }
        try route.move(to: redis.openURL)
        answer.succeed()
        try await commands.connected()
        #expect(stalled.acceptedCount == 0)
        try await commands.close()
        try await stalled.close()
    }

    /// The time that connecting took counts for TLS as well.
    @Test func `TLS is over when the time for connecting is`() throws {
        let loop = EmbeddedEventLoop()
        let gate = TLSGate(deadline: loop.now + .seconds(1))
        let channel = EmbeddedChannel(handler: gate, loop: loop)
        loop.advanceTime(by: .milliseconds(600))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        loop.advanceTime(by: .milliseconds(399))
        #expect(channel.isActive)
        loop.advanceTime(by: .milliseconds(1))
        #expect(!channel.isActive)
        #expect(throws: TLSFailure(.silence)) { try gate.opened?.wait() }
    }
}

/// A route whose destination the test sets.
private final class MovingRoute: RedisRoute {
    private struct State {
        var destination: Destination
        var watchers = RouteWatchers()
        var held: EventLoopFuture<Void>?
        var questions = 0
    }

    private let state: Mutex<State>

    init(to url: String, _ tls: TLSClient? = nil) throws {
        state = Mutex(State(destination: try Self.destination(url, tls)))
    }

    private static func destination(_ url: String, _ tls: TLSClient?) throws -> Destination {
        Destination(try RedisDeployment(url: url).location, tls: tls)
    }

    var questions: Int { state.withLock { $0.questions } }

    /// The next request is answered when this future completes, with the destination of that time.
    func hold(until held: EventLoopFuture<Void>) {
        state.withLock { $0.held = held }
    }

    func move(to url: String, _ tls: TLSClient? = nil) throws {
        let destination = try Self.destination(url, tls)
        let watchers = state.withLock { state in
            state.destination = destination
            return state.watchers
        }
        watchers.tell()
    }

    func next(on eventLoop: any EventLoop) -> EventLoopFuture<Destination> {
        let (destination, held) = state.withLock { state in
            defer { state.held = nil }
            state.questions += 1
            return (state.destination, state.held)
        }
        return (held?.hop(to: eventLoop) ?? eventLoop.makeSucceededVoidFuture()).map { destination }
    }

    func leads(to destination: Destination) -> Bool {
        state.withLock { $0.destination.location == destination.location }
    }

    func watch(_ watcher: ObjectIdentifier, moved: @escaping @Sendable () -> Void) {
        state.withLock { $0.watchers.add(watcher, moved) }
    }

    func unwatch(_ watcher: ObjectIdentifier) {
        state.withLock { $0.watchers.remove(watcher) }
    }
}
