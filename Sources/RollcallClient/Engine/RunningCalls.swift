// A limit for calls of an app's callback that never return. Each keeps its task, also after its cancellation, if the app
// ignores that.

/// The calls for one purpose that have not returned, including late and cancelled ones.
struct RunningCalls {
    /// While so many calls run, no further one is started.
    static let most = 3

    private var count = 0

    var isEmpty: Bool { count == 0 }
    var isFull: Bool { count >= Self.most }

    mutating func began() { count += 1 }
    mutating func returned() { count -= 1 }
}
