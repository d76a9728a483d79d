import AppStoreSimulator
import Foundation
import TestSupport
import Testing

/// What of private keys is in the memory of our programs, while they are in use and afterwards.
@Suite(
    .enabled(
        if: ProcessMemory.seesOthers, "only who may trace any process sees the memory of one that shuts others out"))
struct SecretMemoryTests {
    /// A private key as it may stand in memory: the text of its file, and the private number in either order of its bytes.
    ///
    /// Parts of them are enough. The number of the DER form is the one whose most significant byte comes first; libcrypto
    /// keeps numbers in words with the least significant first, which on the machines that this is built for is the whole
    /// number backwards.
    private struct Traces {
        let text: [[UInt8]]
        let number: [[UInt8]]
        let backwards: [[UInt8]]

        /// `pem`: as App Store Connect and `openssl pkcs8` write it.
        init(pem: String) throws {
            let lines = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }
            let der = try #require(Data(base64Encoded: lines.joined()))
            // Version 1, and an octet string of 32 bytes (RFC 5915).
            let mark = try #require(der.firstRange(of: [0x02, 0x01, 0x01, 0x04, 0x20]))
            let number = Array(der[mark.upperBound...].prefix(32))
            try #require(lines.count == 3 && number.count == 32)
            // Four digits are three bytes: the number is in the last 16 digits of the first line and in the second.
            text = [Array(lines[0].utf8.suffix(16)), Array(lines[1].utf8.prefix(24))]
            self.number = [Array(number.prefix(16)), Array(number.suffix(16))]
            backwards = self.number.map { $0.reversed() }
        }

        /// Where it stands in a process's memory.
        func places(in process: pid_t) throws -> (
            text: [ProcessMemory.Place], number: [ProcessMemory.Place], backwards: [ProcessMemory.Place]
        ) {
            let parts = [text, number, backwards]
            let found = try ProcessMemory(of: process).places(ofInverted: parts.joined().map { $0.map { ~$0 } })
            let places = (0..<3).map { found[(2 * $0)..<(2 * $0 + 2)].flatMap(\.self) }
            return (places[0], places[1], places[2])
        }

        /// Expects the number where libcrypto keeps it, in locked memory, and nothing of the key elsewhere.
        func expectInUse(by process: pid_t) throws {
            let places = try places(in: process)
            #expect(places.text.isEmpty && places.number.isEmpty, "\(places)")
            #expect(places.backwards.count == 2, "both halves of it, once: \(places.backwards)")
            #expect(places.backwards.allSatisfy { $0.isLocked && $0.isLeftOutOfDumps }, "\(places.backwards)")
        }

