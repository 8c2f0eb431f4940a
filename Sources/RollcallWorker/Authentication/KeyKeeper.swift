// Keeps the keys as their sources have them. Issuers change keys without asking: files are looked at every second, and a
// URL now and then and whenever a token names a key that nobody knows, though never so often that strangers with
// invented key ids could use this worker to trouble the issuer. Whatever fails, the keys that were good stay.

import Logging
import NIOConcurrencyHelpers
import NIOCore

/// The keys of one worker, for all its event loops.
final class KeyKeeper: Sendable {
    /// How soon after one fetch the next may begin.
    static let pause = Duration.seconds(3)
    /// How old the URL's keys may become, and how long after a failure it is asked again.
    static let refresh = (usual: Duration.seconds(300), afterFailure: Duration.seconds(15))
    /// How many tokens may wait for keys at once; more are told to come back.
    static let mostWaiting = 1024

    typealias Fetch = @Sendable () async throws -> [UInt8]
    typealias Read = @Sendable (_ path: String) throws(FileContents.Unreadable) -> [UInt8]

    private struct State {
        var keys: VerificationKeys
        var waiting: [EventLoopPromise<Void>] = []
        /// Whether anybody would answer who waits.
        var isRunning = false
        /// Whether the URL could not be asked when it was last tried.
        var hasFailed = false
    }

    private let state: NIOLockedValueBox<State>
    private let files: [KeySource: String]
    private let fetch: Fetch?
    private let readFile: Read
    private let logger: Logger
    private let (calls, callIn) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// - Parameters:
    ///   - keys: what was read at the start.
    ///   - files: the paths to look at.
    ///   - fetch: asks the URL, if there is one.
    ///   - read: reads a file.
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

    /// The keys at this moment.
    var keys: VerificationKeys { state.withLockedValue { $0.keys } }

    /// Whether what is missing may be there, but could not be asked for.
    var isInTheDark: Bool { state.withLockedValue { $0.hasFailed } }

    /// Whether a key that is not known now may be known later.
    var canLearn: Bool { fetch != nil || files[.jwksFile] != nil }

    /// Looks for keys that are not known yet.
    ///
    /// - Returns: completes when the sources have been asked, whatever came of it; `nil` if too many wait.
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

    /// Keeps the keys fresh until the task is cancelled.
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
            // Who waits for a key is not kept waiting until a file has come to rest.
            let isAwaited = fetch == nil && state.withLockedValue { !$0.waiting.isEmpty }
            for index in watched.indices where watched[index].watch.hasChanged(waiting: !isAwaited) {
                await read(&watched[index])
            }
            if fetch == nil { answerWaiting() }
            try? await Task.sleep(for: FileWatch.interval)
        }
    }

    /// Reads a file, and marks it as taken if its keys are in use. Otherwise it is read again at the next look, since
    /// what is wrong with it may pass without a change of the file.
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
    /// What the file held when it was last good.
    var contents: [UInt8]?
    /// Whether it was not read here before: at the start it most often holds what the worker has read already.
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
            // Who comes meanwhile waits for the next answer, since this one may be older than their key.
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
            "keys cannot be read; those read before stay",
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
