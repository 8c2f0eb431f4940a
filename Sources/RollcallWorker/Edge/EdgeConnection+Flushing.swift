// How bytes leave, once a tick: straight to the kernel, and by way of NIO what the kernel does not take at once. Handing
// them to NIO first costs about as much again as the system call.

import NIOCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

extension EdgeConnection {
    /// Hands the kernel what this tick has written, and goes on with the closing if that was the last.
    func flush() {
        awaitsFlush = false
        guard let context, phase != .over else { return }
        if let parcel {
            // What is sent while this one leaves is for the next tick.
            self.parcel = nil
            hand(parcel.bytes, to: context)
        }
        switch phase {
        case .open:
            if isBackedUp { fallBehind() } else { drain() }
        case .closing, .broken, .finished:
            sayGoodbye(context)
        case .over:
            break
        }
    }

    private func hand(_ bytes: ByteBuffer, to context: ChannelHandlerContext) {
        var bytes = bytes
        // What NIO holds goes first.
        if hasQueued { hasQueued = queuedBytes > 0 }
        if !hasQueued { bytes.moveReaderIndex(forwardBy: taken(bytes)) }
        guard bytes.readableBytes > 0 else { return }
        hasQueued = true
        context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
    }

    /// - Returns: how much of it the kernel took; an error shows when NIO tries the rest.
    private func taken(_ bytes: ByteBuffer) -> Int {
        guard let socket else { return 0 }
        return bytes.withUnsafeReadableBytes { max(0, handOver($0, to: socket)) }
    }

    /// The kernel's own name for the connection. Under TLS nothing may go past NIO.
    func findSocket(_ context: ChannelHandlerContext) -> NIOBSDSocket.Handle? {
        guard !loop.isEncrypted else { return nil }
        return try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { $0 }
    }

    /// The kernel has not taken what this tick wrote.
    private func fallBehind() {
        loop.watch(self)
        guard outboundBytes <= loop.settings.outboundCeiling else { return closeAsSlow() }
        guard !isBehind else { return }
        isBehind = true
        loop.shard.fellBehind(self)
    }

    /// The kernel has taken enough of what waited.
    func drain() {
        guard isBehind || awaitsDrain else { return }
        isBehind = false
        awaitsDrain = false
        sparedBytes = 0
        loop.shard.drained(self)
    }
}

/// A system call, in a place where no method of the same name is meant.
private func handOver(_ bytes: UnsafeRawBufferPointer, to socket: NIOBSDSocket.Handle) -> Int {
    #if canImport(Darwin)
        send(socket, bytes.baseAddress, bytes.count, 0)  // NIO has asked for no SIGPIPE on this socket.
    #else
        send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    #endif
}
