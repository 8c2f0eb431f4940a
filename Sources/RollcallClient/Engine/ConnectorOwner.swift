// What the connector tells the engine, and asks of it.

/// Receives the events of the connection. The engine implements it.
protocol ConnectorOwner: AnyObject {
    /// The device's state, for the hello.
    var deviceState: DeviceState { get }
    /// The hello was sent. More messages may follow at once.
    func connectionOpened()
    func welcomed(_ welcome: ServerMessage.Welcome)
    /// The worker stated its time, at most `age` ago.
    func timeHeard(_ time: Timestamp, age: Duration)
    /// The worker's current time; `nil` before the first welcome.
    var serverTime: Timestamp? { get }
    /// There is a fresh token for the current session.
    func tokenRefreshed(_ token: String)
    func messageReceived(_ message: ServerMessage)
    /// A connection that was open has ended.
    func connectionLost()
    func connectionStateChanged(to state: ConnectionState)
}
