// What Rollcall uses of UIKit, from its documentation.

public import Foundation

@MainActor open class UIResponder: NSObject {}

@MainActor public final class UIApplication: UIResponder {
    public class var didBecomeActiveNotification: Notification.Name { Notification.Name("active") }
    public class var willEnterForegroundNotification: Notification.Name { Notification.Name("foreground") }
    public class var didEnterBackgroundNotification: Notification.Name { Notification.Name("background") }
}
