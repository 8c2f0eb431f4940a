// Keeps keys in sync with their sources, because issuers rotate keys without notice. Files are checked every second.
// The URL is fetched at intervals, and whenever a token names an unknown key, but with a minimum pause so that invented
// key IDs cannot flood the issuer. If a source fails, its last good keys stay in use.

import Logging
import NIOConcurrencyHelpers
import NIOCore
import RollcallShards

/// The keys of one worker, for all its event loops.
final class KeyKeeper: Sendable {
    /// The minimum time between two fetches.
    static let pause = Duration.seconds(3)
    /// When to fetch the URL again, after a success and after a failure.
    static let refresh = (usual: Duration.seconds(300), afterFailure: Duration.seconds(15))
    /// The most tokens that may wait for keys. Clients beyond this limit must retry later.
    static let mostWaiting = 1024

    typealias Fetch = @Sendable () async throws -> [UInt8]
    typealias Read = @Sendable (_ path: String) throws(FileContents.Unreadable) -> [UInt8]

    private struct State {
        var keys: VerificationKeys
        var waiting: [EventLoopPromise<Void>] = []
        /// Whether `run()` is active, so that waiting tokens get an answer.
        var isRunning = false
        /// Whether the last fetch of the URL failed.
        var hasFailed = false
    }

    private let state: NIOLockedValueBox<State>
    private let files: [KeySource: String]
    private let fetch: Fetch?
    private let readFile: Read
    private let logger: Logger
    private let (calls, callIn) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// - Parameters:
    ///   - keys: The keys read at startup.
    ///   - files: The paths to watch.
    ///   - fetch: Fetches the URL, if there is one.
    ///   - read: Reads a file.
    init(
        _ keys: VerificationKeys, files: [KeySource: String], logger: Logger, fetch: Fetch?,
        read: @escaping Read = FileContents.read
    ) {
        state = NIOLockedValueBox(State(keys: keys))
        self.files = files
        self.logger = logger
        self.fetch = fetch
        readFile = read
    }

    /// The current keys.
    var keys: VerificationKeys { state.withLockedValue { $0.keys } }

    /// Whether the missing key may exist but the URL could not be fetched.
    var isInTheDark: Bool { state.withLockedValue { $0.hasFailed } }

    /// Whether an unknown key may become known later.
    var canLearn: Bool { fetch != nil || files[.jwksFile] != nil }

    /// Looks for unknown keys.
    ///
    /// - Returns: A future that completes when the sources have been read, successfully or not; `nil` if too many
    ///   tokens wait.
    func lookAgain(on eventLoop: any EventLoop) -> EventLoopFuture<Void>? {
        let promise = eventLoop.makePromise(of: Void.self)
        let isWelcome = state.withLockedValue { state in
            guard state.isRunning, state.waiting.count < Self.mostWaiting else { return false }
            state.waiting.append(promise)
            return true
        }
        guard isWelcome else {
            promise.succeed()
            return nil
        }
        callIn.yield()
        return promise.futureResult
    }

    /// Keeps the keys current until the task is cancelled.
    func run() async {
        state.withLockedValue { $0.isRunning = true }
        await withTaskGroup(of: Void.self) { group in
            if !files.isEmpty { group.addTask { await self.watchFiles() } }
            if let fetch {
                group.addTask { await self.answerCalls(fetch) }
                group.addTask { await self.callNowAndThen() }
            }
        }
        state.withLockedValue { $0.isRunning = false }
        answerWaiting()
    }
}

// Files.
extension KeyKeeper {
    private func watchFiles() async {
        var watched = files.map { WatchedKeys(source: $0, path: $1) }
        while !Task.isCancelled {
            // Waiting tokens do not wait for the file to settle.
            let isAwaited = fetch == nil && state.withLockedValue { !$0.waiting.isEmpty }
            for index in watched.indices where watched[index].watch.hasChanged(waiting: !isAwaited) {
                await read(&watched[index])
            }
            if fetch == nil { answerWaiting() }
            try? await Task.sleep(for: FileWatch.interval)
        }
    }

    /// Reads a file, and marks it as read if its keys are in use. Otherwise the next check reads it again, since the
    /// problem may go away without a change of the file.
    private func read(_ file: inout WatchedKeys) async {
        do throws(Unusable) {
            let contents = try contents(of: file.path)
            if contents != file.contents {
                try await take(contents, from: file.source, quietly: file.isFirst)
                file.contents = contents
            }
            file.watch.take()
            file.problem.ended()
        } catch {
            if file.problem.occurred(error.reason, at: .now) { keep(file.source, because: error.reason) }
        }
        file.isFirst = false
    }

    private func contents(of path: String) throws(Unusable) -> [UInt8] {
        do throws(FileContents.Unreadable) {
            return try readFile(path)
        } catch {
            throw Unusable(reason: error.reason)
        }
    }
}

/// A file with keys.
private struct WatchedKeys {
    let source: KeySource
    let path: String
    var watch: FileWatch
    /// The file's contents when it was last valid.
    var contents: [UInt8]?
    /// Whether the file was not read here yet. At startup it usually still has the contents that the worker already
    /// read.
    var isFirst = true
    var problem = RepeatedProblem()

    init(source: KeySource, path: String) {
        (self.source, self.path) = (source, path)
        watch = FileWatch([path])
    }
}

/// A source whose keys cannot be used.
private struct Unusable: Error {
    let reason: String
}

// The URL.
extension KeyKeeper {
    private func answerCalls(_ fetch: Fetch) async {
        for await _ in calls {
            // Tokens that arrive during this fetch wait for the next one, since this response may be older than their
            // key.
            let waiting = takeWaiting()
            await ask(fetch)
            waiting.forEach { $0.succeed() }
            try? await Task.sleep(for: Self.pause)
        }
    }

    private func ask(_ fetch: Fetch) async {
        do {
            let contents = try await fetch()
            let isFirst = keys.keys(of: .jwksURL).isEmpty
            try await take(contents, from: .jwksURL, quietly: !isFirst)
            state.withLockedValue { $0.hasFailed = false }
        } catch {
            state.withLockedValue { $0.hasFailed = true }
            keep(.jwksURL, because: (error as? Unusable)?.reason ?? "\(error)")
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

extension KeyKeeper {
    private func take(_ contents: [UInt8], from source: KeySource, quietly: Bool) async throws(Unusable) {
        do {
            let keys = try await source.keys(in: contents)
            state.withLockedValue { $0.keys.replace(source, with: keys) }
            if !quietly {
                logger.info("keys read", metadata: source.metadata.merging(["keys": "\(keys.count)"]) { $1 })
            }
        } catch {
            throw Unusable(reason: error.description)
        }
    }

    private func keep(_ source: KeySource, because reason: String) {
        logger.error(
            "keys cannot be read; the previous ones stay in use",
            metadata: source.metadata.merging(["reason": "\(reason)"]) { $1 })
    }

    private func answerWaiting() {
        takeWaiting().forEach { $0.succeed() }
    }

    private func takeWaiting() -> [EventLoopPromise<Void>] {
        state.withLockedValue { state in
            defer { state.waiting = [] }
            return state.waiting
        }
    }
}

extension KeySource {
    fileprivate var metadata: Logger.Metadata { ["source": "\(setting)"] }
}
