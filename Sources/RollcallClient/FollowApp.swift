// The app's phase and network on Apple's platforms, followed with one call, as `followPage()` does in a browser. Uses nothing
// that an app's extension may not use. Type-checked where Apple's SDK is not (`make lint`).

#if canImport(Network)
    import Foundation
    import Network

    #if canImport(UIKit)
        public import UIKit
    #elseif canImport(AppKit)
        import AppKit
        import CoreGraphics
    #endif

    extension RollcallClient {
        #if canImport(UIKit)
            /// Reports the app's phases (``setPhase(_:)``) and changes of the network (``networkChanged()``) until the client is
            /// closed or released. Further calls do nothing.
            ///
            /// - Parameters:
            ///   - phase: the app's phase now. Pass `AppPhase(UIApplication.shared.applicationState)` if the app calls this while
            ///     it is in use. By default the client begins in the background until UIKit reports that the app is active,
            ///     which follows each launch by the user. So an app that iOS launches for a push shows nobody online.
            ///   - restAfter: after how long in the background the client says goodbye and ends its connection
            ///     (``disconnect()``), at the latest when iOS suspends the app. It connects again when the app is active. `nil`
            ///     for an app that goes on in the background, such as one that plays audio.
            @MainActor
            public func followApp(from phase: AppPhase = .background, restAfter: Duration? = .seconds(30)) {
                guard let follower = newFollower() else { return }
                setPhase(phase == .active ? .active : .background)
                engine.run { $0.rests(after: restAfter) }
                follower.observe(UIApplication.willEnterForegroundNotification) { $0.setPhase(.active) }
                follower.observe(UIApplication.didBecomeActiveNotification) { $0.setPhase(.active) }
                follower.observe(UIApplication.didEnterBackgroundNotification) { client in
                    client.setPhase(.background)
                    if restAfter != nil { client.finishesInBackground() }
                }
            }

            /// Keeps the app running until the client rests, or until iOS ends that time: then the client rests at once.
            private func finishesInBackground() {
                let ended = DispatchSemaphore(value: 0)
                engine.run { $0.restIsAwaited { ended.signal() } }
                ProcessInfo.processInfo.performExpiringActivity(withReason: "Rollcall") { [weak self] isExpired in
                    if isExpired { self?.engine.run { $0.rest() } } else { ended.wait() }
                }
            }
        #elseif canImport(AppKit)
            /// Reports the state of this Mac (``setPhase(_:)``, idle after ``ClientOptions/idleAfter`` without input to any app)
            /// and changes of the network (``networkChanged()``) until the client is closed or released. Further calls do
            /// nothing.
            ///
            /// The device is in the background while the Mac or its screens sleep, its screen is locked, or another user's
            /// session is shown. An app that is not in front is not in the background: people read its windows.
            @MainActor
            public func followApp() {
                guard let follower = newFollower() else { return }
                let center = NSWorkspace.shared.notificationCenter
                let pairs = [
                    (NSWorkspace.willSleepNotification, NSWorkspace.didWakeNotification),
                    (NSWorkspace.screensDidSleepNotification, NSWorkspace.screensDidWakeNotification),
                    (NSWorkspace.sessionDidResignActiveNotification, NSWorkspace.sessionDidBecomeActiveNotification),
                ]
                // Why nobody can see the screen, by the notification that said so.
                let reasons = Locked<Set<Notification.Name>>([])
                let follow = { (center: NotificationCenter, away: Notification.Name, back: Notification.Name) in
                    follower.observe(away, in: center) { client in
                        reasons.withLock { _ = $0.insert(away) }
                        client.setPhase(.background)
                    }
                    follower.observe(back, in: center) { client in
                        let isSeen = reasons.withLock { reasons in
                            reasons.remove(away)
                            return reasons.isEmpty
                        }
                        if isSeen { client.setPhase(.active) }
                    }
                }
                for (away, back) in pairs { follow(center, away, back) }
                follow(
                    DistributedNotificationCenter.default(), Notification.Name("com.apple.screenIsLocked"),
                    Notification.Name("com.apple.screenIsUnlocked"))
                guard let idleAfter = options.idleAfter else { return }
                follower.until = Task { [weak engine] in
                    while !Task.isCancelled {
                        let quiet = Duration.seconds(
                            CGEventSource.secondsSinceLastEventType(
                                .combinedSessionState, eventType: CGEventType(rawValue: ~0) ?? .null))
                        if quiet < idleAfter { engine?.run { $0.inputHappened(ago: quiet) } }
                        // While nobody is there, often enough that they see their return at once.
                        let pause = max(idleAfter - quiet, .seconds(5))
                        try? await Task.sleep(for: pause, tolerance: pause / 10)
                    }
                }
            }
        #endif

        /// - Returns: `nil` if the client follows the app already.
        @MainActor
        private func newFollower() -> Follower? {
            let new = Follower(self)
            return follower.withLock { follower in
                guard follower == nil else { return nil }
                follower = new
                return new
            }
        }
    }

    /// Listens to the platform until it is released.
    @MainActor
    private final class Follower {
        /// What ends when the follower does.
        var until: Task<Void, Never>?
        private let monitor = NWPathMonitor()
        private var observers: [Observer] = []
        private weak var client: RollcallClient?

        init(_ client: RollcallClient) {
            self.client = client
            // The first path is the present one.
            let isFirst = Locked(true)
            monitor.pathUpdateHandler = { [weak client] path in
                let isChange = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return !isFirst
                }
                if isChange, path.status == .satisfied { client?.networkChanged() }
            }
            monitor.start(queue: DispatchQueue(label: "rollcall.network"))
        }

        deinit {
            until?.cancel()
            monitor.cancel()
            for each in observers { each.center.removeObserver(each.observer) }
        }

        /// What is only passed back to Foundation.
        private struct Observer: @unchecked Sendable {
            let center: NotificationCenter
            let observer: any NSObjectProtocol
        }

        func observe(
            _ name: Notification.Name, in center: NotificationCenter = .default,
            _ react: @escaping @Sendable (RollcallClient) -> Void
        ) {
            let observer = center.addObserver(forName: name, object: nil, queue: nil) { [weak client] _ in
                if let client { react(client) }
            }
            observers.append(Observer(center: center, observer: observer))
        }
    }

    #if canImport(UIKit)
        extension AppPhase {
            /// Converts UIKit's state. A state that is not known here counts as ``inactive``.
            public init(_ state: UIApplication.State) {
                switch state {
                case .active: self = .active
                case .inactive: self = .inactive
                case .background: self = .background
                @unknown default: self = .inactive
                }
            }
        }
    #endif
#endif
