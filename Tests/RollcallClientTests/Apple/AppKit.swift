// What Rollcall uses of AppKit, from its documentation.

public import Foundation

open class NSWorkspace: NSObject {
    public class var shared: NSWorkspace { fatalError() }
    public var notificationCenter: NotificationCenter { fatalError() }
    public class var willSleepNotification: Notification.Name { Notification.Name("sleep") }
    public class var didWakeNotification: Notification.Name { Notification.Name("wake") }
}
