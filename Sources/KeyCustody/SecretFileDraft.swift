import Foundation

/// The name under which a secret file is written before it replaces another file.
///
/// A process that is killed in between leaves it, with the secret.
enum SecretFileDraft {
    private static let infix = ".new-"

    /// A new name next to a file.
    static func path(for path: String) -> String { "\(path)\(infix)\(UUID().uuidString)" }

    /// Removes the drafts of a file that earlier processes have left.
    ///
    /// It blocks. Only for the process that alone writes the file.
    ///
    /// - Returns: the number of drafts that were removed.
    static func removeAll(of path: String) -> Int {
        let file = URL(filePath: path)
        let start = file.lastPathComponent + infix
        let folder = file.deletingLastPathComponent().path(percentEncoded: false)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let drafts = names.filter { $0.hasPrefix(start) && UUID(uuidString: String($0.dropFirst(start.count))) != nil }
        for name in drafts { SecretFile.remove("\(folder)/\(name)") }
        if !drafts.isEmpty { SecretFile.flushFolder(of: path) }
        return drafts.count
    }
}
