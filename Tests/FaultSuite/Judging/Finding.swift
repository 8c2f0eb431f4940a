// What a round came to.

/// How one promise fared in a round.
public struct Finding: Codable, Hashable, Sendable {
    public var promise: Promise
    /// How long it took to hold, at the worst; `nil` for promises that hold or do not.
    public var seconds: Double?
    /// How long it may take.
    public var limit: Double?
    /// How it was broken.
    public var broken: String?
    /// Something else that was counted, by its name.
    public var figure: [String: Double] = [:]

    init(
        _ promise: Promise, took: Duration? = nil, limit: Duration? = nil, broken: String? = nil,
        figure: [String: Double] = [:]
    ) {
        self.promise = promise
        self.figure = figure
        seconds = took.map(\.inSeconds)
        self.limit = limit.map(\.inSeconds)
        self.broken = broken
    }
}

extension Duration {
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
