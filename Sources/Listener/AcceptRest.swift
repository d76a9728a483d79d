import Glibc
import Logging
import NIOCore
import Synchronization

/// Lets a listener rest while the descriptors of the process are used up, or the kernel gives it no connection for another reason;
/// one line when that begins and one when it is over, however many connections wait.
///
/// Those who are connected are served meanwhile, and who is not waits in the kernel's queue. NIO by itself would go on until there is
/// no descriptor, and then try again at once and for ever. To be used on the event loop of the listening channel.
final class AcceptRest {
    /// From a failure to the next attempt.
    private static let pause = TimeAmount.milliseconds(100)
    /// How long nothing may have failed before it is over: descriptors come free one by one.
    private static let calm = TimeAmount.seconds(5)

    private struct Trouble {
        let start: NIODeadline
        var lastFailure: NIODeadline
        var failures = 0
        var hasAcceptedSince = false
        /// What the channel accepts in one turn at other times.
        let acceptedAtOnce: UInt
    }

    private let connections: OpenConnections
    private let logger: Logger
    private var trouble: Trouble?
    private(set) var isResting = false

    init(_ connections: OpenConnections, _ logger: Logger) {
        self.connections = connections
        self.logger = logger
    }

    /// A connection was accepted; the next waits when it took the last descriptor that was meant for one.
    func accepted(_ context: ChannelHandlerContext) {
        guard DescriptorHeadroom.isLeft else { return rest("the descriptors of the process are used up", context) }
        trouble?.hasAcceptedSince = true
    }

    /// A connection could not be accepted.
    func failed(_ error: any Error, _ context: ChannelHandlerContext) {
        rest("\(error)", context)
    }

    private func rest(_ cause: String, _ context: ChannelHandlerContext) {
        let now = context.eventLoop.now
        if trouble == nil {
            logger.error("New connections cannot be accepted and wait", metadata: ["cause": .string(cause)])
            // One at a time from now on: those that one turn accepts after the last that there was room for go into the headroom.
            trouble = Trouble(
                start: now, lastFailure: now, acceptedAtOnce: option(.maxMessagesPerRead, context) ?? 1)
            _ = set(.maxMessagesPerRead, 1, context)
            lookWhetherOver(context)
        }
        trouble?.lastFailure = now
        trouble?.failures += 1
        trouble?.hasAcceptedSince = false
        guard !isResting, set(.autoRead, false, context) else { return }
        isResting = true
        goOnWhenRested(context)
    }

    private func goOnWhenRested(_ context: ChannelHandlerContext) {
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) {
            guard DescriptorHeadroom.isLeft || !context.channel.isActive else { return self.goOnWhenRested(context) }
            self.isResting = false
            guard self.connections.mayAccept.load(ordering: .relaxed) else { return }
            _ = self.set(.autoRead, true, context)
        }
    }

    private func lookWhetherOver(_ context: ChannelHandlerContext) {
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.calm) {
            guard let trouble = self.trouble, context.channel.isActive else { return }
            let now = context.eventLoop.now
            guard trouble.hasAcceptedSince, !self.isResting, now - trouble.lastFailure >= Self.calm else {
                return self.lookWhetherOver(context)
            }
            self.trouble = nil
            _ = self.set(.maxMessagesPerRead, trouble.acceptedAtOnce, context)
            self.logger.notice(
                "New connections are accepted again",
                metadata: [
                    "seconds": .stringConvertible((now - trouble.start).nanoseconds / 1_000_000_000),
                    "attempts": .stringConvertible(trouble.failures),
                ])
        }
    }

    /// Nil only when the channel is closed.
    private func option<Option: ChannelOption>(_ option: Option, _ context: ChannelHandlerContext) -> Option.Value? {
        try? context.channel.syncOptions?.getOption(option)
    }

    /// Fails only when the channel is closed, which nobody needs to rest on.
    private func set<Option: ChannelOption>(
        _ option: Option, _ value: Option.Value, _ context: ChannelHandlerContext
    ) -> Bool {
        guard context.channel.isActive else { return false }
        return (try? context.channel.syncOptions?.setOption(option, value: value)) != nil
    }
}

/// Descriptors that no listener takes, so that the rest of the process has some when there are as many connections as there can be.
///
/// Files and calls to Apple need some; and libdispatch, which counts its running threads in `/proc/self/task` every second, ends the
/// process when it cannot open what it reads there.
private enum DescriptorHeadroom {
    /// How many there are; fewer where the limit of the process is small.
    private static let count: CInt = 64

    /// Whether there is more than the headroom.
    ///
    /// The kernel gives the lowest number that is free, so that one look tells: those below the headroom are all in use when the
    /// lowest is in it. That leaves the headroom to others even when numbers below come free and are taken again.
    static var isLeft: Bool {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return true }
        let lowest = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard lowest >= 0 else { return errno != EMFILE && errno != ENFILE }
        close(lowest)
        let bound = CInt(clamping: limit.rlim_cur)
        return lowest < bound - min(count, bound / 4)
    }
}
