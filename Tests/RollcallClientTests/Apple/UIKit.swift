// What Rollcall uses of UIKit, from its documentation.

public import Foundation

@MainActor open class UIResponder: NSObject {}

@MainActor public final class UIApplication: UIResponder {
    public enum State: Int, Sendable { case active, inactive, background }
    public class var shared: UIApplication { fatalError() }
    public var applicationState: State { .active }
    public class var didBecomeActiveNotification: Notification.Name { Notification.Name("active") }
    public class var willEnterForegroundNotification: Notification.Name { Notification.Name("foreground") }
    public class var didEnterBackgroundNotification: Notification.Name { Notification.Name("background") }
}

extension ProcessInfo {
    public func performExpiringActivity(withReason reason: String, using block: @escaping @Sendable (Bool) -> Void) {}
}
