// Which network a client has: Apple's on Apple's platforms, and NIO's elsewhere.

import Dispatch

extension Network {
    /// - Parameter certificates: the path of a PEM file with the certificates to trust; `nil` for the system's.
    static func standard(trusting certificates: String?) -> Network {
        #if canImport(Security)
            let queue = DispatchQueue(label: "rollcall.client")
            let environment = Environment.on(queue)
            return Network(
                environment: environment,
                dial: .success { address, owner in
                    PlatformWire(in: environment, owner: owner) {
                        URLSessionSocket(to: address, trusting: certificates, on: queue, hear: $0)
                    }
                })
        #elseif NIO
            return onEventLoop(trusting: certificates)
        #else
            let sentence = "this build has no network: depend on Rollcall with traits: [\"NIO\"]"
            return Network(
                environment: .on(DispatchQueue(label: "rollcall.client")),
                dial: .failure(RollcallError(.noWebSocket, sentence)))
        #endif
    }
}

extension Environment {
    /// The system's clock and random numbers, and this serial queue. A timer that fires early is set again.
    static func on(_ queue: DispatchQueue) -> Environment {
        Environment(now: { .now }, random: { .random(in: .min ... .max) }, run: { queue.async(execute: $0) }) {
            let pause = min(max(.zero, ContinuousClock.now.duration(to: $0)), .seconds(86_400))
            let timer = DispatchSource.makeTimerSource(queue: queue)
            // The system wakes the device once for all timers that may ring together.
            let leeway = min(max(pause / 10, .milliseconds(1)), .milliseconds(500))
            timer.schedule(
                deadline: .now() + .nanoseconds(Int(pause / .nanoseconds(1))),
                leeway: .nanoseconds(Int(leeway / .nanoseconds(1))))
            timer.setEventHandler(handler: $1)
            timer.resume()
            return { timer.cancel() }
        }
    }
}
