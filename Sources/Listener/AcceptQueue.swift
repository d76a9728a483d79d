import Glibc
import Logging
import NIOCore

/// The connections to a socket that the kernel has set up and nobody has accepted.
///
/// When their socket closes the kernel resets them, whatever their clients have sent by then, and what a proxy has sent of a POST
/// it sends to nobody else. So nobody is let into the queue any more, and it is emptied, before the socket closes. Who comes
/// meanwhile waits for a second (TCP sends its SYN again) or finds no file, and then knows that nobody listens.
struct AcceptQueue {
    /// How long a client may take to answer the kernel, which puts its connection into the queue.
    private static let handshakeTime = TimeAmount.milliseconds(100)
    /// How often is looked whether the queue is empty, since there may be no room for more connections: for 3 s.
    ///
    /// Where the event loop has much else to do, a time would be over before anybody is accepted.
    private static let looks = 600
    private static let pause = TimeAmount.milliseconds(5)

    private let channel: any Channel
    private let unixSocket: UnixSocketFile?
    private let logger: Logger

    /// `channel`: of a socket that is nobody else's; `unixSocket`: nil where it is one of TCP.
    init(_ channel: any Channel, _ unixSocket: UnixSocketFile?, _ logger: Logger) {
        self.channel = channel
        self.unixSocket = unixSocket
        self.logger = logger
    }

    /// Lets nobody in any more; completes when all who were in are accepted.
    ///
    /// It does not fail: where the system cannot do so, who comes after the last look is lost, and the log says so.
    func drain() -> EventLoopFuture<Void> {
        refuse().recover { [channel, logger] error in
            // One that was closed at once has no queue any more.
            guard channel.isActive else { return }
            logger.warning("Who connects while the listener ends may be lost", metadata: ["reason": "\(error)"])
        }.flatMap { [channel] in
            channel.eventLoop.scheduleTask(in: Self.handshakeTime) {}.futureResult
        }.flatMap {
            self.isEmpty(looksLeft: Self.looks)
        }.recover { [logger] error in
            logger.debug("The queue of connections cannot be looked at", metadata: ["reason": "\(error)"])
        }
    }

    private func refuse() -> EventLoopFuture<Void> {
        unixSocket?.remove()
        guard unixSocket == nil, let options = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeSucceededVoidFuture()
        }
        return options.unsafeSetSocketOption(
            level: .socket, name: .init(rawValue: SO_ATTACH_FILTER), value: Self.filter)
    }

    private func isEmpty(looksLeft: Int) -> EventLoopFuture<Void> {
        length().flatMap { [channel] length in
            guard length > 0, looksLeft > 0, channel.isActive else {
                return channel.eventLoop.makeSucceededVoidFuture()
            }
            return channel.eventLoop.scheduleTask(in: Self.pause) {}.futureResult.flatMap {
                isEmpty(looksLeft: looksLeft - 1)
            }
        }
    }

    /// How many wait; of a Unix socket, whether anybody does.
    private func length() -> EventLoopFuture<Int> {
        if let unixSocket {
            // On the socket's own event loop, where nobody else closes it meanwhile.
            return channel.eventLoop.submit { [channel] in channel.isActive && unixSocket.isAnybodyWaiting ? 1 : 0 }
        }
        guard let options = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeSucceededFuture(0)
        }
        // Of a listening socket it is the length of the queue (tcp_get_info in Linux's net/ipv4/tcp.c).
        return options.getTCPInfo().map { Int($0.tcpi_unacked) }
    }
}

// MARK: The filter

extension AcceptQueue {
    /// `struct sock_fprog` of linux/filter.h.
    // @unchecked Sendable because the instructions are never written after they were made, nor freed.
    private struct Program: @unchecked Sendable {
        let count: UInt16
        let instructions: UnsafeRawPointer
    }

    /// Drops the packets by which clients ask for connections (SYN without ACK), and no other.
    ///
    /// Source: SO_ATTACH_FILTER in socket(7), `struct sock_filter` of linux/filter.h; RFC 9293 section 3.1 for the flags.
    private static let filter: Program = {
        let (flags, syn, synAndAck) = (UInt32(13), UInt32(0x02), UInt32(0x12))
        let program: [(code: UInt16, ifTrue: UInt8, ifFalse: UInt8, value: UInt32)] = [
            // A packet begins with TCP's header here: load the byte of flags, look at two, compare.
            (0x30, 0, 0, flags), (0x54, 0, 0, synAndAck), (0x15, 0, 1, syn),
            // Keep nothing of it, or all.
            (0x06, 0, 0, 0), (0x06, 0, 0, .max),
        ]
        let instructions = UnsafeMutableRawPointer.allocate(byteCount: program.count * 8, alignment: 8)
        for (place, instruction) in program.enumerated() {
            let start = place * 8
            instructions.storeBytes(of: instruction.code, toByteOffset: start, as: UInt16.self)
            instructions.storeBytes(of: instruction.ifTrue, toByteOffset: start + 2, as: UInt8.self)
            instructions.storeBytes(of: instruction.ifFalse, toByteOffset: start + 3, as: UInt8.self)
            instructions.storeBytes(of: instruction.value, toByteOffset: start + 4, as: UInt32.self)
        }
        return Program(count: UInt16(program.count), instructions: UnsafeRawPointer(instructions))
    }()
}
