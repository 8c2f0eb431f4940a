// The app's phase and network on Apple's platforms, followed with one call, as `followPage()` does in a browser. Uses nothing
// that an app's extension may not use. Type-checked where Apple's SDK is not (`make lint`).

#if canImport(Network)
    import Foundation
    import Network

    #if canImport(UIKit)
        import UIKit
    #elseif canImport(AppKit)
        import AppKit
    #endif

    extension RollcallClient {
        /// Reports the app's phases (``setPhase(_:)``) and changes of the network (``networkChanged()``) as long as the
        /// client exists. While there is no network, the client tries to connect every 30 s only. Call it once.
        ///
        /// With UIKit, an app that enters the background is in the background. With AppKit, only a Mac that sleeps is: people
        /// read the windows of apps that are not in front. An app that iOS launches in the background, for example because
        /// of a push notification, learns of no phase; it calls `setPhase(.background)` before ``connect()``.
        @MainActor
        public func followApp() {
            let monitor = NWPathMonitor()
            // The first path is the present one.
            let isFirst = Locked(true)
            monitor.pathUpdateHandler = { [weak self] path in
                guard let self else { return monitor.cancel() }
                let isChange = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return !isFirst
                }
                engine.run { $0.networkIs(available: path.status != .unsatisfied) }
                if isChange, path.status == .satisfied { networkChanged() }
            }
            monitor.start(queue: DispatchQueue(label: "rollcall.network"))
            #if canImport(UIKit)
                follow(UIApplication.willEnterForegroundNotification, .active)
                follow(UIApplication.didBecomeActiveNotification, .active)
                follow(UIApplication.didEnterBackgroundNotification, .background)
            #elseif canImport(AppKit)
                let center = NSWorkspace.shared.notificationCenter
                follow(NSWorkspace.didWakeNotification, .active, in: center)
                follow(NSWorkspace.willSleepNotification, .background, in: center)
            #endif
        }

        private func follow(
            _ name: Notification.Name, _ phase: AppPhase, in center: NotificationCenter = .default
        ) {
            let observer = Locked<Unchecked<(any NSObjectProtocol)?>>(Unchecked(value: nil))
            let token = center.addObserver(forName: name, object: nil, queue: nil) { [weak self, weak center] _ in
                if let self { return setPhase(phase) }
                if let token = observer.withLock({ $0.value.take() }) { center?.removeObserver(token) }
            }
            observer.withLock { $0.value = token }
        }
    }

    /// A value of Foundation's that is only passed back to it.
    private struct Unchecked<Value>: @unchecked Sendable {
        var value: Value
    }
#endif
