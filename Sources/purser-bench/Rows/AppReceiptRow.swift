import AppReceipt
import Foundation
import OpenSSL

/// Row 11: app receipts, from the bytes to what they say and whether Apple signed it.
struct AppReceiptRow: Row {
    let number = 11
    let title = "App receipts, parsed and verified, one core"
    let reference = "openssl cms -verify of the same bytes"
    let tools = [Tool.openssl]

    private static let sizes = [1, 100, 10_000]

    func measure(in bench: Bench) async throws -> [Figure] {
        let root = bench.folder.appending(path: "receipt-root.pem")
        let signer = try ReceiptSigner()
        try Data(signer.root.pem().utf8).write(to: root)
        var times = Self.sizes.map { Figure("\($0) purchases, processor time", .milliseconds, goal: .ratioAtMost(1)) }
        var peaks = Self.sizes.map { Figure("\($0) purchases, peak memory", .megabytes) }
        var growth = Figure(
            "a purchase at 10,000", .microseconds, reference: "a purchase at 100", goal: .ratioAtMost(1.5))
        let files = try Self.sizes.map { count in
            let file = bench.folder.appending(path: "receipt-\(count)")
            try Data(signer.receipt(purchases: count)).write(to: file)
            return file
        }
        for _ in 0..<bench.repetitions {
            var ours: [Double] = []
            for (index, file) in files.enumerated() {
                let outcome = try await bench.run(
                    ReceiptProbe(receipt: file.path, root: root.path, openssl: try Tool.openssl.path()),
                    core: bench.cores.service)
                times[index].add(outcome.milliseconds, against: outcome.opensslMilliseconds)
                peaks[index].add(outcome.peakMegabytes, against: outcome.opensslPeakMegabytes)
                peaks[index].note = "a receipt of \(outcome.bytes) bytes"
                ours.append(outcome.milliseconds)
            }
            growth.add((ours[2] - ours[0]) / 9_999 * 1000, against: (ours[1] - ours[0]) / 99 * 1000)
        }
        times[0].note = "the reference is a program, whose start is part of it"
        return times + peaks + [growth]
    }
}

/// Parses and verifies one receipt over and over, and has openssl verify it.
struct ReceiptProbe: Probe {
    static let name = "receipt"

    struct Outcome: Codable, Sendable {
        let bytes: Int
        /// Processor time of one receipt.
        let milliseconds: Double
        let opensslMilliseconds: Double
        /// What the first receipt added to this process.
        let peakMegabytes: Double
        /// The whole process.
        let opensslPeakMegabytes: Double
    }

    /// The files of the receipt and of its root in PEM.
    let receipt: String
    let root: String
    /// The program.
    let openssl: String

    func run() async throws -> Outcome {
        let verifier = ReceiptVerifier(roots: [try Certificate(pem: String(contentsOfFile: root, encoding: .utf8))])
        let opensslMilliseconds = try opensslMilliseconds()
        let opensslPeak = try opensslPeakMegabytes()
        let before = try PeakMemory.megabytes(of: getpid())
        let bytes = try Array(Data(contentsOf: URL(filePath: receipt), options: .alwaysMapped))
        try verify(bytes, with: verifier)
        let peak = try PeakMemory.megabytes(of: getpid()) - before
        return Outcome(
            bytes: bytes.count, milliseconds: try milliseconds(bytes, verifier),
            opensslMilliseconds: opensslMilliseconds, peakMegabytes: max(0, peak), opensslPeakMegabytes: opensslPeak)
    }

    private func milliseconds(_ bytes: [UInt8], _ verifier: ReceiptVerifier) throws -> Double {
        let start = processorSeconds()
        var count = 0
        repeat {
            try verify(bytes, with: verifier)
            count += 1
        } while processorSeconds() - start < 0.5
        return (processorSeconds() - start) / Double(count) * 1000
    }

    private func verify(_ bytes: [UInt8], with verifier: ReceiptVerifier) throws {
        let judged = try verifier.verify(bytes)
        guard judged.isGenuine else { throw BenchError("the receipt did not verify: \(judged.refusal as Any)") }
    }

