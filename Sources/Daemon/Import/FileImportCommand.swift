import Foundation
import JSON

/// What can be imported, and how it goes to the daemon.
package struct ImportKind: Sendable {
    /// What they are called, in the path and in the body.
    let name: String
    let columns: ImportReader.Columns
    /// The longest record or line, in bytes.
    let maximumRecordBytes: Int
    /// The most of one request; the daemon takes no more.
    package let maximumBatch: Int
    /// How many go at once unless the operator says otherwise.
    package let defaultBatch: Int
    /// Whether what becomes of one may hang on those before it.
    let isCumulative: Bool

    /// Which purchases belong to which users.
    package static let links = ImportKind(
        name: "links",
        columns: ImportReader.Columns(
            required: ["user", "kind", "value"], optional: ["environment", "validFrom", "validUntil", "app"],
            identity: ["kind", "value"]),
        maximumRecordBytes: 1 << 14, maximumBatch: 1000, defaultBatch: 250, isCumulative: true)

    /// The receipts of StoreKit 1, by the names of the receipts API.
    package static let receipts = ImportKind(
        name: "receipts",
        columns: ImportReader.Columns(
            required: ["receipt"],
            optional: [
                "user_identifier", "country_code", "identifier_for_vendor", "ip_address", "metadata", "app",
            ],
            identity: []),
        maximumRecordBytes: 12 << 20, maximumBatch: 100, defaultBatch: 25, isCumulative: false)
}

extension ImportKind {
    /// Outcomes that tell how things are, and not what was done.
    static let lasting: Set<String> = ["unchanged", "valid"]

    /// What may become of one, in the daemon's words.
    func outcomes(isDryRun: Bool) -> [String] {
        if isCumulative { return ["created", "updated", "unchanged"] }
        return isDryRun ? ["valid"] : ["queued", "confirmed"]
    }
}

/// `purser import`: hands what a file holds to the running daemon, batch by batch.
///
/// Each batch is one operation of the daemon's, and a line that was taken changes nothing the second time, so that it can be
/// broken off at any moment and run again.
package struct FileImportCommand: Sendable {
    /// What an operator can choose.
    package struct Options: Sendable {
        package let kind: ImportKind
        /// The file; `-` is the standard input.
        package let path: String
        /// The app of lines that name none.
        package var app: String?
        /// Whether nothing is changed.
        package var isDryRun = false
        /// Whether it ends at the first line that cannot be imported.
        package var isStrict = false
        /// The first line that counts.
        package var firstLine = 1
        /// Where lines are reported that cannot be imported; nil for the first few on the standard error.
        package var report: String?
        /// The most lines that go at once: few enough that others wait for the store's one writer but a moment.
        package var batch: Int

        package init(_ kind: ImportKind, path: String) {
            self.kind = kind
            self.path = path
            batch = kind.defaultBatch
        }
    }

    /// What the command needs of the world.
    package struct Surface: Sendable {
        /// Takes a line for people.
        package var tell: @Sendable (String) -> Void
        /// Whether the operator wants no more.
        package var isInterrupted: @Sendable () -> Bool = { false }
        /// How long it has been running.
        package var elapsed: @Sendable () -> Duration
        /// Waits before what has failed is tried again.
        package var pause: @Sendable (Duration) async throws -> Void

        package init(
            tell: @escaping @Sendable (String) -> Void, elapsed: @escaping @Sendable () -> Duration,
            pause: @escaping @Sendable (Duration) async throws -> Void
        ) {
            self.tell = tell
            self.elapsed = elapsed
            self.pause = pause
        }
    }

    private let daemon: RunningDaemon
    private let options: Options
    private let surface: Surface

    package init(daemon: RunningDaemon, options: Options, surface: Surface) {
        self.daemon = daemon
        self.options = options
        self.surface = surface
    }

    /// Imports the file.
    ///
    /// - Returns: `success` when each line is imported, or was before; `data` when some could not be, or the file is no such
    ///   list; `noInput`; `configuration`; `interrupted` and `failure` with the line to go on with.
    package func run() async -> CommandOutcome {
        let source: ImportSource
        var report: ImportReport
        do {
            source = try ImportSource(options.path)
        } catch {
            return CommandOutcome(.noInput, errorOutput: "\(error)\n")
        }
        do {
            report = try ImportReport(path: options.report, tell: surface.tell)
        } catch {
            return CommandOutcome(.failure, errorOutput: "\(error)\n")
        }
        return await RunningDaemon.outcome {
            try await daemon.client().withConnection { send in
                var run = ImportRun(
                    source: source, report: report, options: options, surface: surface,
                    sender: ImportSender(
                        options.kind, send: send, isDryRun: options.isDryRun, pause: surface.pause))
                return try await run.finish()
            }
        }
    }
}

/// One run over a file.
struct ImportRun {
    /// How often it is told how far things are.
    private static let progressInterval = Duration.seconds(2)
    /// What a batch may take; the next one is smaller when it took longer, and larger when it took a fourth of that.
    private static let longestBatch = Duration.milliseconds(200)
    private static let smallestBatch = 10

