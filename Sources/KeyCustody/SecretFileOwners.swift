import Foundation

/// The users who may own files with secrets and the directories of such files.
///
/// An owner can read and replace a file whatever its permissions are, so a key of another user is not secret.
package struct SecretFileOwners: Sendable, Equatable {
    /// The user that Purser runs as.
    package let user: UInt32
    /// Users that the configuration names; user namespaces map owners to other ids.
    package let allowed: Set<UInt32>

    package init(user: UInt32 = geteuid(), allowed: Set<UInt32> = []) {
        self.user = user
        self.allowed = allowed
    }

    /// Root may replace every file anyway.
    private func accept(_ owner: UInt32) -> Bool { owner == 0 || owner == user || allowed.contains(owner) }

    /// Checks an owner.
    ///
    /// - Parameters:
    ///   - owner: the user id.
    ///   - target: what to run `chown` on.
    ///   - isLink: whether that is a symbolic link.
    /// - Returns: what is wrong, and the fix; nil if the owner is accepted.
    func problem(of owner: UInt32, _ target: String, isLink: Bool = false) -> String? {
        guard !accept(owner) else { return nil }
        return """
            belongs to user \(owner), who is neither root nor Purser's user (\(user)); \
            run: chown \(isLink ? "-h " : "")\(user) \(target), or add \(owner) to `secretFiles.allowedOwners`
            """
    }
}

extension MasterKeySource {
    /// Checks who owns the file of the master key and its directory, and who may write the directory.
    ///
    /// A file that does not exist passes: reading it reports that, and the daemon creates its own. The directory of a file that the
    /// daemon has created may be writable by its group: Kubernetes does that to a volume (`fsGroup`), and the group can replace
    /// the store in it anyway. It blocks.
    ///
    /// - Throws: `SecretFileError` with the command that fixes it.
    package func check(owners: SecretFileOwners) throws(SecretFileError) {
        guard access(path, F_OK) == 0 else { return }
        let (allowsGroupRead, allowsGroupWrite) =
            switch self {
            case .file(_, let allowed): (allowed, false)
            case .credential: (true, false)
            case .made: (false, true)
            }
        try SecretFile.check(
            path, allowsGroupRead: allowsGroupRead, owners: owners, allowsGroupWritableFolder: allowsGroupWrite)
    }
}
