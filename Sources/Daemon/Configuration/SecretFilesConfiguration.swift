import Foundation
import KeyCustody
import Systemd

extension ConfigurationParser {
    /// Reads `secretFiles`: the users who may own key files, the master key and their directories.
    ///
    /// `store` and `auditDirectory`: where the daemon keeps its state. For a command that root runs, the owner of those directories
    /// is the user whose daemon this is.
    mutating func secretFilesSection(_ store: StoreLocation?, auditDirectory: String?) -> SecretFileOwners {
        var allowed: Set<UInt32> = []
        if let section = member("secretFiles", of: root), isTable(section) {
            allowed = Set(values("allowedOwners", of: section, as: .userID).map(\.value))
        }
        if geteuid() == 0 {
            var directories = [auditDirectory]
            if case .sqlite(let path) = store {
                directories.append(URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false))
            }
            for case let directory? in directories {
                guard let owner = FileStatus(path: directory)?.owner, owner != 0 else { continue }
                allowed.insert(owner)
            }
        }
        return SecretFileOwners(allowed: allowed)
    }
}

extension ConfigurationValue<UInt32> {
    /// A user, by number or by a name that this machine knows.
    static var userID: Self {
        Self(expectation: "the number of a user, or the name of a user of this machine") { text in
            UInt32(text) ?? SystemUser.id(ofName: text)
        }
    }
}

/// Finds users in the system's databases.
private enum SystemUser {
    /// The number of a user; nil for an unknown name.
    ///
    /// It blocks.
    static func id(ofName name: String) -> UInt32? {
        guard !name.isEmpty, name.utf8.count <= 256 else { return nil }
        var record = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 1024)
        var code = getpwnam_r(name, &record, &buffer, buffer.count, &found)
        while code == ERANGE, buffer.count < 1 << 20 {
            buffer = [CChar](repeating: 0, count: buffer.count * 4)
            code = getpwnam_r(name, &record, &buffer, buffer.count, &found)
        }
        return code == 0 && found != nil ? record.pw_uid : nil
    }
}
