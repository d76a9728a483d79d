import Foundation
import Systemd
import TestSupport
import Testing

/// libsystemd reads the environment, which belongs to the whole process: each test has a process of its own.
@Suite struct NotifierTests {
    @Test func readyAndStatusArriveInOneMessage() async {
        await #expect(processExitsWith: .success) {
            let socket = try NotifySocket()
            defer { socket.remove() }
            setenv("NOTIFY_SOCKET", socket.path, 1)
            #expect(try await Notifier().notify(.ready, .status("Serving 3 listeners")))
            #expect(socket.receive() == "READY=1\nSTATUS=Serving 3 listeners")
            #expect(socket.receive() == nil)
        }
    }

    @Test func everyStateHasItsAssignment() async {
        await #expect(processExitsWith: .success) {
            let socket = try NotifySocket()
            defer { socket.remove() }
            setenv("NOTIFY_SOCKET", socket.path, 1)
            try await Notifier().notify(.stopping, .watchdog, .mainPID(4711), .extendTimeout(.milliseconds(1500)))
            #expect(socket.receive() == "STOPPING=1\nWATCHDOG=1\nMAINPID=4711\nEXTEND_TIMEOUT_USEC=1500000")
        }
    }

    @Test func `a reload tells when it began by the kernel's monotonic clock`() async {
        await #expect(processExitsWith: .success) {
            let socket = try NotifySocket()
            defer { socket.remove() }
            setenv("NOTIFY_SOCKET", socket.path, 1)
            try await Notifier().notify(.reloading(since: .microseconds(4711)), .status("Reading"))
            #expect(socket.receive() == "RELOADING=1\nMONOTONIC_USEC=4711\nSTATUS=Reading")
            let first = Notifier.monotonicNow()
            #expect(first > .zero && Notifier.monotonicNow() >= first)
        }
    }

    @Test func aStatusCannotSmuggleInAnotherAssignment() async {
        await #expect(processExitsWith: .success) {
            let socket = try NotifySocket()
            defer { socket.remove() }
            setenv("NOTIFY_SOCKET", socket.path, 1)
            try await Notifier().notify(.status("one\nREADY=1\r\n\u{0}two"))
            #expect(socket.receive() == "STATUS=one READY=1  two")
        }
    }

    @Test func aLongStatusIsCutBetweenCharacters() async throws {
        await #expect(processExitsWith: .success) {
            let socket = try NotifySocket()
            defer { socket.remove() }
            setenv("NOTIFY_SOCKET", socket.path, 1)
            try await Notifier().notify(.status("x" + String(repeating: "\u{e9}", count: 9000)))
            let message = try #require(socket.receive())
            #expect(message.utf8.count == "STATUS=".utf8.count + Notifier.State.maximumStatusBytes - 1)
            #expect(message.last == "\u{e9}")
        }
    }

    @Test func withoutAServiceManagerNothingIsSent() async {
        await #expect(processExitsWith: .success) {
            unsetenv("NOTIFY_SOCKET")
            let isListening = try await Notifier().notify(.ready)
            #expect(!isListening)
        }
    }

    @Test func aSocketThatIsGoneIsAnErrorWithItsErrno() async {
        await #expect(processExitsWith: .success) {
            setenv("NOTIFY_SOCKET", "/nowhere/at/all", 1)
            let error = await #expect(throws: SystemdError.self) { try await Notifier().notify(.ready) }
            #expect(error?.operation == "sd_notify")
            #expect(error?.code == ENOENT)
            #expect(error?.description == "sd_notify failed: No such file or directory (errno 2)")
        }
    }

    @Test(.endsHangs) func aServiceManagerThatReadsNothingHoldsUpNobodyElse() async throws {
        let reading = DispatchSemaphore(value: 0)
        let (arrivals, continuation) = AsyncStream.makeStream(of: Void.self)
        let notifier = Notifier(clock: ManualClock()) { _ in
            continuation.yield()
            reading.wait()
            return true
        }
        // More than the cooperative pool has threads: were they held up, nobody could let them go.
        let count = ProcessInfo.processInfo.activeProcessorCount + 2
        try await withThrowingTaskGroup { tasks in
            for _ in 0..<count { tasks.addTask { try await notifier.notify(.watchdog) } }
            for await _ in arrivals { break }
            for _ in 0..<count { reading.signal() }
            try await tasks.waitForAll()
        }
    }

    @Test(.endsHangs) func aServiceManagerThatReadsNothingIsGivenUpAndToldOnceOfAndGetsItLater() async throws {
        let (reading, clock, log) = (DispatchSemaphore(value: 0), ManualClock(), RecordedLog())
        let (messages, continuation) = AsyncStream.makeStream(of: String.self)
        let notifier = Notifier(clock: clock) { message in
            reading.wait()
            continuation.yield(message)
            return true
        }
        for state in [Notifier.State.ready, .status("Serving")] {
            async let told: Void = notifier.tell(state, logger: log.logger)
            await clock.sleeperHasArrived()
            clock.advance(by: .seconds(1))
            await told
        }
        #expect(log.lines.map(\.message) == ["The service manager cannot be told"])
        for _ in 1...3 { reading.signal() }
        await notifier.tell(.watchdog, logger: log.logger)
        #expect(log.lines.map(\.message).last == "The service manager can be told again")
        var received = messages.makeAsyncIterator()
        for expected in ["READY=1", "STATUS=Serving", "WATCHDOG=1"] { #expect(await received.next() == expected) }
    }

    @Test(.endsHangs) func whatWaitsForTheServiceManagerIsBounded() async {
        let reading = DispatchSemaphore(value: 0)
        let notifier = Notifier(clock: ManualClock()) { _ in
            reading.wait()
            return true
        }
        let waiting = (0..<300).map { _ in Task { try? await notifier.notify(.watchdog) } }
        // The other 256 wait until they are read.
        let refused = await withTaskGroup(of: Bool.self) { group in
            for task in waiting { group.addTask { await task.value == nil } }
            var count = 0
            for await isRefused in group where isRefused {
                count += 1
                if count == 44 { for _ in 0..<256 { reading.signal() } }
            }
            return count
        }
        #expect(refused == 44)
    }

    @Test func whoIsCancelledDoesNotWaitForTheServiceManager() async {
        let reading = DispatchSemaphore(value: 0)
        let notifier = Notifier { _ in
            reading.wait()
            return true
        }
        let task = Task { try await notifier.notify(.stopping) }
        task.cancel()
        let error = await #expect(throws: SystemdError.self) { try await task.value }
        #expect(error?.code == ECANCELED)
        reading.signal()
    }

    @Test func theWatchdogIntervalComesFromTheServiceManager() async {
        await #expect(processExitsWith: .success) {
            setenv("WATCHDOG_USEC", "30000000", 1)
            #expect(try Notifier.watchdogInterval() == .seconds(30))
            setenv("WATCHDOG_PID", "1", 1)
            let ofAnotherProcess = try Notifier.watchdogInterval()
            #expect(ofAnotherProcess == nil)
            setenv("WATCHDOG_PID", "\(getpid())", 1)
            #expect(try Notifier.watchdogInterval() == .seconds(30))
            setenv("WATCHDOG_USEC", "soon", 1)
            #expect(throws: SystemdError.self) { try Notifier.watchdogInterval() }
            unsetenv("WATCHDOG_USEC")
            let ofNobody = try Notifier.watchdogInterval()
            #expect(ofNobody == nil)
        }
    }
}

/// A datagram socket that stands in for the service manager's.
struct NotifySocket {
    let path: String
    private let descriptor: Int32

    /// Binds the socket at a fresh path.
    init() throws {
        path = "/tmp/notify-\(UUID().uuidString.prefix(8)).sock"
        descriptor = try UnixSocket.bound(to: path, .datagram)
    }

    /// The next message, or `nil` when there is none; what this process sent is there at once.
    func receive() -> String? {
        var buffer = [UInt8](repeating: 0, count: 8192)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return count < 0 ? nil : String(decoding: buffer.prefix(count), as: UTF8.self)
    }

    func remove() {
        unlink(path)
    }
}
