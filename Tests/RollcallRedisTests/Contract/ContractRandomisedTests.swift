// Random calls in random order on a real Redis and on its twin: both answer, publish and store the same.

import RedisTwin
import RollcallModel
import TestSupport
import Testing

@Suite(.serialized) struct ContractRandomisedTests {
    @Test(.timeLimit(.minutes(2))) func bothPartiesAnswerPublishAndStoreTheSame() async throws {
        var random = SeededGenerator(seed: printedSeed())
        for _ in 0..<4 {
            let sequence = SeededGenerator(seed: random.next())
            let judged = try await play(RandomCalls(random: sequence), settings: settings(using: &random))
            #expect(judged > 20, "too little of it fell into clear moments")
        }
    }

    /// Short and long times for everything that expires.
    private func settings(using random: inout SeededGenerator) -> TwinRedis.Settings {
        TwinRedis.Settings(
            retention: [.milliseconds(150), .seconds(60)].randomElement(using: &random)!,
            typingExpiry: [.milliseconds(100), .milliseconds(250), .seconds(60)].randomElement(using: &random)!,
            openByDefault: Bool.random(using: &random))
    }

    private func play(_ calls: RandomCalls, settings: TwinRedis.Settings) async throws -> Int {
        var calls = calls
        let both = try await SideBySide(settings)
        for user in [alice, bob] { try await both.plant(calls.inheritance(of: user, at: both.time())) }
        for step in 1...250 {
            try await both.wait(calls.pause())
            if SettableClock.isAvailable, let step = calls.step() { try await both.setClock(by: step) }
            let call = calls.next(at: try await both.time())
            if let answer = try await both.play(call) { calls.answered(call, answer) }
            if step % 10 == 0 { try await both.compareKeys() }
        }
        return both.judged
    }
}
