// The same in one line, where there is no terminal to draw on.

extension TopBoard {
    package var line: String {
        if let trouble { return "no answer: \(Shown.text(trouble.sentence))" }
        guard let figures else { return "no answer yet" }
        let alive = figures.workers.count { $0.isAlive }
        let dead = figures.workers.count - alive
        let (total, redis) = (total, figures.redis)
        return [
            "\(alive) \(alive == 1 ? "worker" : "workers")" + (dead > 0 ? " and \(dead) dead" : ""),
            "\(sessions) \(sessions == 1 ? "session" : "sessions")", "\(Figure.rate(total.signals)) signals/s",
            "\(Figure.rate(total.published)) published/s", "\(Figure.rate(total.delivered)) deliveries/s",
            "CPU \(Figure.percent(total.cpu))",
            redis.isUp ? "Redis p99 \(Figure.milliseconds(redis.slow))" : "Redis is away",
        ].joined(separator: "  ")
    }
}
