// A channel with TLS counts as open only after its handshake. Until then, nothing else is sent on it, and a silent
// server is abandoned after a timeout.

import NIOCore
import NIOSSL
import NIOTLS

/// Delays the event that the channel is open until its handshake is complete.
final class TLSGate: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let deadline: NIODeadline
    private var late: Scheduled<Void>?
    /// `nil` once it is completed.
    private var promise: EventLoopPromise<Void>?

    /// - Parameter deadline: when the handshake must be complete, regardless of when it starts.
    init(deadline: NIODeadline) {
        self.deadline = deadline
    }

    /// Succeeds when the channel is open; fails with a ``TLSFailure``.
    private(set) var opened: EventLoopFuture<Void>?

    func handlerAdded(context: ChannelHandlerContext) {
        let promise = context.eventLoop.makePromise(of: Void.self)
        (self.promise, opened) = (promise, promise.futureResult)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        settle(.failure(TLSFailure(.silence)))
    }

    func channelActive(context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        late = context.eventLoop.scheduleTask(deadline: deadline) {
            let (gate, context) = bound.value
            gate.failed(TLSFailure(.silence), context)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent {
            context.fireChannelActive()
            settle(.success(()))
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard promise != nil else { return context.fireErrorCaught(error) }
        let certificate = try? context.pipeline.syncOperations.nioSSL_peerCertificate()
        failed(TLSFailure(error, certificate: certificate), context)
    }

    private func failed(_ failure: TLSFailure, _ context: ChannelHandlerContext) {
        settle(.failure(failure))
        context.close(promise: nil)
    }

    private func settle(_ result: Result<Void, any Error>) {
        late?.cancel()
        late = nil
        let promise = promise
        self.promise = nil
        promise?.completeWith(result)
    }
}
