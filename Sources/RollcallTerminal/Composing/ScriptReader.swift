// Reads a script line by line. It continues after a mistake, so that the author sees all mistakes at once.

/// Reads lines, and collects their problems.
struct ScriptReader {
    let duration: (String) -> Duration?
    private var steps: [Script.Step] = []
    private var rounds: Int? = 1
    private var isOver = false
    private var lastLine = 1
    private var problems: [ScriptProblems.Problem] = []

    init(duration: @escaping (String) -> Duration?) {
        self.duration = duration
    }

    mutating func read(_ line: String, number: Int) {
        guard !line.isEmpty, !line.hasPrefix("#") else { return }
        lastLine = number
        if isOver { problem("nothing can follow repeat; move it to the end") }
        let word = line.prefix { !$0.isWhitespace }
        let rest = line.dropFirst(word.count).trimming(\.isWhitespace)
        guard let word = ScriptWord(rawValue: String(word)) else { return unknown(String(word), rest) }
        if word == .repeat { return repeats(rest) }
        if let step = step(word, rest) { steps.append(step) }
    }

    func script() throws(ScriptProblems) -> Script {
        var problems = problems
        if steps.isEmpty, problems.isEmpty {
            problems.append(.init(line: lastLine, sentence: "the script does nothing; write, say, type Hello"))
        }
        if isOver, problems.isEmpty, !steps.contains(where: \.takesTime) {
            problems.append(
                .init(line: lastLine, sentence: "repeat needs something that takes time; write wait 1s above it"))
        }
        guard problems.isEmpty else { throw ScriptProblems(problems: problems) }
        return Script(steps: steps, rounds: rounds)
    }

    private mutating func step(_ word: ScriptWord, _ rest: String) -> Script.Step? {
        switch word {
        case .type, .paste:
            if rest.isEmpty { return problem("\(word) wants a text; write \(word) Hello") }
            return word == .type ? .type(rest) : .paste(rest)
        case .wait: return time(word, rest, example: "1s").map { .wait($0) }
        case .pace:
            guard let pace = time(word, rest, example: "100ms") else { return nil }
            return pace > .zero ? .pace(pace) : problem("pace wants a time above 0; to write at once, write paste")
        case .erase:
            if rest.isEmpty { return .erase(nil) }
            guard let count = Int(rest), count > 0 else {
                return problem("erase wants a number of characters, not \"\(rest)\"; write erase 3, or erase for all")
            }
            return .erase(count)
        case .send, .background, .foreground, .idle, .leave, .enter:
            guard rest.isEmpty else {
                return problem(
                    "\(word) stands alone; \(word == .send ? "write type \(rest) above it" : "take \"\(rest)\" away")")
            }
            return word.step
        case .repeat: return nil
        }
    }

    private mutating func time(_ word: ScriptWord, _ rest: String, example: String) -> Duration? {
        if let time = duration(rest), time >= .zero, time <= Self.longestWait { return time }
        return problem("\(word) wants a time of a day at most, such as 250ms, 1s or 2m; write \(word) \(example)")
    }

    private static let longestWait = Duration.seconds(24 * 3600)

    private mutating func repeats(_ rest: String) {
        isOver = true
        if rest.isEmpty { return rounds = nil }
        guard let count = Int(rest), count > 0 else {
            return problem("repeat wants how often, not \"\(rest)\"; write repeat 3, or repeat for as long as it runs")
        }
        rounds = count
    }

    private mutating func unknown(_ word: String, _ rest: String) {
        if let meant = ScriptWord.meant(by: word) {
            let line = [meant.rawValue, rest].filter { !$0.isEmpty }.joined(separator: " ")
            return problem("there is no \"\(word)\"; write \(line)")
        }
        let all = ScriptWord.allCases.map(\.rawValue).joined(separator: ", ")
        problem("there is no \"\(word)\"; a line begins with one of \(all), or with #")
    }

    private mutating func problem(_ sentence: String) {
        problems.append(ScriptProblems.Problem(line: lastLine, sentence: sentence))
    }

    private mutating func problem<Value>(_ sentence: String) -> Value? {
        problem(sentence)
        return nil
    }
}

extension Script.Step {
    fileprivate var takesTime: Bool {
        switch self {
        case .type: true
        case .wait(let time): time > .zero
        case .paste, .erase, .send, .pace, .background, .foreground, .idle, .leave, .enter: false
        }
    }
}
