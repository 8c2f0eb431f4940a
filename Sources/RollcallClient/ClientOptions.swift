// What an app may choose. The defaults are meant to be right.

/// The choices that a client is made with.
public struct ClientOptions: Sendable {
    /// When the person counts as typing.
    public var typing: TypingSettings = .standard
    /// How long without a reported input until the device is idle; `nil`: never. It counts only once the app has
    /// called ``RollcallClient/inputHappened()``.
    public var idleAfter: Duration? = .seconds(300)
    /// The ceiling of the first pause before a reconnect; each further failure doubles it.
    public var firstPause: Duration = .milliseconds(250)
    /// The ceiling of every pause. Short, so that what people see is true again within two seconds of the end of an
    /// outage; an app that minds its battery more may take longer ones and call ``RollcallClient/networkChanged()``.
    public var longestPause: Duration = .milliseconds(1500)
    /// How long the app may take over a token before it is asked again, and how long an attempt may then take until
    /// the worker's welcome; two seconds at most for an attempt while there is another address to try.
    public var connectTimeout: Duration = .seconds(10)
    /// How late beyond two of the worker's pings silence means that the connection is dead.
    public var silenceSlack: Duration = .seconds(2)
    /// A PEM file of certificates to trust for `wss://` in place of the system's.
    public var trustedCertificates: String?
    /// Hosts to which a worker may send the client, beside those of its URLs. `*.` before a domain stands for all hosts
    /// within it. The client shows its token there: it goes to no other host, whatever a worker says.
    public var workerHosts: [String] = []
    /// The app's names for people. Each is asked for once, and kept at least while it is on show. Where the app has none
    /// (`nil`), the name in the conversation's members counts, which is also shown until the answer comes. That may come
    /// late; but after a call that takes longer than ``connectTimeout``, others are asked for, and while the name is on
    /// show it is asked for again, with pauses that grow from a second to five minutes. A call is cancelled when the
    /// next for the same name has taken too long as well, or nothing needs it any more.
    public var names: (@Sendable (UserID) async -> String?)?

    public init() {}
}
