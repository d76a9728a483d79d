import Domain
import Foundation
import JSON
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
    /// The users who may own the directory and its files.
    package let owners: SecretFileOwners

    package init(
        path: String, issuerID: String, apps: [String], allowsGroupRead: Bool,
        owners: SecretFileOwners = SecretFileOwners()
    ) {
        self.path = path
        self.issuerID = issuerID
        self.apps = apps
        self.allowsGroupRead = allowsGroupRead
        self.owners = owners
    }

    /// What Apple's names of downloaded keys begin with.
    private static let prefixes = ["AuthKey_", "SubscriptionKey_"]
    private static let suffix = ".p8"

    /// The id of the key in a file; nil for a name that tells none.
    package static func keyID(ofFile name: String) -> String? { keyID(ofFile: UntrustedText(name)) }

    /// The same of a name that a directory has; one that tells an id is ASCII.
    ///
    /// Compared by bytes: in a `String` a Kelvin sign equals the K of `AuthKey_`.
    static func keyID(ofFile name: UntrustedText) -> String? {
        let bytes = Array(name.utf8)
        guard bytes.reversed().starts(with: suffix.utf8.reversed()) else { return nil }
        let stem = bytes.dropLast(suffix.utf8.count)
        let prefix = prefixes.first { stem.starts(with: $0.utf8) }
        guard let id = UntrustedText(decoding: stem.dropFirst(prefix?.utf8.count ?? 0)).checked else { return nil }
        return KeyFacts.isKeyID(id) ? id : nil
    }

    /// What is wrong with directories and their files, one line each.
    ///
    /// `purser config check` uses it. It blocks. `declared`: the ids of keys that the configuration declares itself.
    package static func problems(of directories: [KeyDirectory], declared: [String]) -> [String] {
        let taken = Dictionary(declared.map { ($0, KeyFacts.Source.file) }) { first, _ in first }
        return KeyDirectoryReader(directories).scan(taken: taken, revoked: []).problems
    }

    /// Whether a file is meant to hold a key.
    static func isKeyFile(_ name: UntrustedText) -> Bool {
        name.utf8.reversed().starts(with: suffix.utf8.reversed()) && name.utf8.first != UInt8(ascii: ".")
    }
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
    private let known = Mutex<(files: [String: Known], names: [String: [UntrustedText]])>(([:], [:]))

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
                let names: [UntrustedText]
                do throws(DirectoryProblem) {
                    names = try Self.names(in: directory)
                } catch {
                    scan.isComplete = false
                    scan.problems.append("\(directory.path): \(error.text); its keys stay as they were")
                    names = known.names[directory.path] ?? []
                }
                known.names[directory.path] = names
                for name in names {
                    guard let keyID = KeyDirectory.keyID(ofFile: name), let fileName = name.checked else {
                        // Anybody's choice: it may hold line feeds and commands to a terminal.
                        scan.problems.append(
                            "\(directory.path): \(name): its name tells no key id; call it AuthKey_ID.p8 or ID.p8")
                        continue
                    }
                    let path = "\(directory.path)/\(fileName)"
                    present.insert(path)
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

    /// Why the names of a directory are not read.
    private struct DirectoryProblem: Error {
        let text: String
    }

    /// The names of a directory's key files, by their bytes in ascending order.
    ///
    /// In a directory that other users can write anybody could add a key.
    private static func names(in directory: KeyDirectory) throws(DirectoryProblem) -> [UntrustedText] {
        guard let folder = try? SecretFolder(listing: directory.path) else {
            throw DirectoryProblem(text: "cannot be read")
        }
        if let problem = folder.problem(directory.owners) { throw DirectoryProblem(text: problem) }
        guard let names = folder.names() else { throw DirectoryProblem(text: "cannot be read") }
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
        // What is wrong may be a directory's, and fixed there.
        if let before, before.stamp == stamp, stamp != nil, before.problem == nil { return before }
        var known = Known(stamp: stamp, entry: before?.entry)
        let declaration = KeyDeclaration(
            keyID: keyID, issuerID: directory.issuerID, path: path,
            source: .file(allowsGroupRead: directory.allowsGroupRead), state: .standby, apps: directory.apps,
            owners: directory.owners)
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
