// The result of a round.

/// The result for one promise in a round.
public struct Finding: Codable, Hashable, Sendable {
    public var promise: Promise
    /// The longest time that it took until the promise held; `nil` for promises that have no time.
    public var seconds: Double?
    /// The time limit.
    public var limit: Double?
    /// How the promise was broken.
    public var broken: String?
    /// Other counts, by name.
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
