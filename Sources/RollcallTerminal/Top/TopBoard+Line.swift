// The board as one line, for output that is not a terminal.

extension TopBoard {
    package var line: String {
        if let trouble { return "no answer: \(Shown.text(trouble.sentence))" }
        guard let figures else { return "no answer yet" }
        guard figures.redis.isUp || !figures.workers.isEmpty else {
            return "Redis is away, and the workers are not known"
        }
        let (alive, gone) = (figures.workers.count { $0.isAlive }, gone)
        let (total, redis) = (total, figures.redis)
        return [
            "\(alive) \(alive == 1 ? "worker" : "workers")" + (gone.isEmpty ? "" : " and \(gone)"),
            "\(sessions) \(sessions == 1 ? "session" : "sessions")", "\(Figure.rate(total.signals)) signals/s",
            "\(Figure.rate(total.published)) published/s", "\(Figure.rate(total.delivered)) deliveries/s",
            "CPU \(Figure.percent(total.cpu))",
            redis.isUp ? "Redis p99 \(Figure.milliseconds(redis.slow))" : "Redis is away",
        ].joined(separator: "  ")
    }

    /// How many workers are not alive, by kind: `2 dead, 1 left`. Empty if there are none.
    var gone: String {
        let gone = (figures?.workers ?? []).filter { !$0.isAlive }
        let left = gone.count(where: \.hasLeft)
        return [(gone.count - left, "dead"), (left, "left")].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
            .joined(separator: ", ")
    }
}
