// The way to the engine from any thread.

import NIOConcurrencyHelpers
import NIOCore

/// The engine, and the loop on which alone it may be used.
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

    /// Asks the engine at once; on its loop only.
    func read<Value>(_ body: (Engine) -> Value) -> Value? { box.value.map(body) }

    /// Has the engine do something soon, in the order of the calls of one thread.
    func run(_ body: @escaping @Sendable (Engine) -> Void) {
        loop.execute { [box] in
            if let engine = box.value { body(engine) }
        }
    }
}