    let source: ImportSource
    var report: ImportReport
    let options: FileImportCommand.Options
    let surface: FileImportCommand.Surface
    var sender: ImportSender
    private var bytesRead = 0
    /// How many lines go at once, at present.
    private var size: Int
    /// The line to go on with after a break.
    private var nextLine: Int
    private var lastProgress = Duration.zero
    /// The line at which a strict run ended.
    private var stoppedAt: Int?

    init(
        source: ImportSource, report: ImportReport, options: FileImportCommand.Options,
        surface: FileImportCommand.Surface, sender: ImportSender
    ) {
        self.source = source
        self.report = report
        self.options = options
        self.surface = surface
        self.sender = sender
        nextLine = options.firstLine
        size = options.batch
    }

    /// Reads and sends everything.
    mutating func finish() async throws -> CommandOutcome {
        var reader = ImportReader(options.kind.columns, maximumBytes: options.kind.maximumRecordBytes)
        var waiting: [ImportRecord<ImportItem>] = []
        do {
            var isAtEnd = false
            while !isAtEnd, stoppedAt == nil, !surface.isInterrupted() {
                let bytes = try await source.next { [surface] in !surface.isInterrupted() }
                if surface.isInterrupted() { break }
                isAtEnd = bytes.isEmpty
                bytesRead += bytes.count
                let records = isAtEnd ? try reader.finish() : try reader.read(bytes)
                waiting += records.filter { $0.line >= options.firstLine }
                try await send(&waiting, all: isAtEnd)
            }
        } catch let error as ImportFileError {
            return CommandOutcome(.data, errorOutput: "\(error)\n")
        } catch let error as FileError {
            // Else it is the report that cannot be written.
            let status = error.path == source.name ? CommandOutcome.Status.noInput : .failure
            return CommandOutcome(status, output: soFar, errorOutput: "\(error)\n\(resumption)")
        } catch {
            return CommandOutcome(.failure, output: soFar, errorOutput: "\(error)\n\(resumption)")
        }
        if surface.isInterrupted() {
            return CommandOutcome(.interrupted, output: soFar, errorOutput: "Interrupted. \(resumption)")
        }
        if let stoppedAt {
            return CommandOutcome(
                .data, output: summary, errorOutput: "Ended at line \(stoppedAt), as `--strict` asks. \(resumption)")
        }
        return CommandOutcome(report.refused == 0 ? .success : .data, output: summary)
    }

    /// Sends full batches, or all that waits.
    private mutating func send(_ waiting: inout [ImportRecord<ImportItem>], all: Bool) async throws {
        var rest = waiting[...]
        while rest.count >= size || (all && !rest.isEmpty), stoppedAt == nil, !surface.isInterrupted() {
            let (batch, start) = (rest.prefix(size), surface.elapsed())
            try await send(batch: batch)
            rest = rest.dropFirst(batch.count)
            adapt(to: surface.elapsed() - start)
            tellProgress()
        }
        waiting = Array(rest)
    }

    /// What a link brings with it differs: a token may be that of a thousand notifications.
    private mutating func adapt(to time: Duration) {
        if time > Self.longestBatch {
            size = max(size / 2, min(Self.smallestBatch, options.batch))
        } else if time < Self.longestBatch / 4 {
            size = min(size * 2, options.batch)
        }
    }

    private mutating func send(batch: ArraySlice<ImportRecord<ImportItem>>) async throws {
        var (batch, ending): (ArraySlice, Int?) = (batch, nil)
        if options.isStrict, let bad = try await firstRefused(in: batch) {
            // What stands before it is imported, and then it is reported as any other.
            batch = batch[...bad]
            ending = batch[bad].line
        }
        let results = try await sender.submit(batch, defaultApp: options.app)
        for (record, result) in zip(batch, results) {
            switch result {
            case .success(let outcome): report.add(outcome: outcome)
            case .failure(let refusal): try report.add(line: record.line, refusal.problems)
            }
        }
        stoppedAt = ending
        if let last = batch.last { nextLine = ending ?? last.line + 1 }
    }

    private func firstRefused(in batch: ArraySlice<ImportRecord<ImportItem>>) async throws -> Int? {
        var trial = sender
        trial.isDryRun = true
        let results = try await trial.submit(batch, defaultApp: options.app)
        return zip(batch.indices, results).first { _, result in
            if case .failure = result { true } else { false }
        }?.0
    }

    private mutating func tellProgress() {
        let elapsed = surface.elapsed()
        guard elapsed - lastProgress >= Self.progressInterval else { return }
        lastProgress = elapsed
        let share = source.size.flatMap { $0 > 0 ? ", \(bytesRead * 100 / $0) %" : nil } ?? ""
        surface.tell("\(report.lines) lines\(share), \(rate) lines/s, \(report.refused) refused")
    }

    private var rate: Int {
        let seconds =
            Double(surface.elapsed().components.seconds) + Double(surface.elapsed().components.attoseconds) / 1e18
        return Int(Double(report.lines) / max(seconds, 0.001))
    }

    private var summary: String {
        let head = options.isDryRun ? "Nothing was changed. " : ""
        return "\(head)\(report.summary(of: options.kind, isDryRun: options.isDryRun)); \(rate) lines/s.\n"
    }

    private var soFar: String { report.lines > 0 ? summary : "" }

    private var resumption: String {
        nextLine > 1
            ? "All lines before line \(nextLine) are done; go on with `--from \(nextLine)`.\n"
            : "No line is done.\n"
    }
}
