import Foundation

/// The checkout that the tests were built from.
enum Repository {
    /// Its root folder.
    static let root: URL = {
        var url = URL(filePath: #filePath)
        for _ in 0..<3 { url.deleteLastPathComponent() }
        return url
    }()

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// Every file below a folder, by its path from the root.
    static func files(below folder: String) throws -> [String] {
        let base = root.appending(path: folder)
        let enumerator = FileManager.default.enumerator(atPath: base.path)
        return (enumerator?.compactMap { $0 as? String } ?? []).filter { name in
            var isDirectory: ObjCBool = false
            return FileManager.default.fileExists(atPath: base.appending(path: name).path, isDirectory: &isDirectory)
                && !isDirectory.boolValue
        }.map { "\(folder)/\($0)" }.sorted()
    }

    /// Every Swift file below a folder, by its path from the root.
    static func swiftFiles(below folder: String) throws -> [String] {
        try files(below: folder).filter { $0.hasSuffix(".swift") }
    }

    /// Names of the folders directly below a folder.
    static func folders(below folder: String) throws -> [String] {
        let base = root.appending(path: folder)
        return try FileManager.default.contentsOfDirectory(atPath: base.path).filter { name in
            var isDirectory: ObjCBool = false
            return FileManager.default.fileExists(atPath: base.appending(path: name).path, isDirectory: &isDirectory)
                && isDirectory.boolValue
        }.sorted()
    }

    /// The modules that a file imports, whatever the access level or kind of the import.
    static func imports(of file: String) throws -> [String] {
        try Repository.text(file).split(separator: "\n").compactMap { line in
            var words = line.split(separator: " ").map(String.init)
            words.removeAll { $0.hasPrefix("@") || ["package", "internal", "private", "fileprivate"].contains($0) }
            guard words.first == "import", words.count > 1 else { return nil }
            let kinds: Set = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
            let name = kinds.contains(words[1]) && words.count > 2 ? words[2] : words[1]
            return name.split(separator: ".").first.map(String.init)
        }
    }
}
