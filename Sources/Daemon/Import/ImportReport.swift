import Foundation
import Systemd

/// What has become of the lines so far, and the report of those that were not imported.
struct ImportReport {
    /// How many problems are told at once; a report keeps all.
    static let maximumShown = 20

    private(set) var lines = 0
    private(set) var outcomes: [String: Int] = [:]
    private(set) var refused = 0
    private(set) var conflicts = 0
    private let path: String
    private let file: FileHandle?
    private let tell: @Sendable (String) -> Void
    private var shown = 0

    /// Opens a file for the report, which is for its owner alone, as it names users; one that is there is continued.
    ///
    /// `path`: nil for no report; `tell`: takes a line for people.
    ///
    /// - Throws: `FileError`.
    init(path: String?, tell: @escaping @Sendable (String) -> Void) throws(FileError) {
        self.tell = tell
        self.path = path ?? ""
        guard let path else {
            file = nil
            return
        }
        // A named pipe without a reader would block the open.
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard descriptor >= 0, fcntl(descriptor, F_SETFL, O_APPEND) == 0 else {
            throw FileError(path: path, problem: String(cString: strerror(errno)))
        }
        file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard let status = FileStatus(descriptor: descriptor), status.size == 0 else { return }
        try write(CSVText.record(["line", "rule", "field", "user", "owner", "message"]))
    }

    /// Counts a line that was taken.
    mutating func add(outcome: String) {
        lines += 1
        outcomes[outcome, default: 0] += 1
    }

    /// Counts and reports a line that was not.
    ///
    /// - Throws: `FileError` when the report cannot be written.
    mutating func add(line: Int, _ problems: [ImportProblem]) throws(FileError) {
        lines += 1
        refused += 1
        if problems.contains(where: { !$0.owner.isEmpty }) { conflicts += 1 }
        for problem in problems {
            try write(
                CSVText.record([
                    String(line), problem.rule, problem.field, problem.user, problem.owner, problem.message,
                ]))
            guard file == nil else { continue }
            shown += 1
            if shown <= Self.maximumShown { tell("line \(line): \(problem.message)") }
            if shown == Self.maximumShown + 1 { tell("There are more; `--report FILE` keeps them all.") }
        }
    }

    private func write(_ text: String) throws(FileError) {
        guard let file else { return }
        do {
            try file.write(contentsOf: Data(text.utf8))
        } catch {
            throw FileError(path: path, problem: "\(error)")
        }
    }

    /// The counts in words.
    ///
    /// `isDryRun`: nothing was done.
    func summary(of kind: ImportKind, isDryRun: Bool) -> String {
        let would = isDryRun ? "would be " : ""
        let words = kind.outcomes(isDryRun: isDryRun).map { outcome in
            "\(outcomes[outcome] ?? 0) \(ImportKind.lasting.contains(outcome) ? "" : would)\(outcome)"
        }
        let refused = "\(refused) \(would)refused" + (kind.isCumulative ? " (conflicts: \(conflicts))" : "")
        return "\(lines) \(lines == 1 ? "line" : "lines"): " + (words + [refused]).joined(separator: ", ")
    }
}
