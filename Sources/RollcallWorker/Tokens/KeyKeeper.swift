// Keeps keys in sync with their sources, because issuers rotate keys without notice. Files are checked every second.
// The URL is fetched at intervals, and whenever no key matches a token, but with a minimum pause so that invented tokens
// cannot flood the issuer. If a source fails, its last good keys stay in use.

import CoreMetrics
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import RollcallServer

/// The keys of one worker, for all its event loops.
final class KeyKeeper: Sendable {
    /// The minimum time between two fetches.
    static let pause = Duration.seconds(3)
    /// When to fetch the URL again, after a success and after a failure.
    static let refresh = (usual: Duration.seconds(300), afterFailure: Duration.seconds(15))

    /// The longest pause that the URL's server can ask for.
    private static let longestPause = Duration.seconds(3600)

    typealias Fetch = @Sendable () async throws -> [UInt8]

    fileprivate struct State {
        var keys: VerificationKeys
        /// Whether the last fetch of the URL failed.
        var hasFailed = false
        /// The entries of each key set that were last named in the log.
        var skipped: [KeySource: [String]] = [:]
        /// When the URL was last read, or first asked.
        var read = ContinuousClock.now
        /// Until when the URL's server does not want to be asked.
        var pausedUntil = ContinuousClock.now
    }

    private let state: NIOLockedValueBox<State>
    private let files: [FollowedFiles<KeysRead>]
    private let fetch: Fetch?
    private let age: (any MeterHandler)?
    private let logger: Logger
    private let problem = NIOLockedValueBox(RepeatedProblem())
    private let (calls, callIn) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// - Parameters:
    ///   - keys: The keys read at startup.
    ///   - files: The paths to watch.
    ///   - age: Where the time since the URL was last read is reported.
    ///   - fetch: Fetches the URL, if there is one.
    init(
        _ keys: VerificationKeys, files: [KeySource: String], logger: Logger, age: (any MeterHandler)? = nil,
        fetch: Fetch?
    ) {
        let state = NIOLockedValueBox(State(keys: keys))
        self.state = state
        (self.logger, self.age, self.fetch) = (logger, age, fetch)
        self.files = files.map { source, path in
            FollowedFiles(
                [(source.setting, path)], value: KeysRead(),
                parse: { contents throws(UnusableFile) in try source.keys(in: contents[0]) },
                report: { result, isFirst in
                    switch result {
                    case .success(let read): state.take(read, from: source, logger, quietly: isFirst)
                    case .failure(let error): logger.keep(source, because: error.reason)
                    }
                })
        }
    }

    /// The current keys.
    var keys: VerificationKeys { state.withLockedValue { $0.keys } }

    /// Whether the missing key may exist but the URL could not be fetched.
    var isInTheDark: Bool { state.withLockedValue { $0.hasFailed } }

    /// Has the URL fetched for a token that no key matches, once the pause since the last fetch is over. One that is in progress may be
    /// older than the key, so another follows it.
    func look() { callIn.yield() }

    /// Keeps the keys current until the task is cancelled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            for file in files { group.addTask { await file.run() } }
            guard let fetch else { return }
            group.addTask { await self.answerCalls(fetch) }
            group.addTask { await self.callNowAndThen() }
            group.addTask { await self.tellAge() }
        }
    }
}

extension KeyKeeper {
    private func answerCalls(_ fetch: Fetch) async {
        for await _ in calls {
            await ask(fetch)
            let asked = state.withLockedValue { $0.pausedUntil } - .now
            try? await Task.sleep(for: max(Self.pause, asked))
        }
    }

    private func tellAge() async {
        while !Task.isCancelled {
            age?.set((ContinuousClock.now - state.withLockedValue { $0.read }) / .seconds(1))
            try? await Task.sleep(for: .seconds(5))
        }
    }

    private func ask(_ fetch: Fetch) async {
        do {
            let fetched = try KeySource.jwksURL.keys(in: try await fetch())
            state.take(fetched, from: .jwksURL, logger, quietly: !keys.keys(of: .jwksURL).isEmpty)
            state.withLockedValue { ($0.hasFailed, $0.read) = (false, .now) }
            problem.withLockedValue { $0.ended() }
        } catch {
            // The worker stops.
            guard !Task.isCancelled, !(error is CancellationError) else { return }
            let asked = (error as? KeySetFetch.Refusal)?.retryAfter ?? .zero
            state.withLockedValue { ($0.hasFailed, $0.pausedUntil) = (true, .now + min(asked, Self.longestPause)) }
            let reason = (error as? UnusableFile)?.reason ?? NetworkFailure.sentence(error)
            guard problem.withLockedValue({ $0.occurred(reason, at: .now) }) else { return }
            logger.keep(.jwksURL, because: reason)
        }
    }

    private func callNowAndThen() async {
        while !Task.isCancelled {
            callIn.yield()
            try? await Task.sleep(for: Self.pause)
            try? await Task.sleep(for: isInTheDark ? Self.refresh.afterFailure : Self.refresh.usual)
        }
        callIn.finish()
    }
}

extension NIOLockedValueBox<KeyKeeper.State> {
    fileprivate func take(_ read: KeysRead, from source: KeySource, _ logger: Logger, quietly: Bool) {
        let named = withLockedValue { state in
            state.keys.replace(source, with: read.keys)
            return state.skipped.updateValue(read.skipped, forKey: source) ?? []
        }
        if !read.skipped.isEmpty, read.skipped != named {
            logger.warning(
                "entries of a key set cannot be used",
                metadata: [
                    "source": "\(source.setting)", "count": "\(read.skipped.count)",
                    "entries": "\(read.skipped.prefix(5).joined(separator: "; "))",
                ])
        }
        guard !quietly else { return }
        logger.info("keys read", metadata: ["source": "\(source.setting)", "keys": "\(read.keys.count)"])
    }
}

extension Logger {
    fileprivate func keep(_ source: KeySource, because reason: String) {
        self.error(
            "keys cannot be read; the previous ones stay in use",
            metadata: ["source": "\(source.setting)", "reason": "\(reason)"])
    }
}

/// Fetches a key set from its issuer's server.
struct KeySetFetch: Sendable {
    let url: String
    /// A file with CA certificates for the server, if the system does not trust its CA.
    var authority: String?
    /// The time limit for the whole response.
    var deadline = Duration.seconds(3)

    /// - Throws: If there is no complete response in time, its status is not 200, or it is too large. Redirects are not
    ///   followed, so keys come only from the configured URL.
    func contents() async throws -> [UInt8] {
        guard let address = HTTPAddress(url) else { throw Refusal(description: "auth.jwks_url is not an address") }
        var client = try HTTPClient(address, authority: authority, isBeside: true)
        client.deadline = deadline
        client.mostBytes = FileContents.mostBytes
        let answer = try await client.send(
            .GET, address.uri, headers: ["accept": "application/jwk-set+json, application/json"])
        guard answer.status == .ok else {
            let isBusy = answer.status == .tooManyRequests || answer.status == .serviceUnavailable
            throw Refusal(description: "the response is \(answer.status)", retryAfter: isBusy ? answer.retryAfter : nil)
        }
        return Array(answer.body.readableBytesView)
    }

    struct Refusal: Error, CustomStringConvertible {
        let description: String
        /// How long not to ask again, as the server says.
        var retryAfter: Duration?
    }
}
