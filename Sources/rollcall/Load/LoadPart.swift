// A process that carries part of a load. Orders arrive on standard input and reports go to standard output, one per
// line. If the input ends, the parent is gone, and this process ends too.

import Foundation
import RollcallLoad
import Spawning
import Synchronization

/// A line of a part's output.
enum LoadLine: Codable {
    case report(PartReport)
    /// The load cannot continue, for this reason.
    case failure(String)

    init?(_ line: String) {
        guard let value = try? JSONDecoder().decode(LoadLine.self, from: Data(line.utf8)) else { return nil }
        self = value
    }

    func print() {
        guard let data = try? JSONEncoder().encode(self) else { return }
        // If writing fails because the parent is gone, the end of standard input ends this process.
        try? Output.line(String(decoding: data, as: UTF8.self))
    }
}

extension Order {
    /// The order as a line of a part's input.
    var line: String {
        switch self {
        case .stop: "stop"
        case .leave: "leave"
        case .begin(let moment):
            "begin " + ((try? JSONEncoder().encode(moment)).map { String(decoding: $0, as: UTF8.self) } ?? "")
        }
    }

    init?(line: some StringProtocol) {
        let words = line.split(separator: " ", maxSplits: 1)
        switch words.first {
        case "stop": self = .stop
        case "leave": self = .leave
        case "begin":
            guard words.count == 2, let moment = try? JSONDecoder().decode(Moment.self, from: Data(words[1].utf8))
            else { return nil }
            self = .begin(moment)
        default: return nil
        }
    }
}

/// Plays a part on a separate thread.
struct LoadPart: Sendable {
    private let plan: Plan
    private let addresses: [String]
    private let tokens: [String]?

    init(_ plan: Plan, addresses: [String], tokens: [String]?) {
        (self.plan, self.addresses, self.tokens) = (plan, addresses, tokens)
    }

    func run() async {
        let orders = Orders()
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                play(orders)
                continuation.resume()
            }
        }
    }

    private func play(_ orders: Orders) {
        do throws(LoadError) {
            let share = try Share(plan, addresses: addresses, tokens: tokens)
            try share.play(orders: orders.next) { LoadLine.report($0).print() }
        } catch {
            LoadLine.failure(error.description).print()
        }
    }
}

/// The orders from standard input.
private final class Orders: Sendable {
    private let waiting = Mutex<[Order]>([])

    init() {
        nonisolated(unsafe) var rest = ""  // used only by the reading thread
        DescriptorReader.read(
            .standardInput,
            bytes: { [waiting = self] bytes in
                rest += String(decoding: bytes, as: UTF8.self)
                while let end = rest.firstIndex(of: "\n") {
                    if let order = Order(line: rest[..<end]) { waiting.add(order) }
                    rest.removeSubrange(...end)
                }
                return true
            },
            end: { exit(0) })
    }

    private func add(_ order: Order) { waiting.withLock { $0.append(order) } }

    func next() -> Order? { waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}
