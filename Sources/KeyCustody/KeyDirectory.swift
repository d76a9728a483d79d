import Domain
import Foundation
import OpenSSL
import Synchronization

/// A directory of `.p8` files that is watched, as a mounted secret of Kubernetes is one.
///
/// A file's name tells the key's id: `AuthKey_ABC.p8`, `SubscriptionKey_ABC.p8` or `ABC.p8`. What the names cannot tell, the
/// configuration says of the directory as a whole.
package struct KeyDirectory: Sendable, Equatable {
    package let path: String
    /// Apple's issuer id of the team whose keys it holds.
    package let issuerID: String
    /// The apps that its keys sign for, by slug.
    package let apps: [String]
    /// Whether the files' group may read them (Kubernetes' `fsGroup`).
    package let allowsGroupRead: Bool

    package init(path: String, issuerID: String, apps: [String], allowsGroupRead: Bool) {
        self.path = path
        self.issuerID = issuerID
        self.apps = apps
        self.allowsGroupRead = allowsGroupRead
    }

    /// What Apple's names of downloaded keys begin with.
    private static let prefixes = ["AuthKey_", "SubscriptionKey_"]
    private static let suffix = ".p8"

    /// The id of the key in a file; nil for a name that tells none.
    package static func keyID(ofFile name: String) -> String? {
        guard name.hasSuffix(suffix) else { return nil }
        let stem = name.dropLast(suffix.count)
        let id = prefixes.first { stem.hasPrefix($0) }.map { stem.dropFirst($0.count) } ?? stem
        return KeyFacts.isKeyID(id) ? String(id) : nil
    }

    /// What is wrong with directories and their files, one line each.
    ///
    /// `purser config check` uses it. It blocks. `declared`: the ids of keys that the configuration declares itself.
    package static func problems(of directories: [KeyDirectory], declared: [String]) -> [String] {
        let taken = Dictionary(declared.map { ($0, KeyFacts.Source.file) }) { first, _ in first }
        return KeyDirectoryReader(directories).scan(taken: taken, revoked: []).problems
    }

    /// Whether a file is meant to hold a key.
    static func isKeyFile(_ name: String) -> Bool { name.hasSuffix(suffix) && !name.hasPrefix(".") }
}

/// Reads directories of keys, and again only what has changed.
///
/// Kubernetes changes a mounted secret by turning a symbolic link to another folder. So a key is gone only when its name is; a
/// name whose file cannot be read at the moment keeps the key that it had, and so does a directory that cannot be read.
final class KeyDirectoryReader: Sendable {
    /// The most files that are looked at in one directory.
    static let maximumFiles = 1000

    /// What tells whether a file is still the one that was read.
    private struct Stamp: Equatable {
        let device: UInt64
        let inode: UInt64
        let size: Int64
        let mode: UInt32
        let changed: [Int]

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            device = UInt64(status.st_dev)
            inode = UInt64(status.st_ino)
            size = Int64(status.st_size)
            mode = UInt32(status.st_mode)
            changed = [
                status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
            ]
        }
    }

    private struct Known {
        var stamp: Stamp?
        var entry: KeyRing.Entry?
        var problem: String?
    }

    /// What the directories hold.
    struct Scan: Sendable {
        /// In the order of the directories, and by file name in each.
        var entries: [KeyRing.Entry] = []
        /// The ids that files are named by, also of those that are not used.
        var keyIDs: Set<String> = []
        /// Whether every directory could be read.
        var isComplete = true
        /// What is wrong, one line each.
        var problems: [String] = []
    }

    let directories: [KeyDirectory]
    /// By path of the file, and for each directory the names that it had.
    private let known = Mutex<(files: [String: Known], names: [String: [String]])>(([:], [:]))

    init(_ directories: [KeyDirectory]) { self.directories = directories }

    var isEmpty: Bool { directories.isEmpty }

    /// Looks at every directory.
    ///
    /// It blocks. `taken`: ids of keys that come from elsewhere, with where; a file with one of them is refused. `revoked`: ids of
    /// keys that are not to be read any more.
    func scan(taken: [String: KeyFacts.Source], revoked: Set<String>) -> Scan {
        known.withLock { known in
            var scan = Scan()
            var seen: [String: String] = [:]
            var present: Set<String> = []
            for directory in directories {
                let names =
                    Self.names(in: directory)
                    ?? {
                        scan.isComplete = false
                        scan.problems.append("\(directory.path): cannot be read; its keys stay as they were")
                        return known.names[directory.path] ?? []
                    }()
                known.names[directory.path] = names
                for name in names {
                    let path = "\(directory.path)/\(name)"
                    present.insert(path)
                    guard let keyID = KeyDirectory.keyID(ofFile: name) else {
                        scan.problems.append("\(path): its name tells no key id; call it AuthKey_ID.p8 or ID.p8")
                        continue
                    }
                    scan.keyIDs.insert(keyID)
                    if let source = taken[keyID] {
                        scan.problems.append("\(path): there is a key \(keyID) already (\(source.rawValue))")
                        continue
                    }
                    if let other = seen[keyID] {
                        scan.problems.append("\(path): \(other) is key \(keyID) already")
                        continue
                    }
                    seen[keyID] = path
                    if revoked.contains(keyID) {
                        let fingerprint = known.files[path]?.entry?.facts.fingerprint
                        let entry = KeyRing.Entry(
                            facts: Self.facts(keyID, directory, fingerprint: fingerprint), key: nil)
                        known.files[path] = Known(entry: entry)
                        scan.entries.append(entry)
                        continue
                    }
                    let file = Self.look(at: path, keyID, directory, before: known.files[path])
                    known.files[path] = file
                    if let entry = file.entry { scan.entries.append(entry) }
                    if let problem = file.problem { scan.problems.append(problem) }
                }
                if names.count == Self.maximumFiles {
                    scan.problems.append("\(directory.path): only its first \(Self.maximumFiles) keys are looked at")
                }
            }
            known.files = known.files.filter { present.contains($0.key) }
            return scan
        }
    }

    /// The names of a directory's key files in ascending order; nil when it cannot be read.
    private static func names(in directory: KeyDirectory) -> [String]? {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: directory.path) else { return nil }
        return Array(names.filter(KeyDirectory.isKeyFile).sorted().prefix(maximumFiles))
    }

    private static func facts(_ keyID: String, _ directory: KeyDirectory, fingerprint: String?) -> KeyFacts {
        KeyFacts(
            keyID: keyID, issuerID: directory.issuerID, apps: directory.apps, source: .directory,
            fingerprint: fingerprint)
    }

    private static func look(
        at path: String, _ keyID: String, _ directory: KeyDirectory, before: Known?
    ) -> Known {
        let stamp = Stamp(path)
        if let before, before.stamp == stamp, stamp != nil { return before }
        var known = Known(stamp: stamp, entry: before?.entry)
        let declaration = KeyDeclaration(
            keyID: keyID, issuerID: directory.issuerID, path: path,
            source: .file(allowsGroupRead: directory.allowsGroupRead), state: .standby, apps: directory.apps)
        do throws(KeyFileError) {
            let privateKey = try KeyFile.load(declaration)
            known.entry = KeyRing.Entry(
                facts: facts(keyID, directory, fingerprint: privateKey.publicKey.fingerprint),
                key: KeyRing.Key(keyID: keyID, issuerID: directory.issuerID, privateKey: privateKey))
        } catch {
            known.problem = "\(path): \(error.problem)"
            if before?.entry != nil { known.problem? += "; the key that was read before goes on signing" }
        }
        return known
    }
}
