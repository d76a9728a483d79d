import Foundation
import JSON

/// Where the segments of the log are: one directory an instance, which nobody else may read.
package struct AuditDirectory: Sendable {
    package let path: String

    package init(_ path: String) { self.path = path }

    /// Makes the directory if it is not there.
    ///
    /// - Throws: `AuditFileError`, also when others may write into it or read it.
    package func prepare() throws(AuditFileError) {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw AuditFileError(path, errno) }
        var status = stat()
        guard stat(path, &status) == 0 else { throw AuditFileError(path, errno) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw AuditFileError(path, "is no directory") }
        guard status.st_mode & 0o077 == 0 else {
            throw AuditFileError(path, "its permissions let others at the audit; run: chmod 0700 \(path)")
        }
        synchronize(parentOf: path)
    }

    /// Every segment that is there, by number.
    package func segments() throws(AuditFileError) -> [Segment] {
        try names().compactMap { $0.checked.flatMap(Segment.init(name:)) }.sorted { $0.number < $1.number }
    }

    /// One file of records.
    package struct Segment: Sendable, Hashable, CustomStringConvertible {
        private static let suffix = ".jsonl"
        /// The longest record that a segment begins with, in bytes.
        static let maximumHeadBytes = 1 << 13

        /// Counts from 1, over all chains of the instance.
        package let number: Int

        package init(number: Int) { self.number = number }

        init?(name: String) {
            guard name.hasSuffix(Self.suffix), let number = Int(name.dropLast(Self.suffix.count)), number > 0 else {
                return nil
            }
            self.number = number
        }

        var name: String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, 8 - digits.count)) + digits + Self.suffix
        }

        package var description: String { "segment \(number)" }
    }

    package func path(of segment: Segment) -> String { "\(path)/\(segment.name)" }

    /// Where the sealed key of a chain is kept.
    package func keyPath(chain: String) -> String { "\(path)/\(chain).key" }

    /// Every chain whose key is kept here; none where there is no directory.
    ///
    /// - Throws: `AuditFileError` when the directory cannot be read: there may be keys then.
    package func chainsWithKeys() throws(AuditFileError) -> [String] {
        if access(path, F_OK) != 0, errno == ENOENT { return [] }
        return try names().compactMap(\.checked).filter { $0.hasSuffix(".key") }.map { String($0.dropLast(4)) }
            .filter(Self.isChain).sorted()
    }

    /// Whether a text can name a chain, and so be part of a path and of a message.
    package static func isChain(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy { ("a"..."z").contains($0) || ("0"..."9").contains($0) }
    }

    /// The entries that must not be opened as files, each with what it is: pipes, devices, sockets, links, and directories in the
    /// place of a segment.
    func irregularEntries() throws(AuditFileError) -> [(name: UntrustedText, kind: String)] {
        try names().sorted().compactMap { name in
            // No file of the audit has a name that is not UTF-8, so none is opened.
            guard let text = name.checked, let kind = AuditFile.irregularKind("\(path)/\(text)") else { return nil }
            return kind != AuditFile.directoryKind || Segment(name: text) != nil ? (name, kind) : nil
        }
    }

    /// The names in the directory, without `.` and `..`.
    private func names() throws(AuditFileError) -> [UntrustedText] {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw AuditFileError(path, errno) }
        defer { close(descriptor) }
        guard let names = UntrustedText.names(inDirectory: descriptor) else { throw AuditFileError(path, errno) }
        return names
    }

    /// Whether a segment is there and holds no record: a crash or a full disk ended the making of it.
    func isWithoutRecord(_ segment: Segment) throws(AuditFileError) -> Bool {
        guard access(path(of: segment), F_OK) == 0 else { return false }
        let file = try AuditFile(reading: path(of: segment))
        let size = try file.size()
        // A line feed that is missing in a longer one was taken out of it: that is for `verify` to tell of.
        guard size <= Segment.maximumHeadBytes else { return false }
        return try !file.read(from: 0, count: size).contains(UInt8(ascii: "\n"))
    }

    /// Removes a segment; that it is gone already is well.
    func remove(_ segment: Segment) throws(AuditFileError) {
        guard unlink(path(of: segment)) == 0 || errno == ENOENT else { throw AuditFileError(path(of: segment), errno) }
    }

    /// Waits until the directory's entries are on the disk; a file system that knows no such thing needs none.
    func synchronize() { synchronize(path) }

    private func synchronize(parentOf path: String) { synchronize((path as NSString).deletingLastPathComponent) }

    private func synchronize(_ path: String) {
        let folder = open(path.isEmpty ? "." : path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }
}

/// The lines of a segment, front to back, in pieces that fit into memory.
package struct SegmentLines {
    /// The longest line that is taken for one, in bytes.
    static let maximumLineBytes = 1 << 20
    private static let pieceBytes = 1 << 18

    private let file: AuditFile
    private var offset = 0
    private var buffer: [UInt8] = []
    private var position = 0
    private var hasEnded = false

    package init(_ path: String) throws(AuditFileError) {
        file = try AuditFile(reading: path)
    }

    /// One line without its line feed, and whether it had one: the last may have been cut off by a crash.
    package mutating func next() throws(AuditFileError) -> (bytes: [UInt8], isWhole: Bool)? {
        while true {
            if let end = buffer[position...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { position = end + 1 }
                return (Array(buffer[position..<end]), true)
            }
            if hasEnded || buffer.count - position > Self.maximumLineBytes {
                guard position < buffer.count else { return nil }
                defer { position = buffer.count }
                return (Array(buffer[position...]), false)
            }
            buffer.removeFirst(position)
            position = 0
            let piece = try file.read(from: offset, count: Self.pieceBytes)
            offset += piece.count
            buffer += piece
            hasEnded = piece.isEmpty
        }
    }
}