    private func verification() -> Process {
        let process = Process()
        process.executableURL = URL(filePath: openssl)
        process.arguments = [
            "cms", "-verify", "-binary", "-inform", "DER", "-in", receipt, "-CAfile", root, "-purpose", "any",
            "-out", "/dev/null",
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        return process
    }

    private func opensslMilliseconds() throws -> Double {
        let runs = 10
        let start = processorSeconds(ofChildren: true)
        for _ in 0..<runs {
            let process = verification()
            try process.run()
            process.waitUntilExit()
            guard process.terminationStatus == 0 else { throw BenchError("openssl did not verify the receipt") }
        }
        return (processorSeconds(ofChildren: true) - start) / Double(runs) * 1000
    }

    /// Lets openssl wait with its last words, so that its peak can be read while it still lives: what getrusage(2) says of a
    /// child counts the memory of the process that started it, too.
    private func opensslPeakMegabytes() throws -> Double {
        let words = Pipe()
        let descriptor = words.fileHandleForWriting.fileDescriptor
        let flags = fcntl(descriptor, F_GETFL)
        guard flags >= 0, fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0 else { throw BenchError("no pipe") }
        let filling = [UInt8](repeating: 0x20, count: 4096)
        while write(descriptor, filling, filling.count) > 0 {}
        while write(descriptor, filling, 1) > 0 {}
        guard fcntl(descriptor, F_SETFL, flags) == 0 else { throw BenchError("no pipe") }
        let process = verification()
        process.standardError = words
        try process.run()
        defer {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        // It has come to its end when it uses no more processor time, which it has used some of.
        var used = -1.0
        for _ in 0..<200 {
            usleep(50_000)
            let now = try ProcessUsage(of: process.processIdentifier).processorSeconds
            let peak = try PeakMemory.megabytes(of: process.processIdentifier)
            if now == used { return peak }
            used = now
        }
        throw BenchError("openssl did not come to an end")
    }
}

/// The most memory that a process has had.
private enum PeakMemory {
    /// In megabytes of a million bytes.
    ///
    /// - Throws: `BenchError` when there is no such process.
    static func megabytes(of processID: pid_t) throws(BenchError) -> Double {
        guard let bytes = ProcessUsage.status(of: processID, "VmHWM") else {
            throw BenchError("process \(processID) is gone")
        }
        return bytes / 1_000_000
    }
}

/// Issues receipts as the App Store has signed them for many years: RSA over the content itself, SHA-256.
private struct ReceiptSigner {
    let root: Certificate
    private let signer: CMSSigner
    private let created: Date

    init() throws {
        created = Date(timeIntervalSinceNow: -86_400)
        let start = created - 365 * 86_400
        let end = created + 365 * 86_400
        let rootKey = try IssuingKey(generating: .rsa2048)
        root = try CertificateBuilder.authority("Bench Receipts", notBefore: start, notAfter: end)
            .selfSigned(by: rootKey)
        let intermediateKey = try IssuingKey(generating: .rsa2048)
        var builder = CertificateBuilder.authority(
            "Bench Receipts Intermediate", notBefore: start, notAfter: end, pathLength: 0)
        builder.markerExtensions = [ReceiptVerifier.intermediateExtension]
        let intermediate = try builder.issued(
            to: intermediateKey.subjectPublicKeyInfo(), by: root, key: rootKey)
        let key = try IssuingKey(generating: .rsa2048)
        builder = CertificateBuilder.signer("Bench Receipts Leaf", notBefore: start, notAfter: end)
        builder.markerExtensions = [ReceiptVerifier.leafExtension]
        var signer = CMSSigner(
            certificate: try builder.issued(
                to: key.subjectPublicKeyInfo(), by: intermediate, key: intermediateKey), key: key)
        signer.otherCertificates = [intermediate, root]
        self.signer = signer
    }

    /// Every purchase has the fifteen attributes that those of a subscription have.
    func receipt(purchases count: Int) throws -> [UInt8] {
        let date = Self.text(0x16, created.formatted(.iso8601))
        var content =
            Self.attribute(0, Self.text(0x0C, "Production")) + Self.attribute(2, Self.text(0x0C, Fixtures.bundleID))
            + Self.attribute(3, Self.text(0x0C, "1")) + Self.attribute(12, date)
        for index in 0..<count {
            let id = Self.text(0x0C, "\(2_000_000_400_000_000 + index)")
            let number = Self.integer(2_000_000_034_343_000 + index)
            let product = Self.text(0x0C, "com.example.product.premium.monthly")
            let none = Self.text(0x16, "")
            let values: [(Int, [UInt8])] = [
                (1701, Self.integer(1)), (1702, product), (1703, id), (1704, date), (1705, id), (1706, date),
                (1707, Self.integer(1)), (1708, date), (1709, none), (1710, Self.integer(0)), (1711, number),
                (1712, none), (1713, Self.integer(0)), (1714, none), (1719, Self.integer(0)),
            ]
            content += Self.attribute(17, Self.element(0x31, values.flatMap(Self.attribute)))
        }
        return try signer.sign(Self.element(0x31, content))
    }

    private static func attribute(_ type: Int, _ value: [UInt8]) -> [UInt8] {
        element(0x30, integer(type) + integer(1) + element(0x04, value))
    }

    private static func text(_ tag: UInt8, _ text: String) -> [UInt8] { element(tag, Array(text.utf8)) }

    private static func integer(_ number: Int) -> [UInt8] {
        let digits = withUnsafeBytes(of: number.bigEndian, Array.init)
        let leading = digits.dropLast().prefix { $0 == 0 }.count
        // A digit that begins with a one would make it negative.
        let start = leading > 0 && digits[leading] >= 0x80 ? leading - 1 : leading
        return element(0x02, Array(digits[start...]))
    }

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        guard content.count >= 0x80 else { return [tag, UInt8(content.count)] + content }
        let digits = withUnsafeBytes(of: content.count.bigEndian) { Array($0.drop { $0 == 0 }) }
        return [tag, 0x80 | UInt8(digits.count)] + digits + content
    }
}
