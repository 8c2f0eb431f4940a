// Access to the engine from any thread.

import NIOConcurrencyHelpers
import NIOCore

/// The engine, and the only loop on which it may be used.
struct EngineHandle: Sendable {
    let loop: any EventLoop
    let shared = NIOLockedValueBox(Engine.Shared())
    private let box: NIOLoopBoundBox<Engine?>

    let clock: SteadyClock

    init(
        on loop: any EventLoop, by clock: SteadyClock, jitter: Jitter, options: ClientOptions,
        connector: @escaping @Sendable (Engine) -> Connector
    ) {
        self.loop = loop
        self.clock = clock
        box = NIOLoopBoundBox.makeEmptyBox(valueType: Engine.self, eventLoop: loop)
        loop.execute { [box, shared] in
            box.value = Engine(
                options: options, shared: shared, on: loop, by: clock, jitter: jitter, connector: connector)
        }
    }

    /// Reads from the engine directly. Call it on the loop only.
    func read<Value>(_ body: (Engine) -> Value) -> Value? { box.value.map(body) }

    /// Runs `body` on the engine's loop. Calls from one thread run in order.
    func run(_ body: @escaping @Sendable (Engine) -> Void) {
        loop.execute { [box] in
            if let engine = box.value { body(engine) }
        }
    }
}
