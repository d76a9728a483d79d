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
    }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        updateDeadline(context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        presence.end()
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

    func read(context: ChannelHandlerContext) {
        deadline.isReading = true
        context.read()
    }

    func flush(context: ChannelHandlerContext) {
        context.flush()
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
            deadline.wait = next
            deadline.since = context.eventLoop.now
        }
        setTimer(context)
    }

    private func setTimer(_ context: ChannelHandlerContext) {
        guard let limit = limit(of: deadline.wait) else { return }
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
        guard case .serving = phase else { return .responder }
        if pipeline.isReadingRequest || deadline.hasPartialHead { return .restOfRequest }
        guard pipeline.pendingResponses == 0 else { return .responder }
        return pipeline.hasBegun ? .nextRequest : .firstRequest
    }

    private func limit(of wait: Wait) -> TimeAmount? {
        switch wait {
        case .responder: nil
        case .firstRequest: TimeAmount(min(configuration.firstRequestTimeout, configuration.idleTimeout))
        case .nextRequest: TimeAmount(configuration.idleTimeout)
        case .restOfRequest: TimeAmount(configuration.requestReadTimeout)
        case .peerToReceive: TimeAmount(configuration.responseWriteTimeout)
        case .peerToFinish: TimeAmount(configuration.lingerTimeout)
        }
    }
}
