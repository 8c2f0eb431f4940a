// The network of clients on Linux: an event loop, which is also the client's queue.

#if NIO && !canImport(Security)
    import NIOCore
    import NIOPosix

    extension Environment {
        /// The system's clock and random numbers, and this event loop. For an app's durations beyond what the loop can
        /// express, `TimeAmount` has its maximum, and a timer that fires early is set again.
        static func on(_ loop: any EventLoop) -> Environment {
            Environment(now: { .now }, random: { .random(in: .min ... .max) }, run: { loop.execute($0) }) {
                let timer = loop.scheduleTask(in: TimeAmount(max(.zero, ContinuousClock.now.duration(to: $0))), $1)
                return { timer.cancel() }
            }
        }
    }

    extension Network {
        /// - Parameter certificates: the path of a PEM file with the certificates to trust; `nil` for the system's.
        static func onEventLoop(trusting certificates: String?) -> Network {
            let loop = MultiThreadedEventLoopGroup.singleton.next()
            return Network(
                environment: .on(loop),
                dial: .success {
                    let wire = WebSocketWire(on: loop, owner: $1)
                    wire.connect(to: $0, trusting: certificates)
                    return wire
                })
        }
    }
#endif
