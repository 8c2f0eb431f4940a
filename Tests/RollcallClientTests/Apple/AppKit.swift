// What Rollcall uses of AppKit, from its documentation.

public import Foundation

open class NSWorkspace: NSObject {
    public class var shared: NSWorkspace { fatalError() }
    public var notificationCenter: NotificationCenter { fatalError() }
    public class var willSleepNotification: Notification.Name { Notification.Name("sleep") }
    public class var didWakeNotification: Notification.Name { Notification.Name("wake") }
    public class var screensDidSleepNotification: Notification.Name { Notification.Name("dark") }
    public class var screensDidWakeNotification: Notification.Name { Notification.Name("light") }
    public class var sessionDidResignActiveNotification: Notification.Name { Notification.Name("switched") }
    public class var sessionDidBecomeActiveNotification: Notification.Name { Notification.Name("back") }
}

public class DistributedNotificationCenter: NotificationCenter, @unchecked Sendable {
    public class func `default`() -> DistributedNotificationCenter { fatalError() }
}
