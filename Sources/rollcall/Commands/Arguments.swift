// Parses names and durations on the command line. If one is invalid, the error shows the help of the option.

public import ArgumentParser
public import RollcallModel
import RollcallWorker

extension Identifier: ExpressibleByArgument {
    public init?(argument: String) {
        guard let name = try? Self(argument) else { return nil }
        self = name
    }
}

extension Duration: @retroactive ExpressibleByArgument {
    /// Parses `250ms`, `5s`, `2m`, `12h` or `30d`.
    public init?(argument: String) {
        guard let duration = DurationText.duration(argument) else { return nil }
        self = duration
    }

    public var defaultValueDescription: String { DurationText.text(self) }
}
