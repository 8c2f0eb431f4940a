// Writes data once per tick: first directly to the socket, then through NIO what the kernel does not accept. Going
// through NIO first would about double the cost of the system call.

import NIOCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

extension EdgeConnection {
    /// Writes this tick's data to the socket, and continues closing if it was the last.
    func flush() {
        awaitsFlush = false
        guard let context, phase != .over else { return }
        if let parcel {
            // Data sent during this flush goes out in the next tick.
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
        // Data that NIO holds goes first.
        if hasQueued { hasQueued = queuedBytes > 0 }
        if !hasQueued { bytes.moveReaderIndex(forwardBy: taken(bytes)) }
        guard bytes.readableBytes > 0 else { return }
        hasQueued = true
        context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
    }

    /// - Returns: How many bytes the kernel accepted. Errors appear when NIO writes the rest.
    private func taken(_ bytes: ByteBuffer) -> Int {
        guard let socket else { return 0 }
        return bytes.withUnsafeReadableBytes { max(0, handOver($0, to: socket)) }
    }

    /// The socket's descriptor. Under TLS nothing may bypass NIO.
    func findSocket(_ context: ChannelHandlerContext) -> NIOBSDSocket.Handle? {
        guard !loop.isEncrypted else { return nil }
        return try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { $0 }
    }

    /// The kernel did not accept everything written in this tick.
    private func fallBehind() {
        loop.watch(self)
        // The members of a large conversation are one frame, which may be larger than the ceiling.
        guard outboundBytes - largestFrame <= loop.settings.outboundCeiling else { return closeAsSlow() }
        guard !isBehind else { return }
        isBehind = true
        loop.shard.fellBehind(self)
    }

    /// The kernel has accepted enough of the waiting data.
    func drain() {
        // The channel may become writable in the tick that has written the frame, before the flush.
        if parcel == nil { largestFrame = 0 }
        guard isBehind || awaitsDrain else { return }
        isBehind = false
        awaitsDrain = false
        sparedBytes = 0
        loop.shard.drained(self)
    }
}

/// Calls the system's `send`, outside types that have a method of that name.
private func handOver(_ bytes: UnsafeRawBufferPointer, to socket: NIOBSDSocket.Handle) -> Int {
    #if canImport(Darwin)
        send(socket, bytes.baseAddress, bytes.count, 0)  // NIO has asked for no SIGPIPE on this socket.
    #else
        send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    #endif
}
