// What is stored about a round that broke a promise: enough to find the cause without repeating it.

internal import Foundation
internal import Harness
internal import NIOConcurrencyHelpers
internal import RollcallClient

extension Stage {
    /// Returns all diary entries and logs as lines with the time of day.
    func evidence() -> String {
        let (now, date) = (Moment.now, Date())
        func time(_ moment: Moment) -> String {
            let time = date.addingTimeInterval((moment - now).inSeconds)
            return time.formatted(.iso8601.time(includingFractionalSeconds: true))
        }
        var lines: [String] = []
        for device in state.withLockedValue({ $0.roamers }) + observers {
            let name = "\(device.user.escaped) \(device.device.escaped)"
            lines += device.notes.map { "\(time($0.at)) \(name): \($0.event.line)" }
        }
        let logs = hosts.flatMap { host in
            host.logs.flatMap { $0.split(separator: "\n") }.map { "host \(host.number): \($0)" }
        }
        return (naming.lines + [""] + lines.sorted() + [""] + logs).joined(separator: "\n") + "\n"
    }
}

extension Note.Event {
    fileprivate var line: String {
        switch self {
        case .tried(let host): "tries host \(host)"
        case .welcomed(let host): "is on host \(host)"
        case .presence(let presence): "sees \(presence.user.escaped) \(presence.status), version \(presence.version)"
        case .typing(let typing):
            "sees \(typing.users.map(\.user.escaped).joined(separator: ", ")) typing in \(typing.conversation.escaped)"
        case .here(let here):
            "sees \(here.count) in \(here.conversation.escaped): "
                + here.users.map(\.user.escaped).joined(separator: ", ")
        case .joined(let conversation, _): "joined \(conversation.escaped)"
        case .signalled(let conversation, _): "typed in \(conversation.escaped)"
        case .removed(let conversation): "is removed from \(conversation.escaped)"
        case .refreshed: "has a fresh token"
        case .goodbye(let goodbye): "is told goodbye (\(goodbye.reason), after \(goodbye.after ?? 0) ms)"
        case .ended(let host, let code): "loses host \(host) (\(code.map { "\($0.rawValue)" } ?? "no word"))"
        case .left(let host): "leaves host \(host)"
        }
    }
}
