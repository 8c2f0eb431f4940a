// A channel under TLS is open when both sides have found each other in order, and not before. Until then nothing is said
// on it, and a server that says nothing is not waited for long.

import NIOCore
import NIOSSL
import NIOTLS

/// Holds back the news that a channel is open until its handshake is over.
final class TLSGate: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let deadline: NIODeadline
    private var late: Scheduled<Void>?
    /// `nil` once it has been kept.
    private var promise: EventLoopPromise<Void>?

    /// - Parameter deadline: when the handshake has to be over, whenever it begins.
    init(deadline: NIODeadline) {
        self.deadline = deadline
    }

    /// When the channel is open; fails with a ``TLSFailure``.
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
