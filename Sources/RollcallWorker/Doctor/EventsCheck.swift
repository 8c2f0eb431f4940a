// Whether all workers append to the stream of events, whether its keys are free for it, and whether all have the same rules of
// access.

import RollcallProtocol
import RollcallRedis

/// What Redis holds of the events.
struct EventReadings: Sendable {
    /// The keys of events that hold something else.
    var foreign: [String] = []
    /// Living workers, by whether they append events.
    var appending: [String] = []
    var silent: [String] = []
    /// The rules of access of living workers, as they compare them.
    var access: [(worker: String, rules: String)] = []
    /// Why Redis refuses to append.
    var refused: String?
}

extension EventReadings {
    static let unused = Finding(.events, .ok, "they are off")

    /// Reads the keys and the workers' hashes.
    ///
    /// - Throws: ``Unread``.
    init(_ visit: RedisVisit, _ names: KeyNames) async throws {
        for (key, reply) in [
            (names.events, await visit.ask("XLEN", names.events)),
            (names.eventsState, await visit.ask("HGET", names.eventsState, "run")),
        ] {
            if case .failure(let error) = reply, error.isForeignKey { foreign.append(key) }
        }
        refused = try? await visit.ask("HGET", names.eventsState, "refused").get().text?.string
        let time = try await visit.ask("TIME").reading(right: "time") { Timestamp(redisTime: $0) }.get()
        let leases = try await visit.ask("ZRANGE", names.workers, "0", "-1", "WITHSCORES").reading(right: "zrange") {
            $0.array
        }.get()
        for index in stride(from: 0, to: leases.count - 1, by: 2) {
            guard let name = leases[index].text, let end = leases[index + 1].integer,
                end >= time.milliseconds
            else { continue }
            let hash = names.worker(Incarnation(name: name))
            let appends = try await visit.ask("HGET", hash, "events").reading(right: "hget") { !$0.isNull }.get()
            let rules = try await visit.ask("HGET", hash, "access").reading(right: "hget") { $0.text?.string ?? "" }
                .get()
            if !rules.isEmpty { access.append((name.string, rules)) }
            if appends { appending.append(name.string) } else { silent.append(name.string) }
        }
    }

    /// - Parameter rules: Those of the configuration.
    func accessFinding(_ rules: String) -> Finding {
        let others = access.filter { $0.rules.utf8.elementsEqual(rules.utf8) == false }
        guard !others.isEmpty else { return Finding(.access, .ok, "all living workers have these rules (\(rules))") }
        return Finding(
            .access, .failure,
            "here the rules are \(rules); other living workers have others: "
                + others.prefix(3).map { "\($0.worker): \($0.rules)" }.joined(separator: ", "),
            advice: "give all workers the same access.watch, access.shared_members and access.url")
    }

    /// - Parameter isEnabled: `events.enabled` of the configuration.
    func finding(isEnabled: Bool) -> Finding {
        guard isEnabled || !appending.isEmpty else { return Self.unused }
        guard foreign.isEmpty else {
            return Finding(
                .events, .failure,
                "another program has the key \(foreign.joined(separator: " and ")): no event is kept",
                advice: "rename that key, or give Rollcall a redis.prefix")
        }
        if let refused {
            return Finding(
                .events, .failure, "Redis refuses to append them: \(refused)",
                advice:
                    "readers get a reset once it takes them again; if the reason is a right, give it to the workers' user"
            )
        }
        if !appending.isEmpty, !silent.isEmpty {
            return Finding(
                .events, .failure,
                "\(silent.count) living worker\(silent.count == 1 ? " appends" : "s append") none, while others do: "
                    + silent.prefix(3).joined(separator: ", "),
                advice: "set events.enabled on all workers: those that append none leave gaps")
        }
        guard isEnabled == silent.isEmpty || appending.isEmpty && silent.isEmpty else {
            return Finding(
                .events, .failure,
                isEnabled
                    ? "events.enabled is true, and the living workers append none"
                    : "events.enabled is false, and the living workers append events",
                advice: "give all workers the same configuration")
        }
        return Finding(.events, .ok, "all living workers append who comes and who goes (\(appending.count))")
    }
}
