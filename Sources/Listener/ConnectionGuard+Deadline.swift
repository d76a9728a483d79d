import NIOCore

/// Each thing that a connection waits for has a limit of its own.
extension ConnectionGuard {
    enum Wait {
        /// For the responder, which has limits of its own.
        case responder
        case firstRequest
        case nextRequest
        case restOfRequest
        case peerToReceive
        case peerToFinish
    }

    struct Deadline {
        var wait = Wait.responder
        var since = NIODeadline.uptimeNanoseconds(0)
        var timer: (due: NIODeadline, task: Scheduled<Void>)?

        /// Whether anything was decoded of the bytes that have just arrived.
        var sawPart = false

        /// Whether bytes of a request have arrived and not yet its head.
        var hasPartialHead = false

        /// Whether this process waits for bytes; it does not while responders have not taken what was read before.
        var isReading = false

        /// Whether reading was wanted when there was something in its way.
        var isReadHeld = false

        /// How long the answer of now has waited for its client in earlier waits.
        var blocked = TimeAmount.zero
    }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        updateDeadline(context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        // The decoder may have more, if the connection has failed under an answer.
        phase = .ended
        ending.unwrittenBytes = 0
        forget()
        context.fireChannelInactive()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        deadline.hasPartialHead = deadline.hasPartialHead || (!deadline.sawPart && !pipeline.isReadingRequest)
        deadline.sawPart = false
        deadline.isReading = false
        // The next handlers may have stopped asking for more.
        if ending.isLingering { context.read() }
        context.fireChannelReadComplete()
        updateDeadline(context)
    }

    /// Nothing is read while a whole request is worked on, or its answer is not taken: whatever a client sends ahead stays in
    /// ``PipelinedRequests`` and in the kernel, whose own signals tell whether the client has gone.
    func read(context: ChannelHandlerContext) {
        guard pipeline.wholePending == 0, ending.unwrittenAnswers == 0 else {
            deadline.isReadHeld = true
            return
        }
        deadline.isReadHeld = false
        deadline.isReading = true
        context.read()
    }

    /// Reads if that was wanted while there was something in the way.
    func readOn(_ context: ChannelHandlerContext) {
        if deadline.isReadHeld { read(context: context) }
    }

    func flush(context: ChannelHandlerContext) {
        context.flush()
        if ending.unwrittenAnswers > 0 {
            ending.unwrittenBytes = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
            noteHeldBytes()
        }
        updateDeadline(context)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        context.fireChannelWritabilityChanged()
        updateDeadline(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        deadline.timer?.task.cancel()
        deadline.timer = nil
    }

    /// Notes what the connection waits for now.
    ///
    /// The timer is set anew only when it would ring too late. When it rings too early it is set again, so requests that
    /// come and go fast do not touch it.
    func updateDeadline(_ context: ChannelHandlerContext) {
        let next = nextWait(context)
        if next != deadline.wait {
            let now = context.eventLoop.now
            if deadline.wait == .peerToReceive { deadline.blocked = deadline.blocked + (now - deadline.since) }
            deadline.wait = next
            deadline.since = now
        }
        setTimer(context)
    }

    private func setTimer(_ context: ChannelHandlerContext) {
        guard let limit = limit(of: deadline.wait), context.channel.isActive else { return }
        let due = deadline.since + limit
        if let timer = deadline.timer, timer.due <= due { return }
        deadline.timer?.task.cancel()
        let task = context.eventLoop.assumeIsolated().scheduleTask(deadline: due) {
            self.deadline.timer = nil
            self.timerRings(context)
        }
        deadline.timer = (due, task)
    }

    private func timerRings(_ context: ChannelHandlerContext) {
        guard let limit = limit(of: deadline.wait) else { return }
        // The client cannot be blamed for what it could not send.
        if deadline.wait == .restOfRequest && !deadline.isReading { deadline.since = context.eventLoop.now }
        guard deadline.since + limit <= context.eventLoop.now else { return setTimer(context) }
        if deadline.wait == .restOfRequest {
            refuse(.tooSlow, context)
        } else {
            context.close(promise: nil)
        }
    }

    private func nextWait(_ context: ChannelHandlerContext) -> Wait {
        if ending.unwrittenAnswers > 0 || !context.channel.isWritable { return .peerToReceive }
        if ending.isLingering { return .peerToFinish }
        guard case .serving = phase, pipeline.wholePending == 0 else { return .responder }
        if pipeline.isReadingRequest || deadline.hasPartialHead { return .restOfRequest }
        return pipeline.hasBegun ? .nextRequest : .firstRequest
    }

    private func limit(of wait: Wait) -> TimeAmount? {
        switch wait {
        case .responder: nil
        case .firstRequest:
            TimeAmount(
                min(
                    isDraining ? configuration.lastRequestTimeout : configuration.firstRequestTimeout,
                    configuration.idleTimeout))
        case .nextRequest: TimeAmount(configuration.idleTimeout)
        case .restOfRequest: TimeAmount(configuration.requestReadTimeout)
        case .peerToReceive: TimeAmount(configuration.responseWriteTimeout) - deadline.blocked
        case .peerToFinish: TimeAmount(configuration.lingerTimeout)
        }
    }
}
