// The settings of a client. The defaults suit most apps.

/// The settings of a client. They cannot be changed once the client exists.
public struct ClientOptions: Sendable {
    /// When the user counts as typing.
    public var typing: TypingSettings = .standard
    /// The time without input until the device is idle; `nil` for never. Applies only once the app has called
    /// ``RollcallClient/inputHappened()``.
    public var idleAfter: Duration? = .seconds(300)
    /// The upper limit of the pauses between attempts. A pause is random, from none to a tenth of the outage so far, or to
    /// 1.5 s if that is more (the worker's `edge.reconnect`); 30 s at most. To save battery, an app may call
    /// ``RollcallClient/disconnect()``.
    ///
    /// Pauses grow to 15 s instead, each at least half its limit, after the token callback has failed, and where a worker
    /// refuses the handshake or has no room. A time that the worker names counts before all.
    public var longestPause: Duration = .seconds(30)
    /// The time limit for each connection attempt, up to the worker's welcome. Doubles each time that it has passed, up to 40 s,
    /// until a worker welcomes the client. While there is another address to try, an attempt takes two seconds at most, and
    /// twice that each time that all have failed.
    public var connectTimeout: Duration = .seconds(10)
    /// How long there is no connection until models no longer show any user's presence: no dot, and no text. `nil` for never.
    /// See ``RollcallClient/RollcallClient/isStale``.
    public var staleAfter: Duration? = .seconds(5)
    /// The language of models' texts; `nil` for ``Language/current``.
    public var language: Language?
    /// The path of a PEM file with the certificates to trust for `wss://`, instead of the system's.
    public var trustedCertificates: String?
    /// Whether the client also connects to `ws://` URLs of other machines. Everyone on the network between can then read
    /// the user's token and all messages. By default, `ws://` works for this machine only (`localhost`, `127.0.0.0/8` and
    /// `::1`), and any other `ws://` URL fails with `invalid_url`. This option does not affect `wss://`.
    public var allowsUnencryptedConnections = false
    /// Hosts to which a worker may redirect the client, besides the hosts of the client's URLs. `*.example.com` means
    /// all hosts in that domain. The client sends its token there, so it ignores redirects to other hosts.
    public var workerHosts: [String] = []
    /// Returns the app's name for a user, or `nil` if the app has none. Then, and until the call returns, the name from
    /// the conversation's member list is shown. Without one there, the first "is typing" waits for the call, 100 ms at most.
    ///
    /// The client calls this once for each user who is shown, on any thread, and shows the result whenever it comes. See
    /// ``RollcallClient/namesChanged()``.
    public var names: (@Sendable (UserID) async -> String?)?

    public init() {}
}