        /// Expects nothing of the key anywhere.
        func expectNothing(in process: pid_t) throws {
            let places = try places(in: process)
            #expect(places.text.isEmpty && places.number.isEmpty && places.backwards.isEmpty, "\(places)")
        }
    }

    private static func traces(of stage: DaemonStage, _ file: String = "key.p8") throws -> Traces {
        try Traces(pem: String(contentsOf: stage.folder.appending(path: file), encoding: .utf8))
    }

    @Test func `of a key in use the number is in memory, once and locked, and of the master key its bytes`()
        async throws
    {
        try await DaemonStage.with { stage in
            let marker = UUID().uuidString
            let daemon = try await stage.start(environment: ["MARKER": marker])
            try await Wait.bounding("a token to be made") {
                await stage.simulator.state.wait(for: .requestReceived) {
                    $0.received.requests.contains { $0.keyID != nil }
                }
            }
            let found = try ProcessMemory(of: daemon.processID).places(of: Array(marker.utf8))
            #expect(!found.isEmpty, "the search finds what is there")
            try Self.traces(of: stage).expectInUse(by: daemon.processID)
            let (digits, bytes) = try Self.masterKey(of: stage)
            let memory = ProcessMemory(of: daemon.processID)
            for half in [digits.prefix(32), digits.suffix(32)] { #expect(try memory.places(of: Array(half)).isEmpty) }
            for half in [bytes.prefix(16), bytes.suffix(16)] {
                let places = try memory.places(of: Array(half))
                #expect(places.count == 1 && places.allSatisfy { $0.isLocked && $0.isLeftOutOfDumps }, "\(places)")
            }
            #expect(try await daemon.terminate() == 0)
        }
    }

    /// The master key that a daemon has made for itself: as its file has it, and its bytes.
    private static func masterKey(of stage: DaemonStage) throws -> (digits: [UInt8], bytes: [UInt8]) {
        let text = try String(contentsOfFile: stage.masterKey, encoding: .utf8).prefix(64)
        let bytes = stride(from: 0, to: 64, by: 2).compactMap { UInt8(text.dropFirst($0).prefix(2), radix: 16) }
        try #require(bytes.count == 32)
        return (Array(text.utf8), bytes)
    }

    private func run(_ stage: DaemonStage, _ arguments: String...) async throws {
        let outcome = try await stage.command(arguments)
        try #require(outcome.status == 0, "\(arguments): \(outcome.output)\(outcome.errorOutput)")
    }

    /// Imports a key, and activates it unless it is to stand by.
    private func importKey(_ keyID: String, _ stage: DaemonStage, isActivated: Bool = true) async throws -> Traces {
        let file = try stage.makeKey(keyID, at: "\(keyID).p8").path
        try await run(stage, "keys", "import", file, "--issuer", DaemonStage.issuer, "--app", "coins")
        // A busy machine answers later than Apple is given time to.
        if isActivated { try await run(stage, "keys", "activate", keyID, "--unchecked") }
        return try Self.traces(of: stage, "\(keyID).p8")
    }

    @Test func `nothing is left of keys that were deleted or revoked, nor of a master key that was changed`()
        async throws
    {
        try await DaemonStage.with { stage in
            let daemon = try await stage.start()
            let deleted = try await importKey("SECONDKEY1", stage)
            // From its file into the command, over the socket, into the daemon, into the store, and into use.
            try deleted.expectInUse(by: daemon.processID)
            let active = try await importKey("THIRDKEY01", stage)
            let revoked = try await importKey("FOURTHKEY1", stage, isActivated: false)
            // A retired key can come back, and stays where it is until it is deleted.
            for traces in [deleted, active, revoked] { try traces.expectInUse(by: daemon.processID) }
            try await run(stage, "keys", "delete", "SECONDKEY1")
            try await run(stage, "keys", "revoke", "FOURTHKEY1")
            let (digits, bytes) = try Self.masterKey(of: stage)
            try await run(stage, "keys", "rewrap")
            #expect(try Self.masterKey(of: stage).digits != digits)
            for traces in [deleted, revoked] { try traces.expectNothing(in: daemon.processID) }
            try active.expectInUse(by: daemon.processID)
            let memory = ProcessMemory(of: daemon.processID)
            #expect(try memory.places(of: Array(bytes.prefix(16))).isEmpty)
            #expect(try memory.places(of: Array(digits.prefix(32))).isEmpty)
            #expect(try await daemon.terminate() == 0)
        }
    }

    @Test(arguments: [(limit: 0, isTold: true), (1 << 16, true), (1 << 20, false)])
    func `that secrets cannot be locked is told at the start, and keeps nothing from working`(
        limit: Int, isTold: Bool
    ) async throws {
        try await DaemonStage.with { stage in
            // Without the capability that knows no limit, as under systemd and in containers.
            let daemon = try await stage.start(
                after: ["setpriv", "--bounding-set", "-ipc_lock", "prlimit", "--memlock=\(limit):\(limit)"])
            #expect(daemon.log.text.contains("Key memory could not be locked") == isTold)
            #expect(try await daemon.terminate() == 0)
        }
    }

    @Test func `a doctor has a key in memory only as long as it examines it`() async throws {
        let apple = Gate()
        apple.close()
        try await DaemonStage.with(delays: apple) { stage in
            stage.simulator.state.inject(Fault(.latency(milliseconds: 1)))
            // The last thing that it asks is the daemon again, which answers nothing here.
            let daemon = try SilentListener(stage.folder.appending(path: "admin.sock").path)
            let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "purser")
            let doctor = try ChildProcess(
                [program.path, "doctor", "--config", stage.configuration, "--skip-test-notifications"])
            defer { doctor.kill() }
            // It asks the daemon for its keys before it loads any, and learns nothing.
            try await Wait.until("the doctor to ask Apple") {
                while let connection = try daemon.accept() { close(connection) }
                return apple.arrivals >= 1
            }
            let traces = try Self.traces(of: stage)
            try traces.expectInUse(by: doctor.processID)
            apple.open()
            let connection = try await Wait.value("the doctor to ask the daemon") { try daemon.accept() }
            try traces.expectNothing(in: doctor.processID)
            close(connection)
            daemon.close()
            #expect(try await doctor.ended == 0)
        }
    }
}

/// A Unix socket on which nobody says anything.
private struct SilentListener {
    private let descriptor: CInt

    init(_ path: String) throws {
        descriptor = try UnixSocket.bound(to: path)
        try #require(fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0)
    }

    /// A connection, once there is one.
    func accept() throws -> CInt? {
        let connection = Foundation.accept(descriptor, nil, nil)
        guard connection < 0 else { return connection }
        try #require(errno == EAGAIN)
        return nil
    }

    func close() { Foundation.close(descriptor) }
}
