import NIOCore
import NIOHTTPTypes

/// A connection that is closed too early loses what was written to it: NIO drops what the kernel has not taken, and the
/// kernel answers bytes that nobody has read with a reset, on which the client drops what it has not read. So closing
/// waits for the one, and lingers for the other.
extension ConnectionGuard {
    struct Ending {
        /// How many answers NIO holds of which the kernel has not taken all.
        var unwrittenAnswers = 0

        /// How many bytes these were when last looked at.
        var unwrittenBytes = 0

        /// Closing that waits for ``unwrittenAnswers``.
        var held: [(mode: CloseMode, promise: EventLoopPromise<Void>?)] = []

        /// Whether what the client still sends is read and thrown away until it has finished.
        var isLingering = false
        var peerHasFinished = false
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if mode == .input {
            context.close(mode: mode, promise: promise)
        } else if ending.isLingering {
            context.channel.closeFuture.cascade(to: promise)
        } else if ending.unwrittenAnswers > 0 {
            ending.held.append((mode, promise))
        } else {
            context.close(mode: mode, promise: promise)
        }
    }

    /// Writes the last part of an answer and notes when the kernel has taken it.
    func writeLastPart(_ data: NIOAny, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        ending.unwrittenAnswers += 1
        let written = promise ?? context.eventLoop.makePromise()
        written.futureResult.assumeIsolated().whenComplete { _ in
            self.ending.unwrittenAnswers -= 1
            if self.ending.unwrittenAnswers == 0 { self.allIsWritten(context) }
        }
        context.write(data, promise: written)
    }

    /// Ends the connection once everything is written.
    func end(_ context: ChannelHandlerContext, lingering: Bool) {
        phase = .ended
        ending.isLingering = lingering
        pipelined.discard()
        if !lingering { ending.held.append((.all, nil)) }
        let nothingIsUnwritten = ending.unwrittenAnswers == 0
        context.flush()
        if nothingIsUnwritten { allIsWritten(context) }
    }

    func peerHasFinished(_ context: ChannelHandlerContext) {
        ending.peerHasFinished = true
        if ending.isLingering && ending.unwrittenAnswers == 0 { context.close(promise: nil) }
    }

    private func allIsWritten(_ context: ChannelHandlerContext) {
        ending.unwrittenBytes = 0
        noteHeldBytes()
        turnToRest(context)
        readOn(context)
        updateDeadline(context)
        deadline.blocked = .zero
        if ending.isLingering {
            // NIO takes the output's end for the connection's when the input has ended.
            context.close(mode: ending.peerHasFinished ? .all : .output, promise: nil)
            // The next handlers may have stopped reading.
            context.read()
        }
        let held = ending.held
        ending.held = []
        for (mode, promise) in held {
            close(context: context, mode: mode, promise: promise)
        }
    }
}
