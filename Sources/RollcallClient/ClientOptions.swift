// The settings of a client. The defaults suit most apps.

/// The settings of a client. They cannot be changed once the client exists.
public struct ClientOptions: Sendable {
    /// When the user counts as typing.
    public var typing: TypingSettings = .standard
    /// The time without input until the device is idle; `nil` for never. Applies only once the app has called
    /// ``RollcallClient/inputHappened()``.
    public var idleAfter: Duration? = .seconds(300)
    /// The upper limit of the first pause before a reconnect. The limit doubles with each failure, up to
    /// ``longestPause``. Each pause is random, from zero to the limit.
    public var firstPause: Duration = .milliseconds(250)
    /// The upper limit of every pause before a reconnect, unless the worker asks for a longer one. The default is
    /// short, so that presence is current again within two seconds after an outage. To save battery, an app may set a
    /// longer one and call ``RollcallClient/networkChanged()``.
    public var longestPause: Duration = .milliseconds(1500)
    /// The time limit for the token callback, after which it is called again; for each connection attempt, up to the
    /// worker's welcome; and for each call of ``names``. While another address is left to try, an attempt takes two
    /// seconds at most, unless all addresses have failed since the last connection.
    public var connectTimeout: Duration = .seconds(10)
    /// Extra time after two missed pings of the worker before the connection counts as dead.
    public var silenceSlack: Duration = .seconds(2)
    /// The path of a PEM file with the certificates to trust for `wss://`, instead of the system's.
    public var trustedCertificates: String?
    /// The public keys of which a server must have one for `wss://`, besides a valid certificate. Empty for any key.
    ///
    /// Only the key of the server's own certificate counts, not the keys of its authorities. The client sends nothing to
    /// a server with another key, and treats it as unreachable (``RollcallError/Code-swift.enum/unreachable``). Pin at
    /// least two keys, one of them for the next certificate: if a server has none of them, the client cannot connect
    /// until the app is updated.
    public var pinnedKeys: [KeyPin] = []
    /// Whether the client also connects to `ws://` URLs of other machines. Everyone on the network between can then read
    /// the user's token and all messages. By default, `ws://` works for this machine only (`localhost`, `127.0.0.0/8` and
    /// `::1`), and any other `ws://` URL fails with `invalid_url`. This option does not affect `wss://`.
    public var allowsUnencryptedConnections = false
    /// Hosts to which a worker may redirect the client, besides the hosts of the client's URLs. `*.example.com` means
    /// all hosts in that domain. The client sends its token there, so it ignores redirects to other hosts.
    public var workerHosts: [String] = []
    /// Returns the app's name for a user, or `nil` if the app has none. Then, and until the call returns, the name from
    /// the conversation's member list is shown.
    ///
    /// The client calls this once for each user, on any thread, with at most eight calls at a time, and keeps the
    /// result at least while the name is shown. A call that takes longer than ``connectTimeout`` is no longer one of
    /// the eight, but its result still counts. While the name is shown, the client calls again, after pauses that grow
    /// from at most one second to at most five minutes. A call is cancelled once a later call for the same user has
    /// also taken too long, or once its result is no longer needed. While three calls for a user have not returned, also
    /// cancelled ones, the client makes no further call for that user.
    public var names: (@Sendable (UserID) async -> String?)?

    public init() {}
}
